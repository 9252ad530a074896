"""The connector interface: how to read an external system, and how to write to it.

A connector is one class in one module, registered as an entry point of the group
``boxcars.connectors`` under its URL scheme. The built-in ones are in this package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa

from boxcars.connectors.formats.format import letters
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import Schema

GROUP = "boxcars.connectors"


class Lost(BoxcarsError):
    """The external system is temporarily unreachable: the caller retries."""


@dataclass(frozen=True)
class Received:
    """The result of a pull: messages as bytes, or a table, and the position after them.

    The position is JSON data from which reading can resume. ``ended``: nothing will ever follow.
    """

    data: Sequence[bytes] | pa.Table
    position: Any = None
    ended: bool = False


class Intake(ABC):
    """A connection for reading, used by one thread.

    Pulled messages are stored together with their position, and then acknowledged by :meth:`safe`.
    So a crash loses nothing, and nothing is read twice if positions identify what was pulled.
    """

    @abstractmethod
    def open(self, position: Any) -> None:
        """Connect, and resume after a position; None the first time. Raises Lost."""

    @abstractmethod
    def pull(self, most: int, seconds: float) -> Received | None:
        """At most ``most`` messages; wait up to ``seconds`` for the first one. Raises Lost."""

    def safe(self, position: Any) -> None:
        """Acknowledge: everything up to this position is durable. Raises Lost."""
        return

    def close(self) -> None:
        """Disconnect; also called after a lost connection, before it is opened again."""
        return


class Delivery(ABC):
    """A connection for writing."""

    @abstractmethod
    def open(self) -> None:
        """Connect. Raises Lost."""

    @abstractmethod
    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Write the rows of an epoch. Raises Lost.

        If a lost connection or a crash leaves the outcome unknown, it is called again with the same
        rows and epoch; a connector should detect such a replay if the system allows it.
        """

    @property
    def may_refuse(self) -> bool:
        """Whether there may be rows that it can't represent."""
        return False

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that it can't represent: (origin, record, reason). They are not delivered."""
        return letters([], [], [])

    def close(self) -> None:
        """Disconnect; also called after a lost connection, before it is opened again."""
        return


class Connector:
    """An external system at a URL: how to connect to it, and its delivery guarantees.

    Used as a source or sink of a run: ``bx.run(net, {"calls": Kafka("kafka://...")})``, or just
    its URL. Options are query parameters or keyword arguments, with ``from_`` for ``from``.

    >>> Connector("redis://host/calls?db=3", maxlen=1000, from_="new").url.options
    {'db': '3', 'maxlen': '1000', 'from': 'new'}
    """

    scheme: ClassVar[str]
    title: ClassVar[str]
    """The name for users."""
    package: ClassVar[str] = ""
    """The package it needs, if it is an optional dependency."""
    guarantee_in: ClassVar[str] = ""
    """The delivery guarantee as a source; empty if it can't be read."""
    guarantee_out: ClassVar[str] = ""
    """The delivery guarantee as a sink; empty if it can't be written."""
    tested: ClassVar[str] = ""
    """The system that its tests run against."""

    def __init__(self, url: Url | str, **options: Any) -> None:
        self.url = Url.parse(url) if isinstance(url, str) else url
        if options:
            own = {name.removesuffix("_"): str(value) for name, value in options.items()}
            self.url = self.url.with_options(own)

    def intake(self) -> Intake:
        """Create a connection for reading, not yet opened. Raises Wrong if the URL is invalid."""
        raise Wrong(f"{self.url}: {self.title} can't be used as a source.")

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection for writing; ``home`` is a unique, permanent name of the output."""
        raise Wrong(f"{self.url}: {self.title} can't be used as a sink.")


def schemes() -> list[str]:
    """All URL schemes of connectors."""
    return sorted(entry_points(group=GROUP).names)


def connectors() -> dict[type[Connector], list[str]]:
    """All connectors that can be loaded, with their URL schemes."""
    found: dict[type[Connector], list[str]] = {}
    for scheme in schemes():
        with suppress(Wrong):
            found.setdefault(connector_class(scheme), []).append(scheme)
    return found


@cache
def connector_class(scheme: str) -> type[Connector]:
    """The connector class of a URL scheme."""
    for entry in entry_points(group=GROUP, name=scheme):
        try:
            cls = entry.load()
        except ImportError as error:
            raise Wrong(f"the connector '{scheme}://' can't be loaded: {error}.") from None
        if not (isinstance(cls, type) and issubclass(cls, Connector)):
            raise Wrong(f"the entry point '{scheme}' of {GROUP} is not a Connector: {entry.value}.")
        return cls
    raise Wrong(f"there is no connector '{scheme}://'.{nearest(scheme, schemes())}")


def connect(text: str) -> Connector:
    """Create the connector of a URL."""
    url = Url.parse(text)
    return connector_class(url.scheme)(url)
