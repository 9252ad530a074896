"""A network: boxes and arrows, with named inputs, outputs, tables and connection points.

A network is a value: its entities are immutable, equal networks compare equal, and edits return a
new network. Only drawing (``net.input``, ``net.output`` and the boxes drawn from its streams)
changes a network in place, so that a program can draw it line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Self, TypeVar

from boxcars.model.arc import Arc, check_name
from boxcars.model.box import Box
from boxcars.model.check import Checked, check
from boxcars.model.describe import describe
from boxcars.model.entities import (
    KINDS,
    Clock,
    ConnectionPoint,
    Entity,
    Input,
    Node,
    Output,
    Table,
)
from boxcars.model.naming import caller_location, stable_name
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Location, NetworkError, Path, Problem, Wrong, nearest
from boxcars.model.qos import Qos
from boxcars.model.stream import Stream
from boxcars.model.superbox import Superbox
from boxcars.model.types import Type

T = TypeVar("T")
FieldTypes = Mapping[str, Type | str]


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Network:
    """A loop-free graph of boxes.

    >>> net = Network("cheap-calls")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "price": "float"})
    >>> net.output("cheap", calls.filter("price < 1").named("cheap"))
    >>> net.list_entities()
    (('input', 'calls'), ('box', 'cheap'), ('output', 'cheap'))
    """

    name: str
    inputs: Mapping[str, Input] = field(default_factory=_nothing)
    tables: Mapping[str, Table] = field(default_factory=_nothing)
    superboxes: Mapping[str, Superbox] = field(default_factory=_nothing)
    boxes: Mapping[str, Node] = field(default_factory=_nothing)
    outputs: Mapping[str, Output] = field(default_factory=_nothing)
    connection_points: Mapping[str, ConnectionPoint] = field(default_factory=_nothing)
    modules: tuple[str, ...] = ()
    """Python modules that register the functions, aggregates, formats and boxes that it uses."""
    source: Mapping[Path, Location] = field(default_factory=_nothing, compare=False, repr=False)

    __hash__ = None  # type: ignore[assignment]

    # Drawing: these change the network in place.

    def input(
        self,
        name: str,
        *,
        ts: str,
        fields: FieldTypes,
        slack: int | float = 0,
        idle: int | float | None = None,
        clock: Clock = "event",
    ) -> Stream:
        """Draw an input; ``ts`` is its order attribute, ``slack`` how late a tuple may be.

        With the clock "wall" its frontier follows the wall clock while a live source is silent;
        the ts "arrival", without a field of that name, stamps tuples as they enter. Both are
        described at :class:`~boxcars.model.entities.Input`.
        """
        types = Fields({key: _type(type_) for key, type_ in fields.items()})
        self._draw("inputs", name, Input(types, ts, slack, idle, clock))
        return self.stream(name)

    def output(
        self,
        name: str,
        stream: Stream,
        *,
        fields: FieldTypes | None = None,
        qos: Qos | Mapping[str, Any] | None = None,
    ) -> None:
        """Draw an output, with the fields and the quality of service that consumers expect."""
        types = None if fields is None else Fields({k: _type(v) for k, v in fields.items()})
        quality = qos if isinstance(qos, Qos) or qos is None else Qos.from_plain(qos)
        self._draw("outputs", name, Output(self._own(stream), types, quality))

    def table(self, name: str, *, fields: FieldTypes, key: Sequence[str] | str = ()) -> str:
        """Declare a stored table; returns its name, for the table boxes."""
        types = Fields({k: _type(v) for k, v in fields.items()})
        self._draw("tables", name, Table(types, (key,) if isinstance(key, str) else tuple(key)))
        return name

    def superbox(self, body: Network, /, **params: Any) -> None:
        """Define a superbox: ``body`` is used like a box, under its own name.

        ``params`` are the parameters with their defaults (None: required); inside the body they
        are written ``$name``.
        """
        self._draw("superboxes", body.name, Superbox(body.copy(), Fields(params)))

    def box(self, name: str | None, box: Box, *inputs: Stream | str, group: str = "") -> Stream:
        """Draw a box; the methods of a stream are shorter."""
        arcs = tuple(Arc.of(i) if isinstance(i, str) else self._own(i) for i in inputs)
        name = name or stable_name(box, arcs)
        if name in self.boxes:
            before = self.source.get(("boxes", name))
            at = f" (drawn at {before})" if before else ""
            raise Wrong(
                f"there is already a box '{name}'{at}. Reuse it, or give each box its own name "
                "with .named('...')."
            )
        self._draw("boxes", name, Node(box, arcs, group))
        return self.stream(name)

    def _own(self, stream: Stream) -> Arc:
        if stream.net is not self:
            raise Wrong(
                f"'{stream}' belongs to the network '{stream.net.name}', not to '{self.name}'."
            )
        return stream.arc

    def stream(self, arc: str) -> Stream:
        """Return the stream of an input or a box, to draw from."""
        found = Arc.of(arc)
        if found.source not in self.inputs and found.source not in self.boxes:
            hint = nearest(found.source, [*self.inputs, *self.boxes])
            raise Wrong(f"there is no input or box '{found.source}'.{hint}")
        return Stream(self, found)

    def _draw(self, kind: str, name: str, entity: object) -> None:
        check_name(name)
        known: Mapping[str, object] = getattr(self, kind)
        clash = name in known or (
            kind in ("inputs", "boxes") and (name in self.inputs or name in self.boxes)
        )
        if clash:
            raise Wrong(f"there is already a '{name}': names must be unique, choose another.")
        self._set(kind, {**known, name: entity})
        location = caller_location()
        if location:
            self._set("source", {**self.source, (kind, name): location})

    def _set(self, kind: str, value: Mapping[Any, Any]) -> None:
        object.__setattr__(self, kind, MappingProxyType(value))

    # Reading.

    def list_entities(self, kind: str | None = None) -> tuple[tuple[str, str], ...]:
        """Return all entities as (kind, name), or those of one kind (Aurora's ``listEntities``)."""
        every = [(kind, name) for key, kind in KINDS.items() for name in getattr(self, key)]
        return tuple(entity for entity in every if kind in (None, entity[0]))

    def describe(self, name: str) -> str:
        """Describe an entity as text (Aurora's ``describe``)."""
        return describe(self, name)

    def check(self) -> Checked:
        """Infer the schema of every arc and find all problems."""
        return check(self)

    def consumers(self, arc: Arc) -> tuple[str, ...]:
        """Return the boxes that read an arc."""
        return tuple(name for name, node in self.boxes.items() if arc in node.inputs)

    def copy(self) -> Self:
        """Return a snapshot, which later drawing does not change."""
        return replace(self)

    # Editing: these return a new network.

    def add(
        self, name: str, entity: Entity | Box, inputs: Iterable[str | Arc] = (), group: str = ""
    ) -> Network:
        """Return a network with one more entity.

        >>> from boxcars.boxes.filter import Filter
        >>> net = Network("n").add("f", Filter.build("price < 1"), ["calls"])
        >>> net.boxes["f"].inputs
        (Arc(source='calls', port='0'),)
        """
        if isinstance(entity, Box):
            arcs = tuple(Arc.of(i) if isinstance(i, str) else i for i in inputs)
            entity = Node(entity, arcs, group)
        grown = self.copy()
        grown._draw(_kind_of(entity), name, entity)
        return grown

    def remove(self, name: str) -> Network:
        """Return a network without the entity of that name."""
        kind = self._find(name)
        kept = {n: e for n, e in getattr(self, kind).items() if n != name}
        return self._with(kind, kept)

    def replace(self, name: str, entity: Entity | Box) -> Network:
        """Return a network with an entity replaced; a box keeps its inputs and group."""
        kind = self._find(name, None if isinstance(entity, Box) else _kind_of(entity))
        if isinstance(entity, Box):
            if kind != "boxes":
                raise Wrong(f"'{name}' is not a box.")
            entity = replace(self.boxes[name], box=entity)
        return self._with(kind, {**getattr(self, kind), name: entity})

    def rewire(self, name: str, *inputs: str | Arc) -> Network:
        """Return a network where a box (or an output) reads other arcs."""
        arcs = tuple(Arc.of(i) if isinstance(i, str) else i for i in inputs)
        if name in self.boxes:
            return self._with("boxes", {**self.boxes, name: replace(self.boxes[name], inputs=arcs)})
        if name in self.outputs and len(arcs) == 1:
            return self._with(
                "outputs", {**self.outputs, name: replace(self.outputs[name], source=arcs[0])}
            )
        hint = nearest(name, [*self.boxes, *self.outputs])
        raise Wrong(f"there is no box '{name}', nor an output that takes these arcs.{hint}")

    def rename(self, old: str, new: str) -> Network:
        """Return a network with a box renamed, also where it is read."""
        if old not in self.boxes:
            raise Wrong(f"there is no box '{old}'.{nearest(old, self.boxes)}")
        check_name(new)
        if new in self.boxes or new in self.inputs:
            raise Wrong(f"there is already a '{new}': names must be unique, choose another.")

        def renamed(arc: Arc) -> Arc:
            return replace(arc, source=new) if arc.source == old else arc

        def follow(node: Node) -> Node:
            reads = any(arc.source == old for arc in node.inputs)
            return replace(node, inputs=tuple(map(renamed, node.inputs))) if reads else node

        boxes = {new if name == old else name: follow(node) for name, node in self.boxes.items()}
        outputs = {n: replace(o, source=renamed(o.source)) for n, o in self.outputs.items()}
        points = {n: replace(p, arc=renamed(p.arc)) for n, p in self.connection_points.items()}
        source = {
            ((path[0], new, *path[2:]) if path[:2] == ("boxes", old) else path): location
            for path, location in self.source.items()
        }
        return (
            self._with("boxes", boxes)
            ._with("outputs", outputs)
            ._with("connection_points", points)
            ._with("source", source)
        )

    def with_boxes(self, boxes: Mapping[str, Node]) -> Network:
        """Return a network with exactly these boxes, for rewriting."""
        return self._with("boxes", boxes)

    def _with(self, kind: str, value: Mapping[Any, Any]) -> Network:
        changed = self.copy()
        changed._set(kind, value)
        return changed

    def _find(self, name: str, kind: str | None = None) -> str:
        """Return the section of an entity; a box takes precedence over an output of that name."""
        order = ("boxes", "inputs", "outputs", "tables", "superboxes", "connection_points")
        for key in order:
            if name in getattr(self, key) and kind in (None, key):
                return key
        every = [name for _, name in self.list_entities()]
        raise Wrong(f"there is no '{name}' in '{self.name}'.{nearest(name, every)}")


assert set(KINDS) == {f.name for f in fields(Network)} - {"name", "modules", "source"}


def _kind_of(entity: Any) -> str:
    kinds = {
        Input: "inputs",
        Node: "boxes",
        Output: "outputs",
        Table: "tables",
        ConnectionPoint: "connection_points",
    }
    return kinds.get(type(entity), "superboxes")


def _type(type_: Type | str) -> Type:
    try:
        return Type(type_)
    except ValueError:
        names = [t.value for t in Type if t is not Type.UNKNOWN]
        hint = nearest(str(type_), names)
        raise NetworkError([Problem(f"unknown type '{type_}'.{hint}")]) from None
