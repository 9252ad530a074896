"""Read the entities of a network from plain data, noting every problem with its path.

Every front end that reads a file turns it into plain data and reads that here, so that the same
mistake gets the same message in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from boxcars.model import codec
from boxcars.model.arc import Arc, check_name
from boxcars.model.box import Plain, box_types, read_box
from boxcars.model.entities import Clock, ConnectionPoint, Input, Node, Output, Table
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Location, Path, Problem, Wrong, nearest
from boxcars.model.qos import Qos
from boxcars.model.serialize import NODE_KEYS
from boxcars.model.superbox import Superbox, Use
from boxcars.model.types import Type

if TYPE_CHECKING:
    from boxcars.model.network import Network


@dataclass
class Reading:
    """The result of reading: the network as far as it could be read, and its problems.

    ``broken`` are the names of entities that could not be read; references to them are not
    reported as problems.
    """

    network: Network
    problems: list[Problem] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


Importer = Callable[[Sequence[str]], None]
"""A function that imports modules, or raises Wrong."""


def read_into(
    empty: Network,
    plain: Plain,
    source: Mapping[Path, Location] | None = None,
    importer: Importer | None = None,
) -> Reading:
    """Read a network as a copy of ``empty`` with all entities replaced.

    It copies a network instead of making one, so that :mod:`boxcars.model.network` can import this
    module.
    """
    reader = _Reader(source or {}, Reading(empty))
    reader.modules(plain, importer)
    return reader.read(plain)


class _Reader:
    def __init__(self, source: Mapping[Path, Location], reading: Reading) -> None:
        self.source = source
        self.reading = reading
        self.problems = reading.problems

    def modules(self, plain: Plain, importer: Importer | None) -> None:
        """Read the module names, and import the modules if there is an importer."""
        given = plain.get("modules") if isinstance(plain, Mapping) else None
        names = given if isinstance(given, list) else [] if given is None else [given]
        for number, name in enumerate(names):
            if not isinstance(name, str) or not all(map(str.isidentifier, name.split("."))):
                message = f"expected a Python module, such as fraud.functions, got {name!r}."
                self.wrong(message, ("modules", str(number)))
                return
        self.reading.network = replace(self.reading.network, modules=tuple(names))
        try:
            if importer is not None:
                importer(names)
        except Wrong as wrong:
            self.wrong(str(wrong), ("modules",))

    def read(self, plain: Plain, base: Path = (), outer: tuple[str, ...] = ()) -> Reading:
        """Read a whole network, or the body of a superbox at the path ``base``."""
        if not isinstance(plain, Mapping):
            self.wrong(f"expected a network with inputs, boxes and outputs, got {plain!r}.", base)
            return self.reading
        sections: dict[str, Callable[..., Any]] = {
            "inputs": self.input,
            "tables": self.table,
            "superboxes": self.superbox,
            "boxes": self.node,
            "outputs": self.output,
            "connection_points": self.point,
        }
        known = [*sections, *(["params"] if base else ["name", "modules"])]
        for key in plain:
            if key not in known:
                self.wrong(f"unknown section '{key}'.{nearest(key, known)}", (*base, key))
        parts = {"superboxes": self._section(plain, "superboxes", base, self.superbox, ())}
        names = (*parts["superboxes"], *outer)
        for key, read in sections.items():
            if key != "superboxes":
                more = (names,) if key == "boxes" else ()
                parts[key] = self._section(plain, key, base, read, more)
        read_parts: dict[str, Any] = {key: MappingProxyType(part) for key, part in parts.items()}
        self.reading.network = replace(
            self.reading.network,
            name=str(plain.get("name") or self.reading.network.name),
            source=MappingProxyType(dict(self.source)),
            **read_parts,
        )
        return self.reading

    def _section(
        self, plain: Mapping[str, Plain], key: str, base: Path, read: Callable[..., Any], more: Any
    ) -> dict[str, Any]:
        section = plain.get(key)
        path = (*base, key)
        if section is None:
            return {}
        if not isinstance(section, Mapping):
            self.wrong(f"expected a mapping of names to blocks, got {section!r}.", path)
            return {}
        return dict(self._entities(section, path, read, more))

    def _entities(
        self, section: Mapping[str, Plain], path: Path, read: Callable[..., Any], more: Any
    ) -> Iterator[tuple[str, Any]]:
        for name, block in section.items():
            try:
                check_name(str(name))
            except Wrong as wrong:
                self.wrong(str(wrong), (*path, str(name)))
                continue
            before = len(self.problems)
            if isinstance(block, Mapping):
                entity = read(block, (*path, name), *more)
            else:
                entity = None
                self.wrong(f"expected a block such as {{...}}, got {block!r}.", (*path, name))
            if len(self.problems) > before:
                self.reading.broken.add(name)
            if entity is not None:
                yield name, entity

    def input(self, block: Mapping[str, Plain], path: Path) -> Input | None:
        """Read the block of an input."""
        values = self.block(
            block,
            path,
            "an input",
            {
                "ts": str,
                "fields": Fields[Type],
                "slack": int | float,
                "idle": int | float | None,
                "clock": Clock,
            },
            required=("ts", "fields"),
        )
        return Input(**values) if values else None

    def output(self, block: Mapping[str, Plain], path: Path) -> Output | None:
        """Read the block of an output."""
        if "from" in block and block["from"] is None:
            self.arc(None, (*path, "from"), "it")
            return None
        values = self.block(
            block,
            path,
            "an output",
            {"from": str, "fields": Fields[Type] | None, "qos": Qos | None},
            required=("from",),
        )
        if values is None:
            return None
        arc = self.arc(values.pop("from"), (*path, "from"))
        return Output(arc, **values) if arc else None

    def table(self, block: Mapping[str, Plain], path: Path) -> Table | None:
        """Read the block of a table."""
        values = self.block(
            block,
            path,
            "a table",
            {"fields": Fields[Type], "key": tuple[str, ...]},
            required=("fields",),
        )
        return Table(**values) if values else None

    def point(self, block: Mapping[str, Plain], path: Path) -> ConnectionPoint | None:
        """Read the block of a connection point."""
        values = self.block(
            block,
            path,
            "a connection point",
            {"arc": str, "time": int | float | None, "tuples": int | None},
            required=("arc",),
        )
        if values is None:
            return None
        arc = self.arc(values.pop("arc"), (*path, "arc"))
        return ConnectionPoint(arc, **values) if arc else None

    def superbox(self, block: Mapping[str, Plain], path: Path) -> Superbox:
        """Read the block of a superbox: a whole network, and its parameters."""
        empty = replace(self.reading.network, name=path[-1], modules=())
        inner = _Reader(self.source, Reading(empty, self.problems))
        body = inner.read(block, path).network._with("source", {})
        given = block.get("params") or {}
        if not isinstance(given, Mapping):
            self.wrong(
                f"expected a mapping of names to defaults, got {given!r}.", (*path, "params")
            )
            given = {}
        return Superbox(body, Fields(given))

    def node(
        self, block: Mapping[str, Plain], path: Path, superboxes: tuple[str, ...]
    ) -> Node | None:
        """Read the block of a box."""
        types = box_types()
        kind = block.get("type")
        if kind is None:
            self.wrong("a box needs a 'type'.", path)
            return None
        if not isinstance(kind, str):
            self.wrong(f"expected the type of a box, got {kind!r}.", (*path, "type"))
            return None
        if kind not in types and kind not in superboxes and len(path) == 2:
            hint = nearest(str(kind), [*types, *superboxes])
            self.wrong(f"unknown box type '{kind}'.{hint}", (*path, "type"))
            return None
        given = {key: value for key, value in block.items() if key not in NODE_KEYS}
        if kind in types:
            box = read_box(types[kind], given, path, self.problems)
        else:
            box = Use(str(kind), Fields(given))
        arcs = self.arcs(block.get("in"), (*path, "in"))
        if box is None or arcs is None:
            return None
        return Node(box, arcs, str(block.get("group", "")))

    def arcs(self, plain: Plain, path: Path) -> tuple[Arc, ...] | None:
        """Read the inputs of a box: one arc, or a list of arcs."""
        if plain is None:
            return ()
        many = plain if isinstance(plain, list) else [plain]
        names = ("its left input", "its right input") if len(many) == 2 else ()
        found = [
            self.arc(text, (*path, str(i)) if len(many) > 1 else path, *names[i : i + 1])
            for i, text in enumerate(many)
        ]
        return None if None in found else tuple(arc for arc in found if arc)

    def arc(self, text: Plain, path: Path, what: str = "an input") -> Arc | None:
        """Read one arc, which may be missing in an incomplete network."""
        if text is None or text == "":
            self.wrong(f"{what} is not connected: draw an arrow to it.", path)
            return None
        try:
            return Arc.of(str(text))
        except Wrong as wrong:
            self.wrong(str(wrong), path)
            return None

    def block(
        self,
        block: Mapping[str, Plain],
        path: Path,
        what: str,
        known: Mapping[str, Any],
        required: tuple[str, ...],
    ) -> dict[str, Any] | None:
        """Read the values of a block with known keys; None if there are problems."""
        before = len(self.problems)
        for key in block:
            if key not in known:
                self.wrong(f"{what} has no '{key}'.{nearest(key, known)}", (*path, key))
        for key in required:
            if key not in block:
                self.wrong(f"{what} needs '{key}'.", path)
        values = {
            key: codec.from_plain(known[key], block[key], (*path, key), self.problems)
            for key in known
            if key in block
        }
        return values if len(self.problems) == before else None

    def wrong(self, message: str, path: Path) -> None:
        """Note a problem."""
        self.problems.append(Problem(message, path))
