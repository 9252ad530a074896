"""The entities of a network: inputs, nodes, outputs, tables and connection points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from boxcars.model.arc import Arc
from boxcars.model.box import Box
from boxcars.model.ordered_map import Fields
from boxcars.model.qos import Qos
from boxcars.model.schema import Schema
from boxcars.model.types import Type

Number = int | float
Clock = Literal["event", "wall"]
"""What moves the frontier of an input: its tuples alone, or the wall clock as well."""
ARRIVAL = "arrival"
"""The order attribute that the engine adds, if an input names it without declaring it."""


@dataclass(frozen=True)
class Input:
    """An input: the fields of its tuples, their order attribute, and how late a tuple may be.

    ``slack`` (allowed lateness) is in units of ``ts`` (seconds for a timestamp). ``idle`` is the
    time in seconds after which a silent partition no longer holds back the others.

    With the ``clock`` "wall", ``ts`` is in wall time: a timestamp, or an int or float in seconds
    since 1970. While a live (unbounded) source is silent, the frontier follows the wall clock minus
    the slack, so that windows close and timeouts fire although no tuple arrives. How far is written
    in the plan of each epoch, so a replay does the same. The frontier never goes back, and older
    tuples are late as always. A finite source and a preview have no wall clock.

    An input with the ``ts`` "arrival" and no field of that name gets one: a timestamp, the time at
    which the epoch that reads the tuple was planned. Its clock is the wall.

    >>> calls = Input(Fields({"caller": Type.STR}), ARRIVAL)
    >>> str(calls.schema), calls.follows_wall
    ('caller: str, arrival*: timestamp', True)
    """

    fields: Fields[Type]
    ts: str
    slack: Number = 0
    idle: Number | None = None
    clock: Clock = "event"

    @property
    def stamped(self) -> bool:
        """Whether the engine adds the order attribute."""
        return self.ts == ARRIVAL and ARRIVAL not in self.fields

    @property
    def follows_wall(self) -> bool:
        """Whether its frontier follows the wall clock while a live source is silent."""
        return self.clock == "wall" or self.stamped

    @property
    def schema(self) -> Schema:
        """The schema of its output arc."""
        added = {ARRIVAL: Type.TIMESTAMP} if self.stamped else {}
        return Schema(Fields({**self.fields, **added}), self.ts)

    @property
    def data_schema(self) -> Schema:
        """The schema of its data, without the order attribute that the engine adds."""
        return Schema(self.fields, self.ts)

    @property
    def order_type(self) -> Type:
        """The type of the order attribute."""
        return Type.TIMESTAMP if self.stamped else self.fields[self.ts]


@dataclass(frozen=True)
class Node:
    """A box in a network: its inputs, and its deployment group."""

    box: Box
    inputs: tuple[Arc, ...] = ()
    group: str = ""


@dataclass(frozen=True)
class Output:
    """An output: the arc it reads, and the schema and quality of service that consumers expect.

    ``fields`` declares the schema that consumers rely on; the check compares it with the inferred
    one.
    """

    source: Arc
    fields: Fields[Type] | None = None
    qos: Qos | None = None


@dataclass(frozen=True)
class Table:
    """A stored table that table boxes read and write; its location is given at run time."""

    fields: Fields[Type]
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConnectionPoint:
    """A retained stream: an arc that keeps its history, by time range or number of tuples."""

    arc: Arc
    time: Number | None = None
    tuples: int | None = None


Entity = Input | Node | Output | Table | ConnectionPoint

KINDS: Mapping[str, str] = {
    "inputs": "input",
    "tables": "table",
    "superboxes": "superbox",
    "boxes": "box",
    "outputs": "output",
    "connection_points": "connection point",
}
"""The sections of a network, and what an entity of each is called."""
