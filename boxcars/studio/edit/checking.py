"""The check of a network that is being drawn: also a half-drawn one gives what it can.

Boxes that run code of the user's are not looked into unless that is allowed, for to check them is
to import them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from boxcars.lang.modules import importer_for
from boxcars.lang.trust import judged
from boxcars.model.arc import MAIN, Arc
from boxcars.model.box import Box, box_types, params
from boxcars.model.check import Checked, check
from boxcars.model.entities import Output
from boxcars.model.network import KINDS, Network
from boxcars.model.problem import NetworkError, Problem, Wrong
from boxcars.model.schema import Schema
from boxcars.model.serialize import Reading, read_network
from boxcars.model.superbox import Superbox, Use, flatten
from boxcars.studio.wire import messages

_ALLOW = "start the studio with --allow-code if you trust it."


def readable(plain: messages.Plain, code: bool) -> Network:
    """The network, or an error with everything that could not be read; code is refused first."""
    return _whole(judged(_read(plain, code), code, _ALLOW))


def _read(plain: messages.Plain, code: bool) -> Reading:
    """What is drawn; the modules that it names are imported if that is allowed."""
    return read_network(plain, importer=importer_for() if code else None)


def unjudged(plain: messages.Plain) -> Network:
    """The network for who only writes it down: its code stays text."""
    return _whole(read_network(plain))


def _whole(reading: Reading) -> Network:
    if reading.problems:
        raise NetworkError(reading.problems)
    return reading.network


def right(plain: messages.Plain, code: bool) -> Checked:
    """A network that nothing is wrong with, or an error with all that is."""
    return readable(plain, code).check().or_raise()


def check_reading(reading: Reading, code: bool) -> Checked:
    """Check what was read, as far as that goes."""
    allowed = judged(reading, code, _ALLOW)
    return check(allowed.network, allowed.broken, allowed.problems)


def check_plain(plain: messages.Plain, code: bool) -> messages.CheckAnswer:
    """Everything that is wrong with a network, its schemas, and the ports of its boxes."""
    reading = _read(plain, code)
    checked = check_reading(reading, code)
    net = reading.network
    used = use_arcs(net, reading.broken).items()
    inside = {Arc.of(n): checked.schemas[arc] for n, arc in used if arc in checked.schemas}
    return messages.CheckAnswer(
        ok=checked.ok,
        problems=[told(problem) for problem in checked.problems],
        schemas=_schemas({**checked.schemas, **inside}),
        ports={name: _ports(net, name, block) for name, block in _blocks(plain)},
        superboxes={
            name: _schemas(check_body(net, definition, code).schemas)
            for name, definition in net.superboxes.items()
        },
    )


def _schemas(schemas: Mapping[Arc, Schema]) -> dict[str, messages.ArcSchema]:
    return {str(arc): told_schema(schema) for arc, schema in schemas.items() if schema.known}


def told_schema(schema: Schema) -> messages.ArcSchema:
    """A schema for the page."""
    fields = [
        messages.FieldInfo(name=name, type=type_.value) for name, type_ in schema.fields.items()
    ]
    return messages.ArcSchema(fields=fields, ts=schema.ts, ordered=schema.ordered)


def use_arcs(net: Network, broken: Iterable[str] = ()) -> dict[str, Arc]:
    """What leaves superboxes, by the names that the network has for it, as arcs of boxes inside."""
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
    """The inside of a superbox, checked by itself; its parameters stay open."""
    body = definition.body._with("tables", {**net.tables, **definition.body.tables})
    body = body._with("superboxes", {**net.superboxes, **body.superboxes})
    return check_reading(Reading(body), code)


def _blocks(plain: messages.Plain) -> Iterator[tuple[str, Mapping[str, Any]]]:
    boxes = plain.get("boxes")
    if isinstance(boxes, Mapping):
        yield from ((name, block) for name, block in boxes.items() if isinstance(block, Mapping))


def _ports(net: Network, name: str, block: Mapping[str, Any]) -> messages.BoxPorts:
    """The ports of a box, also of one that is not yet right."""
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
    """The outputs of a box and those on its side; of a sketch, what can be known."""
    try:
        return list(box.ports), list(box.side_ports)
    except (AttributeError, TypeError, ValueError, Wrong):
        return [MAIN], []


def _sketch(cls: type[Box], block: Mapping[str, Any]) -> Box:
    """A box with the parameters as they are, right or not: only good for its ports."""
    box = object.__new__(cls)
    for p in params(cls):
        default = () if p.required else p.default
        value = block.get(p.key, default)
        object.__setattr__(box, p.name, tuple(value) if isinstance(value, list) else value)
    return box


def new_box(cls: type[Box]) -> Box:
    """A box as it comes from the palette, without parameters."""
    return _sketch(cls, {"where": [""]})


def told(problem: Problem) -> messages.Problem:
    """A problem for the page, with the entity that it is about.

    >>> said = told(Problem("unknown field 'prise'.", ("boxes", "fast", "where", "0")))
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
