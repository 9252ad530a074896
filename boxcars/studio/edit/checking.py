"""Check networks while they are drawn; an incomplete network is checked as far as possible.

Boxes with user code are only checked if code is allowed, because checking them imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from boxcars.lang.modules import importer_for
from boxcars.lang.trust import judged
from boxcars.model.arc import MAIN, Arc
from boxcars.model.box import Box, box_types, params
from boxcars.model.check import Checked, check
from boxcars.model.deserialize import read_network
from boxcars.model.entities import KINDS, Output
from boxcars.model.flatten import flatten
from boxcars.model.network import Network
from boxcars.model.problem import NetworkError, Problem, Wrong
from boxcars.model.reader import Reading
from boxcars.model.schema import Schema
from boxcars.model.superbox import Superbox, Use
from boxcars.studio.wire import messages

_ALLOW = "start the studio with --allow-code if you trust it."


def readable(plain: messages.Plain, code: bool) -> Network:
    """Read a network; raises with all problems. Code is refused unless it is allowed."""
    return _whole(judged(_read(plain, code), code, _ALLOW))


def _read(plain: messages.Plain, code: bool) -> Reading:
    """Read a network; its modules are imported if code is allowed."""
    return read_network(plain, importer=importer_for() if code else None)


def read_for_writing(plain: messages.Plain) -> Network:
    """Read a network that is only written as text: its code is neither imported nor refused."""
    return _whole(read_network(plain))


def _whole(reading: Reading) -> Network:
    if reading.problems:
        raise NetworkError(reading.problems)
    return reading.network


def check_reading(reading: Reading, code: bool) -> Checked:
    """Check a network that was read, even if parts of it could not be."""
    allowed = judged(reading, code, _ALLOW)
    return check(allowed.network, allowed.broken, allowed.problems)


def check_plain(plain: messages.Plain, code: bool) -> messages.CheckAnswer:
    """Return the problems of a network, its schemas, and the ports of its boxes."""
    reading = _read(plain, code)
    checked = check_reading(reading, code)
    net = reading.network
    used = use_arcs(net, reading.broken).items()
    inside = {Arc.of(n): checked.schemas[arc] for n, arc in used if arc in checked.schemas}
    return messages.CheckAnswer(
        ok=checked.ok,
        problems=[problem_message(problem) for problem in checked.problems],
        schemas=_schemas({**checked.schemas, **inside}),
        ports={name: _ports(net, name, block) for name, block in _blocks(plain)},
        superboxes={
            name: _schemas(check_body(net, definition, code).schemas)
            for name, definition in net.superboxes.items()
        },
    )


def _schemas(schemas: Mapping[Arc, Schema]) -> dict[str, messages.ArcSchema]:
    return {str(arc): schema_message(schema) for arc, schema in schemas.items() if schema.known}


def schema_message(schema: Schema) -> messages.ArcSchema:
    """Return a schema as a message."""
    fields = [
        messages.FieldInfo(name=name, type=type_.value) for name, type_ in schema.fields.items()
    ]
    return messages.ArcSchema(fields=fields, ts=schema.ts, ordered=schema.ordered)


def use_arcs(net: Network, broken: Iterable[str] = ()) -> dict[str, Arc]:
    """Map the output arcs of superboxes to the arcs of the boxes inside them."""
    wanted = {
        str(arc): Output(arc)
        for name, node in net.boxes.items()
        if isinstance(node.box, Use) and node.box.superbox in net.superboxes
        for port in (MAIN, *net.superboxes[node.box.superbox].body.outputs)
        for arc in [Arc(name, port)]
    }
    outputs = flatten(net._with("outputs", wanted), broken).network.outputs
    return {name: output.source for name, output in outputs.items()}


def check_body(net: Network, definition: Superbox, code: bool) -> Checked:
    """Check the body of a superbox by itself, with unbound parameters."""
    body = definition.body._with("tables", {**net.tables, **definition.body.tables})
    body = body._with("superboxes", {**net.superboxes, **body.superboxes})
    return check_reading(Reading(body), code)


def _blocks(plain: messages.Plain) -> Iterator[tuple[str, Mapping[str, Any]]]:
    boxes = plain.get("boxes")
    if isinstance(boxes, Mapping):
        yield from ((name, block) for name, block in boxes.items() if isinstance(block, Mapping))


def _ports(net: Network, name: str, block: Mapping[str, Any]) -> messages.BoxPorts:
    """Return the ports of a box, even if it is not valid yet."""
    given = block.get("in")
    entering = 0 if given is None else len(given) if isinstance(given, list) else 1
    kind = str(block.get("type"))
    if kind in net.superboxes and kind not in box_types():
        body = net.superboxes[kind].body
        outputs = list(body.outputs) if len(body.outputs) > 1 else [MAIN]
        return messages.BoxPorts(inputs=max(len(body.inputs), entering), outputs=outputs, side=[])
    cls = box_types().get(kind)
    if cls is None:
        return messages.BoxPorts(inputs=max(entering, 1), outputs=[MAIN], side=[])
    box = net.boxes[name].box if name in net.boxes else None
    outputs, side = ports_of(box if box is not None else _sketch(cls, block))
    return messages.BoxPorts(inputs=max(cls.arity[0], entering), outputs=outputs, side=side)


def ports_of(box: Box) -> tuple[list[str], list[str]]:
    """Return the outputs and side outputs of a box; for an incomplete box a guess."""
    try:
        return list(box.ports), list(box.side_ports)
    except (AttributeError, TypeError, ValueError, Wrong):
        return [MAIN], []


def _sketch(cls: type[Box], block: Mapping[str, Any]) -> Box:
    """Make a box with unvalidated parameters, only to ask for its ports."""
    box = object.__new__(cls)
    for p in params(cls):
        default = () if p.required else p.default
        value = block.get(p.key, default)
        object.__setattr__(box, p.name, tuple(value) if isinstance(value, list) else value)
    return box


def new_box(cls: type[Box]) -> Box:
    """Make a box without parameters, as added from the palette."""
    return _sketch(cls, {"where": [""]})


def problem_message(problem: Problem) -> messages.Problem:
    """Return a problem as a message, with the affected entity.

    >>> said = problem_message(Problem("unknown field 'prise'.", ("boxes", "fast", "where", "0")))
    >>> said.entity, said.box, said.text
    ('box', 'fast', "box 'fast', where[0]: unknown field 'prise'.")
    """
    path = problem.path
    inside = path[2:] if path[:1] == ("superboxes",) and path[2:3] == ("boxes",) else path
    box = inside[1] if inside[:1] == ("boxes",) and len(inside) > 1 else None
    kinds: dict[str, Any] = dict(KINDS)
    named = len(path) > 1 and path[0] in kinds
    return messages.Problem(
        message=problem.message,
        path=list(path),
        entity=kinds[path[0]] if named else "network",
        name=path[1] if named else None,
        box=box,
        superbox=path[1] if named and path[0] == "superboxes" else None,
        text=str(Problem(problem.message, path)),
        line=problem.location.line if problem.location else None,
    )
