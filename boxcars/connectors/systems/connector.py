"""What a connector is: how to read a system outside, and how to write to it.

A connector is one class in one file, registered as an entry point of the group
``boxcars.connectors`` under the scheme of its addresses. Ours are in this package.
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
    """The other side is not there, for now: whoever hears it tries again."""


@dataclass(frozen=True)
class Received:
    """What came: messages as bytes, or a table, and the position behind it.

    The position is plain data (for JSON) from which the other side can go on. ``ended`` says that
    nothing will ever come behind this.
    """

    data: Sequence[bytes] | pa.Table
    position: Any = None
    ended: bool = False


class Intake(ABC):
    """A connection that is read, by one thread.

    What is pulled is written down together with its position, and then it is :meth:`safe`. So
    nothing is lost if a process ends, and nothing comes twice if positions tell what was pulled.
    """

    @abstractmethod
    def open(self, position: Any) -> None:
        """Connect, and go on behind a position; None is the first time. Raises Lost."""

    @abstractmethod
    def pull(self, most: int, seconds: float) -> Received | None:
        """What is there, at most so many messages; wait for the first one so long. Raises Lost."""

    def safe(self, position: Any) -> None:
        """All up to here is kept, and the other side may forget it. Raises Lost."""
        return

    def close(self) -> None:
        """Disconnect; also after it was lost, and before it is opened again."""
        return


class Delivery(ABC):
    """A connection that is written."""

    @abstractmethod
    def open(self) -> None:
        """Connect. Raises Lost."""

    @abstractmethod
    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Hand over the rows of an epoch. Raises Lost.

        If that, or the end of the process, leaves it open whether they have arrived, it is called
        again with the same rows and the same epoch; whoever can should see that they are there.
        """

    @property
    def may_refuse(self) -> bool:
        """Whether there may be rows that it has no message for."""
        return False

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that it has no message for: (origin, record, reason). It is not given them."""
        return letters([], [], [])

    def close(self) -> None:
        """Disconnect; also after it was lost, and before it is opened again."""
        return


class Connector:
    """A system outside, by its address: what it can be asked for, and what it guarantees.

    It is given to a run as a source or a sink: ``bx.run(net, {"calls": Kafka("kafka://...")})``, or
    just by the address. Options stand in the address or behind it, ``from_`` for ``from``.

    >>> Connector("redis://host/calls?db=3", maxlen=1000, from_="new").url.options
    {'db': '3', 'maxlen': '1000', 'from': 'new'}
    """

    scheme: ClassVar[str]
    title: ClassVar[str]
    """What people call it."""
    package: ClassVar[str] = ""
    """The library it needs, if that is an extra of ours."""
    guarantee_in: ClassVar[str] = ""
    """How often a message becomes a tuple; nothing if it can't be read."""
    guarantee_out: ClassVar[str] = ""
    """How often a tuple is delivered; nothing if it can't be written."""
    tested: ClassVar[str] = ""
    """What its tests run against."""

    def __init__(self, url: Url | str, **options: Any) -> None:
        self.url = Url.parse(url) if isinstance(url, str) else url
        if options:
            own = {name.removesuffix("_"): str(value) for name, value in options.items()}
            self.url = self.url.with_options(own)

    def intake(self) -> Intake:
        """A connection for reading, not yet opened. Raises Wrong about its address."""
        raise Wrong(f"{self.url}: {self.title} can't be read.")

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """A connection for writing such rows; ``home`` names the output of this run, for ever."""
        raise Wrong(f"{self.url}: {self.title} can't be written.")


def schemes() -> list[str]:
    """All schemes that addresses can have."""
    return sorted(entry_points(group=GROUP).names)


def connectors() -> dict[type[Connector], list[str]]:
    """All connectors that can be loaded, with the schemes of their addresses."""
    found: dict[type[Connector], list[str]] = {}
    for scheme in schemes():
        with suppress(Wrong):
            found.setdefault(connector_class(scheme), []).append(scheme)
    return found


@cache
def connector_class(scheme: str) -> type[Connector]:
    """The connector for addresses that begin with a scheme."""
    for entry in entry_points(group=GROUP, name=scheme):
        try:
            cls = entry.load()
        except ImportError as error:
            raise Wrong(f"the connector '{scheme}://' can't be loaded: {error}.") from None
        if not (isinstance(cls, type) and issubclass(cls, Connector)):
            raise Wrong(f"the entry point '{scheme}' of {GROUP} is no Connector: {entry.value}.")
        return cls
    raise Wrong(f"there is no connector '{scheme}://'.{nearest(scheme, schemes())}")


def connect(text: str) -> Connector:
    """The connector of an address."""
    url = Url.parse(text)
    return connector_class(url.scheme)(url)
