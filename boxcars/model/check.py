"""The check: infer the schema of every arc, and find all problems of a network.

It needs no data and no Spark. Aurora calls it ``typecheck``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from math import isfinite
from typing import TYPE_CHECKING, get_args

from boxcars.model.arc import LATE, Arc
from boxcars.model.box import Ports, unfilled
from boxcars.model.entities import Clock, Input, Node
from boxcars.model.flatten import Flat, flatten
from boxcars.model.problem import Location, NetworkError, Path, Problem, Wrong, a, nearest
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema, name_problem
from boxcars.model.table_order import graph_with_turns, shared_tables
from boxcars.model.types import ORDER_TYPES, Type

if TYPE_CHECKING:
    from boxcars.model.network import Network


@dataclass(frozen=True)
class Checked:
    """The result of the check: the flattened network, its schemas, and its problems."""

    network: Network
    schemas: Mapping[Arc, Schema]
    order: tuple[str, ...]
    """The boxes in topological order; ties are broken by name."""
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def or_raise(self) -> Checked:
        """Return itself; raise NetworkError if there are problems."""
        if self.problems:
            raise NetworkError(self.problems)
        return self

    def inputs_of(self, name: str) -> tuple[Schema, ...]:
        """Return the schemas of the inputs of a box."""
        return tuple(self.schemas[arc] for arc in self.network.boxes[name].inputs)


def check(net: Network, broken: Iterable[str] = (), known: Iterable[Problem] = ()) -> Checked:
    """Check a network; ``broken`` entities and ``known`` problems come from reading its file."""
    unusable = set(broken)
    flat = flatten(net, unusable)
    noted = list(known)
    checker = _Checker(flat, unusable, {p.path[0] for p in noted if p.path})
    order = checker.run()
    problems = [*noted, *flat.problems, *checker.problems]
    located = dict.fromkeys(problem.located(net.source) for problem in problems)
    return Checked(flat.network, checker.schemas, order, _by_line(located))


def _by_line(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    def line(problem: Problem) -> tuple[str, int]:
        where: Location | None = problem.location
        return (where.file, where.line) if where else ("", 0)

    return tuple(sorted(problems, key=line))


class _Checker:
    def __init__(self, flat: Flat, broken: set[str], noted: set[str]) -> None:
        self.flat = flat
        self.net = flat.network
        self.broken = broken
        self.noted = noted
        self.schemas: dict[Arc, Schema] = {}
        self.problems: list[Problem] = []

    def run(self) -> tuple[str, ...]:
        """Check all entities, boxes in topological order; returns that order."""
        for name, entity in self.net.inputs.items():
            self._input(name, entity)
        self._tables()
        order = self._order()
        for name in order:
            self._box(name, self.net.boxes[name])
        self._superbox_inputs()
        self._outputs()
        self._points()
        self._shared_tables()
        return order

    def _wrong(self, message: str, path: Path) -> None:
        self.problems.append(Problem(message, path))

    def _path(self, box: str) -> Path:
        return self.flat.origins.get(box, ("boxes", box))

    def _input(self, name: str, entity: Input) -> None:
        if name in self.broken:
            return
        path = ("inputs", name)
        self._names(entity.fields, (*path, "fields"))
        types = entity.schema.fields
        if entity.ts not in types:
            hint = nearest(entity.ts, entity.fields)
            self._wrong(f"the order attribute '{entity.ts}' is not a field.{hint}", (*path, "ts"))
        elif types[entity.ts] not in ORDER_TYPES:
            self._wrong(
                f"the order attribute '{entity.ts}' is {a(types[entity.ts])}; "
                "expected an int, float or timestamp.",
                (*path, "ts"),
            )
        if not _is_finite(entity.slack):
            self._wrong(f"expected a finite number, got {entity.slack}.", (*path, "slack"))
        elif entity.slack < 0:
            self._wrong(f"slack can't be negative, got {entity.slack}.", (*path, "slack"))
        if entity.idle is not None and (not _is_finite(entity.idle) or entity.idle <= 0):
            self._wrong(f"idle must be above 0 seconds, got {entity.idle}.", (*path, "idle"))
        if entity.clock not in get_args(Clock):
            hint = nearest(str(entity.clock), get_args(Clock))
            self._wrong(
                f"expected the clock event or wall, got '{entity.clock}'.{hint}", (*path, "clock")
            )
        self.schemas[Arc(name)] = entity.schema
        self.schemas[Arc(name, LATE)] = replace(entity.schema, ordered=False)

    def _names(self, fields: Mapping[str, Type], path: Path) -> None:
        if not fields:
            self._wrong("expected at least one field.", path)
        for field in fields:
            if problem := name_problem(field):
                self._wrong(problem, (*path, field))

    def _tables(self) -> None:
        for name, table in self.net.tables.items():
            self._names(table.fields, ("tables", name, "fields"))
            for key in table.key:
                if key not in table.fields:
                    hint = nearest(key, table.fields)
                    self._wrong(f"unknown field '{key}'.{hint}", ("tables", name, "key"))

    def _order(self) -> tuple[str, ...]:
        boxes = self.net.boxes
        sorter = TopologicalSorter(graph_with_turns(self.net))
        try:
            sorter.prepare()
            return tuple(name for name in _by_name(sorter) if name in boxes)
        except CycleError as error:
            loop: list[str] = error.args[1]
            start = min(range(len(loop) - 1), key=lambda i: list(boxes).index(loop[i]))
            round_ = [*loop[start:-1], *loop[: start + 1]]
            self._wrong(
                f"the boxes form a loop: {' -> '.join(round_)}. A network has no loops.",
                self._path(round_[0]),
            )
            return self._rest(set(loop))

    def _rest(self, loop: set[str]) -> tuple[str, ...]:
        """Return the boxes that do not depend on a loop, in topological order."""
        done: dict[str, None] = {}
        for name in loop:
            self.broken.add(name)
        waiting = [name for name in self.net.boxes if name not in loop]
        while ready := [
            name
            for name in waiting
            if all(
                arc.source in done or arc.source in loop or arc.source not in self.net.boxes
                for arc in self.net.boxes[name].inputs
            )
        ]:
            done |= dict.fromkeys(ready)
            waiting = [name for name in waiting if name not in done]
        self.broken |= set(waiting)
        return tuple(done)

    def _box(self, name: str, node: Node) -> None:
        path = self._path(name)
        if name in self.broken:
            return
        self._arity(node, path)
        arcs = tuple(self._arc(arc, (*path, "in")) for arc in node.inputs)
        ports = Ports(arcs, self.net.tables)
        outputs: Mapping[str, Schema]
        outputs = dict.fromkeys((*node.box.ports, *node.box.side_ports), UNKNOWN_SCHEMA)
        if missing := unfilled(node.box):
            for key in missing:
                ports.wrong("no enclosing superbox has that parameter.", key)
        else:
            try:
                outputs = node.box.outputs(ports)
            except Wrong as wrong:
                ports.wrong(str(wrong))
        for problem in ports.problems:
            self._wrong(problem.message, (*path, *problem.path))
        for port, schema in outputs.items():
            self.schemas[Arc(name, port)] = schema

    def _arity(self, node: Node, path: Path) -> None:
        least, most = node.box.arity
        got = len(node.inputs)
        if got < least or (most is not None and got > most):
            wanted = (
                f"exactly {least}"
                if least == most
                else f"at least {least}"
                if most is None
                else f"{least} to {most}"
            )
            noun = "input" if wanted.endswith(" 1") else "inputs"
            self._wrong(f"{a(node.box.type)} has {wanted} {noun}, got {got}.", (*path, "in"))

    def _arc(self, arc: Arc, path: Path) -> Schema:
        """Return the schema of an arc; a dangling arc is a problem of its reader at ``path``."""
        if arc in self.schemas:
            return _with_order(self.schemas[arc])
        flat = self.flat
        if arc.source in self.broken or arc.source in flat.failed:
            return UNKNOWN_SCHEMA
        ports = flat.uses.get(arc.source) or [
            a.port for a in self.schemas if a.source == arc.source
        ]
        if ports:
            hint = nearest(arc.port, ports)
            self._wrong(f"'{arc.source}' has no output '{arc.port}'.{hint}", path)
        elif arc.source not in self.net.boxes:
            hint = nearest(arc.source, [*self.net.inputs, *self.net.boxes, *flat.uses])
            self._wrong(f"there is no input or box '{arc.source}'.{hint}", path)
        return UNKNOWN_SCHEMA

    def _superbox_inputs(self) -> None:
        for want in self.flat.wants:
            schema = self._arc(want.arc, want.path)
            differences = _compare(schema.fields, want.input.schema.fields) if schema.known else []
            for difference in differences:
                self._wrong(f"superbox input '{want.port}': {difference}", want.path)

    def _outputs(self) -> None:
        stores = any(node.box.writes for node in self.net.boxes.values())
        if not (self.net.outputs or stores) and "outputs" not in self.noted:
            self._wrong("a network needs at least one output.", ("outputs",))
        for name, output in self.net.outputs.items():
            path = ("outputs", name)
            schema = self._arc(output.source, (*path, "from"))
            if output.fields is not None and schema.known:
                extra = set(schema.fields) - set(output.fields)
                for difference in _compare(schema.fields, output.fields):
                    self._wrong(difference, (*path, "fields"))
                for field in sorted(extra):
                    self._wrong(
                        f"'{output.source}' also has the field '{field}', which is not declared.",
                        (*path, "fields"),
                    )
            if output.qos is not None:
                for where, message in output.qos.problems(schema.fields):
                    self._wrong(message, (*path, "qos", where))

    def _points(self) -> None:
        for name, point in self.net.connection_points.items():
            path = ("connection_points", name)
            self._arc(point.arc, (*path, "arc"))
            given = [key for key in ("time", "tuples") if getattr(point, key) is not None]
            if len(given) != 1:
                self._wrong("set how much history is retained: either time or tuples.", path)
            elif not _is_finite(size := getattr(point, given[0])) or size <= 0:
                self._wrong(f"expected a number above 0, got {size}.", (*path, given[0]))

    def _shared_tables(self) -> None:
        """Boxes that share a table take turns by order value, so these must be comparable."""
        shared = shared_tables(self.net)
        inputs = self.net.inputs.items()
        types = {e.schema.fields.get(e.ts, Type.UNKNOWN): name for name, e in inputs}
        types.pop(Type.UNKNOWN, None)
        if shared and len(types) > 1:
            table, boxes = next(iter(shared.items()))
            (one, first), (two, second) = list(types.items())[:2]
            self._wrong(
                f"the boxes {', '.join(boxes)} share it, so all inputs need an order attribute of "
                f"the same type: that of '{first}' is {a(one)}, that of '{second}' is {a(two)}.",
                ("tables", table),
            )


def _by_name(sorter: TopologicalSorter[str]) -> Iterator[str]:
    """Yield names in topological order; ties by name, so that equal networks behave the same."""
    ready: list[str] = []
    while sorter.is_active():
        for name in sorter.get_ready():
            heappush(ready, name)
        name = heappop(ready)
        sorter.done(name)
        yield name


def _with_order(schema: Schema) -> Schema:
    """Return the schema with its order attribute; a missing one is not a problem of the reader."""
    if schema.ts in schema.fields or not schema.known:
        return schema
    if not schema.ts:
        return UNKNOWN_SCHEMA
    return schema.with_fields({**schema.fields, schema.ts: Type.UNKNOWN})


def _is_finite(number: object) -> bool:
    """Whether it is a finite number; an unbound superbox parameter is not."""
    return isinstance(number, int) or (isinstance(number, float) and isfinite(number))


def _compare(got: Mapping[str, Type], expected: Mapping[str, Type]) -> list[str]:
    """Describe how the fields of an arc differ from the expected ones."""
    sentences = []
    for name, type_ in expected.items():
        if name not in got:
            sentences.append(f"expected a field '{name}', which is missing.{nearest(name, got)}")
        elif not type_.accepts(got[name]):
            sentences.append(f"expected '{name}' to be {a(type_)}, got {a(got[name])}.")
    return sentences
