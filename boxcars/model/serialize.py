"""A network as plain data, the structure that YAML and JSON files have, and back.

Every front end that reads a file makes plain data of it and hands it to :func:`read_network`, so
that the same mistake gets the same words in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from boxcars.model import codec
from boxcars.model.arc import MAIN, Arc, check_name
from boxcars.model.box import Plain, box_types, read_box
from boxcars.model.entities import ConnectionPoint, Input, Node, Output, Table
from boxcars.model.network import Network
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Location, Path, Problem, Wrong, nearest
from boxcars.model.qos import Qos
from boxcars.model.superbox import Superbox, Use
from boxcars.model.types import Type

NODE_KEYS = ("type", "in", "group")
"""What a block of a file says about a box besides its parameters."""


def network_to_plain(net: Network) -> dict[str, Plain]:
    """The whole network, one block for each entity, in the order in which they were drawn."""
    plain: dict[str, Plain] = {"name": net.name}
    if net.modules:
        plain["modules"] = list(net.modules)
    sections: dict[str, Callable[[Any], Plain]] = {
        "inputs": _input_to_plain,
        "tables": _table_to_plain,
        "superboxes": _superbox_to_plain,
        "boxes": lambda node: node_to_plain(net, node),
        "outputs": lambda output: _output_to_plain(net, output),
        "connection_points": lambda point: _point_to_plain(net, point),
    }
    for key, write in sections.items():
        entities: Mapping[str, Any] = getattr(net, key)
        if entities:
            plain[key] = {name: write(entity) for name, entity in entities.items()}
    return plain


def node_to_plain(net: Network, node: Node) -> dict[str, Plain]:
    """The block of a box."""
    arcs = [arc_text(net, arc) for arc in node.inputs]
    kind = node.box.superbox if isinstance(node.box, Use) else node.box.type
    plain: dict[str, Plain] = {"type": kind, "in": arcs[0] if len(arcs) == 1 else arcs}
    if node.group:
        plain["group"] = node.group
    return plain | node.box.plain()


def arc_text(net: Network, arc: Arc) -> str:
    """The arc as it is written: with its port where the box has several outputs."""
    node = net.boxes.get(arc.source)
    if node and arc.port == MAIN and len(node.box.ports) > 1:
        return f"{arc.source}.{MAIN}"
    return str(arc)


def _types(fields: Mapping[str, Type]) -> dict[str, str]:
    return {name: type_.value for name, type_ in fields.items()}


def _input_to_plain(entity: Input) -> Plain:
    plain: dict[str, Plain] = {"ts": entity.ts}
    if entity.slack:
        plain["slack"] = entity.slack
    if entity.idle is not None:
        plain["idle"] = entity.idle
    return plain | {"fields": _types(entity.fields)}


def _output_to_plain(net: Network, entity: Output) -> Plain:
    plain: dict[str, Plain] = {"from": arc_text(net, entity.source)}
    if entity.fields is not None:
        plain["fields"] = _types(entity.fields)
    if entity.qos is not None:
        plain["qos"] = entity.qos.plain()
    return plain


def _table_to_plain(entity: Table) -> Plain:
    plain: dict[str, Plain] = {"fields": _types(entity.fields)}
    return plain | ({"key": list(entity.key)} if entity.key else {})


def _point_to_plain(net: Network, entity: ConnectionPoint) -> Plain:
    plain: dict[str, Plain] = {"arc": arc_text(net, entity.arc)}
    for key in ("time", "tuples"):
        if getattr(entity, key) is not None:
            plain[key] = getattr(entity, key)
    return plain


def _superbox_to_plain(entity: Superbox) -> Plain:
    plain = network_to_plain(entity.body)
    del plain["name"]
    return ({"params": dict(entity.params)} if entity.params else {}) | plain


@dataclass
class Reading:
    """What came of reading: the network as far as it could be read, and what was wrong.

    ``broken`` are the names of boxes and inputs that could not be read; who refers to them is
    not to blame.
    """

    network: Network
    problems: list[Problem] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


Importer = Callable[[Sequence[str]], None]
"""Imports modules, or raises Wrong."""


def read_network(
    plain: Plain,
    source: Mapping[Path, Location] | None = None,
    name: str = "",
    importer: Importer | None = None,
) -> Reading:
    """Read a network; ``source`` says in which line each part of it stands.

    Its modules are imported before the rest is read, by the ``importer``; without one they are only
    noted.
    """
    reader = _Reader(source or {}, Reading(Network(name or "network")))
    reader.modules(plain, importer)
    return reader.read(plain)


class _Reader:
    def __init__(self, source: Mapping[Path, Location], reading: Reading) -> None:
        self.source = source
        self.reading = reading
        self.problems = reading.problems

    def modules(self, plain: Plain, importer: Importer | None) -> None:
        """The modules that the network names, imported if they may be."""
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
        """Read a whole network, or with ``base`` the body of a superbox."""
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
        self.reading.network = Network(
            str(plain.get("name") or self.reading.network.name),
            **{key: MappingProxyType(part) for key, part in parts.items()},
            modules=self.reading.network.modules,
            source=MappingProxyType(dict(self.source)),
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
            self.wrong(f"expected names with a block each, got {section!r}.", path)
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
        """The block of an input."""
        values = self.block(
            block,
            path,
            "an input",
            {"ts": str, "fields": Fields[Type], "slack": int | float, "idle": int | float | None},
            required=("ts", "fields"),
        )
        return Input(**values) if values else None

    def output(self, block: Mapping[str, Plain], path: Path) -> Output | None:
        """The block of an output."""
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
        """The block of a table."""
        values = self.block(
            block,
            path,
            "a table",
            {"fields": Fields[Type], "key": tuple[str, ...]},
            required=("fields",),
        )
        return Table(**values) if values else None

    def point(self, block: Mapping[str, Plain], path: Path) -> ConnectionPoint | None:
        """The block of a connection point."""
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
        """The block of a superbox: a whole network, and its parameters."""
        inner = _Reader(self.source, Reading(Network(path[-1]), self.problems))
        body = inner.read(block, path).network._with("source", {})
        given = block.get("params") or {}
        if not isinstance(given, Mapping):
            self.wrong(f"expected names with defaults, got {given!r}.", (*path, "params"))
            given = {}
        return Superbox(body, Fields(given))

    def node(
        self, block: Mapping[str, Plain], path: Path, superboxes: tuple[str, ...]
    ) -> Node | None:
        """The block of a box."""
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
            self.wrong(f"unknown type of box '{kind}'.{hint}", (*path, "type"))
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
        """What a box reads: one arc, or a list of them."""
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
        """One arc; in a network that is being drawn there may be none yet."""
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
        """The values of a block with known keys, or None if something is wrong with it."""
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
        """Note what is wrong, with its line."""
        self.problems.append(Problem(message, path))
