"""Read a network from plain data: the inverse of :mod:`boxcars.model.serialize`."""

from __future__ import annotations

from collections.abc import Mapping

from boxcars.model.box import Plain
from boxcars.model.network import Network
from boxcars.model.problem import Location, Path
from boxcars.model.reader import Importer, Reading, read_into


def read_network(
    plain: Plain,
    source: Mapping[Path, Location] | None = None,
    name: str = "",
    importer: Importer | None = None,
) -> Reading:
    """Read a network from plain data; ``source`` gives the line of each path in the file.

    Its modules are imported first, by ``importer``; without one they are only recorded.
    """
    return read_into(Network(name or "network"), plain, source, importer)
