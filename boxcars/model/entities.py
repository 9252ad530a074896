"""The things a network is made of, besides its boxes: inputs, outputs, tables, marked arcs."""

from __future__ import annotations

from dataclasses import dataclass

from boxcars.model.arc import Arc
from boxcars.model.box import Box
from boxcars.model.ordered_map import Fields
from boxcars.model.qos import Qos
from boxcars.model.schema import Schema
from boxcars.model.types import Type

Number = int | float


@dataclass(frozen=True)
class Input:
    """Where tuples enter: their fields, the field they are ordered by, and how late one may be.

    ``slack`` is in units of ``ts`` (seconds for a timestamp). ``idle`` is the time in seconds
    after which a silent partition no longer holds the others back.
    """

    fields: Fields[Type]
    ts: str
    slack: Number = 0
    idle: Number | None = None

    @property
    def schema(self) -> Schema:
        """The schema of the arc that leaves it."""
        return Schema(self.fields, self.ts)


@dataclass(frozen=True)
class Node:
    """A box in its place: what enters it, and the group it is deployed with."""

    box: Box
    inputs: tuple[Arc, ...] = ()
    group: str = ""


@dataclass(frozen=True)
class Output:
    """Where tuples leave: the arc they come from, and what the application expects of it.

    ``fields`` declares the schema that the application relies on; the check compares it with
    what the network really gives.
    """

    source: Arc
    fields: Fields[Type] | None = None
    qos: Qos | None = None


@dataclass(frozen=True)
class Table:
    """A stored table that table boxes read and write; where it is stored is said at run time."""

    fields: Fields[Type]
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConnectionPoint:
    """A marked arc: it keeps history, by time range or by number of tuples, and can be tapped."""

    arc: Arc
    time: Number | None = None
    tuples: int | None = None


Entity = Input | Node | Output | Table | ConnectionPoint
