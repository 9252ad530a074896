"""Superboxes: the definition of a named sub-network, and the box that stands for a use of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from boxcars.model.box import Box, Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

if TYPE_CHECKING:
    from boxcars.model.network import Network


@dataclass(frozen=True)
class Superbox:
    """The definition: a network whose inputs and outputs are the ports, and its parameters.

    Each use must give the parameters without a default (None).
    """

    body: Network
    params: Fields[Any]


class Use(Box):
    """The box for a use of a superbox: its name, and its arguments."""

    type: ClassVar[str] = "superbox"
    icon: ClassVar[str] = "▣"
    arity: ClassVar[tuple[int, int | None]] = (0, None)
    superbox: str = param("The name of the superbox.")
    values: Fields[Any] = param("Its arguments.", default=Fields())

    def plain(self) -> dict[str, Any]:
        """Return the arguments, as in a file next to ``type: <superbox>``."""
        return dict(self.values)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """Return nothing: the schemas are known once the superbox is flattened."""
        return {}


def use(superbox: str, /, **values: Any) -> Use:
    """Use a superbox by name: ``net.box("nyse", bx.use("alarm", limit=10), ticks)``."""
    if not superbox:
        raise Wrong("a superbox needs a name.")
    return Use(superbox, Fields(values))
