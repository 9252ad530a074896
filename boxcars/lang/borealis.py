"""Reads a query file in the XML of Borealis and StreamCloud (thesis, chapter 6, appendix A.1).

What Borealis does not have is an attribute or element of our own: the order attribute of an input
(``ts``), tables, superboxes, connection points and quality of service.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from boxcars.lang.xmlparams import any_value, read_params, xml_names
from boxcars.lang.xmltree import Element, parse
from boxcars.model.arc import Arc
from boxcars.model.box import box_types, read_box
from boxcars.model.deserialize import read_network
from boxcars.model.problem import Location, Problem, Wrong, a, nearest
from boxcars.model.problem import Path as ProblemPath
from boxcars.model.reader import Importer, Reading

TYPES: Mapping[str, str] = {
    "string": "str",
    "int": "int",
    "long": "int",
    "short": "int",
    "double": "float",
    "float": "float",
    "single": "float",
    "bool": "bool",
    "timestamp": "timestamp",
    "bytes": "bytes",
}
_ORDER_NAMES = ("time", "ts", "timestamp")


def read(content: str, path: Path, importer: Importer | None = None) -> Reading:
    """Read a query file."""
    reader = _Reader(str(path))
    root = parse(content, str(path))
    if root.tag != "borealis":
        reader.wrong(f"expected <borealis>, got <{root.tag}>.", (), root)
    plain = reader.network(root, (), {})
    name = root.get("name") or path.stem
    reading = read_network(plain, reader.source, name, importer)
    reading.problems[:0] = reader.problems
    reading.broken |= reader.broken
    return reading


class _Reader:
    """Converts elements to plain data, and records their lines."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.source: dict[ProblemPath, Location] = {}
        self.problems: list[Problem] = []
        self.broken: set[str] = set()

    def wrong(self, message: str, where: ProblemPath, element: Element) -> None:
        self._note(Problem(message, where, Location(self.file, element.line)))

    def _note(self, problem: Problem) -> None:
        """Record a problem; its input, box or superbox is not checked any further."""
        self.problems.append(problem)
        if len(problem.path) > 1 and problem.path[0] in ("inputs", "boxes", "superboxes"):
            self.broken.add(problem.path[1])

    def at(self, where: ProblemPath, element: Element) -> ProblemPath:
        self.source[where] = Location(self.file, element.line)
        return where

    def network(
        self, root: Element, base: ProblemPath, outer: Mapping[str, Mapping[str, str]]
    ) -> dict[str, Any]:
        """The plain data of a network or of the body of a superbox."""
        self.at(base, root)
        self._known(root, base)
        own = self._once(root, "schema", base, "name")
        schemas = {**outer, **{name: self._schema(s, base) for name, s in own}}
        supers = {
            name: self._superbox(s, (*base, "superboxes", name), schemas)
            for name, s in self._once(root, "superbox", base, "name")
        }
        inputs = {
            name: self._input(i, (*base, "inputs", name), schemas)
            for name, i in self._once(root, "input", base, "stream")
        }
        boxes = [
            (box, child.get("name") if child.tag == "query" else "")
            for child in root.children
            for box in ([child] if child.tag == "box" else child.all("box"))
            if child.tag in ("box", "query")
        ]
        streams = {name: name for name in inputs}
        blocks = self._boxes(boxes, base, supers, streams)
        for name, block in blocks.items():
            found = [self._stream(s, streams, (*base, "boxes", name)) for s in block["in"]]
            block["in"] = [arc for arc in found if arc]
        outputs = self._outputs(root, base, schemas, streams)
        plain: dict[str, Any] = {"superboxes": supers, "inputs": inputs, "boxes": blocks}
        plain |= {"outputs": outputs, "tables": self._tables(root, base, schemas)}
        plain["modules"] = [name for name, _ in self._once(root, "module", base, "name")]
        plain["connection_points"] = self._points(root, base, streams)
        return {key: value for key, value in plain.items() if value}

    def _known(self, root: Element, base: ProblemPath) -> None:
        tags = ["schema", "input", "output", "query", "box", "table", "superbox", "param"]
        tags += ["connection-point"] if base else ["connection-point", "module"]
        for child in root.children:
            if child.tag not in tags:
                hint = nearest(child.tag, tags)
                self.wrong(f"unknown element <{child.tag}>.{hint}", base, child)

    def _once(
        self, root: Element, tag: str, base: ProblemPath, *attributes: str
    ) -> Iterator[tuple[str, Element]]:
        """The elements with a tag, by the first of the attributes they have; must be unique."""
        seen: set[str] = set()
        for element in root.all(tag):
            name = next(filter(None, map(element.get, attributes)), "")
            if name in seen:
                self.wrong(f"duplicate <{tag}> '{name}'.", base, element)
            seen.add(name)
            yield name, element

    def _need(self, element: Element, where: ProblemPath, *attributes: str) -> None:
        for attribute in attributes:
            if not element.get(attribute):
                self.wrong(f"<{element.tag}> needs '{attribute}'.", where, element)

    def _schema(self, element: Element, base: ProblemPath) -> dict[str, str]:
        fields = {}
        self._need(element, base, "name")
        for field in element.all("field"):
            self._need(field, base, "name", "type")
            kind = field.get("type")
            if kind and kind not in TYPES:
                hint = nearest(kind, TYPES)
                what = f"schema '{element.get('name')}', field '{field.get('name')}'"
                self.wrong(f"{what}: unknown type '{kind}'.{hint}", base, field)
            fields[field.get("name")] = TYPES.get(kind, "str")
        return fields

    def _lookup(
        self, element: Element, where: ProblemPath, schemas: Mapping[str, Mapping[str, str]]
    ) -> Mapping[str, str]:
        name = element.get("schema")
        if name not in schemas:
            hint = nearest(name, schemas)
            self.wrong(f"there is no schema '{name}'.{hint}", where, element)
        return schemas.get(name, {})

    def _input(
        self, element: Element, where: ProblemPath, schemas: Mapping[str, Mapping[str, str]]
    ) -> dict[str, Any]:
        self._need(element, self.at(where, element), "stream", "schema")
        fields = self._lookup(element, where, schemas)
        ts = element.get("ts") or next((f for f in fields if f.lower() in _ORDER_NAMES), "")
        if not ts and fields:
            self.wrong('the order attribute is missing: add ts="field".', where, element)
        plain: dict[str, Any] = {"ts": ts, "fields": dict(fields)}
        for key in ("slack", "idle"):
            if element.get(key):
                plain[key] = any_value(element[key])
        if element.get("clock"):
            plain["clock"] = element["clock"]
        return plain

    def _superbox(
        self, element: Element, where: ProblemPath, schemas: Mapping[str, Mapping[str, str]]
    ) -> dict[str, Any]:
        params = {
            p.get("name"): any_value(p["default"]) if "default" in p.attributes else None
            for p in element.all("param")
        }
        return ({"params": params} if params else {}) | self.network(element, where, schemas)

    def _boxes(
        self,
        boxes: Iterable[tuple[Element, str]],
        base: ProblemPath,
        supers: Mapping[str, Any],
        streams: dict[str, str],
    ) -> dict[str, dict[str, Any]]:
        blocks: dict[str, dict[str, Any]] = {}
        for element, group in boxes:
            name = element.get("name")
            where = (*base, "boxes", name)
            if name in blocks:
                self.wrong(f"duplicate box '{name}'.", where, element)
            self._need(element, self.at(where, element), "name", "type")
            block, ports = self._box(element, where, supers)
            if group:
                block["group"] = group
            blocks[name] = block
            self._produce(element, name, ports, streams, where)
        return blocks

    def _box(
        self, element: Element, where: ProblemPath, supers: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The plain data of a box, with its streams still by name, and its output ports."""
        kind = element.get("type")
        block: dict[str, Any] = {"type": kind, "in": [i.get("stream") for i in element.all("in")]}
        lines = dict(self._once(element, "parameter", where, "name"))
        flat = {name: p.get("value") for name, p in lines.items()}
        cls = box_types().get(kind)
        outs = [out for out in element.all("out") if "port" not in out.attributes]
        if cls is None:
            block |= {name: any_value(value) for name, value in flat.items()}
            return block, tuple(supers.get(kind, {}).get("outputs", {}))
        plain, owners = read_params(cls, flat)
        for name, parameter in lines.items():
            if name in owners:
                self.at((*where, owners[name]), parameter)
            else:
                hint = nearest(name, xml_names(cls))
                self.wrong(f"{a(kind)} has no parameter '{name}'.{hint}", where, parameter)
            if not flat[name]:
                self.wrong(f"parameter '{name}' is empty.", where, parameter)
        box = read_box(cls, plain, where, [])
        if box is None:
            return block | plain, tuple(map(str, range(len(outs))))
        try:
            box = box.with_outputs(len(outs))
        except Wrong as wrong:
            self.wrong(str(wrong), where, element)
        return block | box.plain(), box.ports

    def _produce(
        self,
        element: Element,
        name: str,
        ports: tuple[str, ...],
        streams: dict[str, str],
        where: ProblemPath,
    ) -> None:
        index = 0
        for out in element.all("out"):
            port = out.get("port") or (ports[index] if index < len(ports) else str(index))
            index += "port" not in out.attributes
            stream = out.get("stream")
            self._need(out, where, "stream")
            if stream in streams:
                message = f"stream '{stream}' is already an output of '{streams[stream]}'."
                self.wrong(message, where, out)
            streams.setdefault(stream, str(Arc(name, port)) if name else stream)

    def _stream(self, stream: str, streams: Mapping[str, str], where: ProblemPath) -> str | None:
        if stream in streams:
            return streams[stream]
        if stream.partition(".")[0] in {arc.partition(".")[0] for arc in streams.values()}:
            return stream
        message = f"there is no stream '{stream}'.{nearest(stream, streams)}"
        self._note(Problem(message, where, self.source.get(where)))
        return None

    def _outputs(
        self,
        root: Element,
        base: ProblemPath,
        schemas: Mapping[str, Mapping[str, str]],
        streams: Mapping[str, str],
    ) -> dict[str, Any]:
        outputs: dict[str, Any] = {}
        for name, element in self._once(root, "output", base, "name", "stream"):
            where = self.at((*base, "outputs", name), element)
            self._need(element, where, "stream")
            arc = self._stream(element.get("stream"), streams, where)
            if arc is None:
                continue
            plain: dict[str, Any] = {"from": arc}
            if element.get("schema"):
                plain["fields"] = dict(self._lookup(element, where, schemas))
            if qos := self._qos(element):
                plain["qos"] = qos
            outputs[name] = plain
        return outputs

    def _qos(self, element: Element) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for graph in element.all("qos"):
            points = [
                [any_value(p.get("x")), any_value(p.get("utility"))] for p in graph.all("point")
            ]
            plain[graph.get("of")] = points
            if graph.get("field"):
                plain["value_field"] = graph["field"]
        return plain

    def _tables(
        self, root: Element, base: ProblemPath, schemas: Mapping[str, Mapping[str, str]]
    ) -> dict[str, Any]:
        tables: dict[str, Any] = {}
        for name, element in self._once(root, "table", base, "name"):
            where = self.at((*base, "tables", name), element)
            self._need(element, where, "name", "schema")
            plain: dict[str, Any] = {"fields": dict(self._lookup(element, where, schemas))}
            if key := [k.get("field") for k in element.all("key")]:
                plain["key"] = key
            tables[name] = plain
        return tables

    def _points(
        self, root: Element, base: ProblemPath, streams: Mapping[str, str]
    ) -> dict[str, Any]:
        points: dict[str, Any] = {}
        for name, element in self._once(root, "connection-point", base, "name"):
            where = self.at((*base, "connection_points", name), element)
            self._need(element, where, "name", "stream")
            arc = self._stream(element.get("stream"), streams, where)
            if arc is not None:
                limits = {k: any_value(element[k]) for k in ("time", "tuples") if element.get(k)}
                points[name] = {"arc": arc, **limits}
        return points
