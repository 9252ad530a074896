"""Group boxes into a superbox, and replace a superbox by its boxes.

Networks are edited in their plain form, so that incomplete parts stay unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from boxcars.model.arc import MAIN, Arc, check_name
from boxcars.model.box import box_types
from boxcars.model.codec import substitute
from boxcars.model.problem import Wrong, nearest
from boxcars.studio.edit.checking import check_plain
from boxcars.studio.edit.documents import tidy
from boxcars.studio.wire import messages

_READERS = {"boxes": "in", "outputs": "from", "connection_points": "arc"}
"""The sections whose entities read arcs, and the key that names the arcs."""


def group(asked: messages.AskGroup, code: bool) -> messages.Regrouped:
    """Replace boxes by a superbox that contains them."""
    net = tidy(deepcopy(asked.network))
    chosen = list(dict.fromkeys(asked.boxes))
    _check_choice(net, chosen, asked.name)
    schemas = check_plain(asked.network, code).schemas
    entering = _entering(net, chosen)
    inputs = dict(_named(entering))
    leaving = dict(_named(_leaving(net, chosen)))
    body: messages.Plain = {
        "inputs": {name: _input(arc, schemas) for arc, name in inputs.items()},
        "boxes": {name: net["boxes"][name] for name in chosen},
        "outputs": {name: {"from": str(arc)} for arc, name in leaving.items()},
    }
    _rewire(body["boxes"], lambda arc: Arc(inputs[arc]) if arc in inputs else arc)
    single = len(leaving) == 1
    outside = {arc: Arc(asked.name, MAIN if single else port) for arc, port in leaving.items()}
    use = {"type": asked.name, "in": _written([str(arc) for arc in inputs])}
    net["boxes"] = _replaced(net["boxes"], chosen, {asked.name: use})
    _rewire_all(net, lambda arc: outside.get(arc, arc), skip={asked.name})
    net["superboxes"] = {**net.get("superboxes", {}), asked.name: body}
    return messages.Regrouped(network=_in_order(net), names=dict.fromkeys(chosen, asked.name))


def _check_choice(net: messages.Plain, chosen: list[str], name: str) -> None:
    boxes = net.get("boxes", {})
    if not chosen:
        raise Wrong("choose at least one box for the superbox.")
    for box in chosen:
        if box not in boxes:
            raise Wrong(f"there is no box '{box}'.{nearest(box, boxes)}")
    check_name(name)
    kept = [*net.get("inputs", {}), *(box for box in boxes if box not in chosen)]
    if name in (*kept, *net.get("superboxes", {}), *box_types()):
        raise Wrong(f"'{name}' already exists: give the superbox another name.")
    for box in boxes:
        if box not in chosen and _between(boxes, box, chosen):
            raise Wrong(f"box '{box}' is between the chosen boxes: add it to the superbox.")


def _between(boxes: Mapping[str, Any], box: str, chosen: list[str]) -> bool:
    """Whether a path leads from a chosen box through this one to a chosen box."""
    return not _downstream(boxes, [box]).isdisjoint(chosen) and any(
        box in _downstream(boxes, [start]) for start in chosen
    )


def _downstream(boxes: Mapping[str, Any], start: list[str]) -> set[str]:
    """Return all boxes downstream of some boxes."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        source = waiting.pop()
        for name, block in boxes.items():
            if name not in found and any(arc.source == source for arc in _arcs(block.get("in"))):
                found.add(name)
                waiting.append(name)
    return found


def _entering(net: messages.Plain, chosen: list[str]) -> list[Arc]:
    arcs = [arc for name in chosen for arc in _arcs(net["boxes"][name].get("in"))]
    return list(dict.fromkeys(arc for arc in arcs if arc.source not in chosen))


def _leaving(net: messages.Plain, chosen: list[str]) -> list[Arc]:
    """Return the arcs that others read from the chosen boxes; if none, those of the last boxes."""
    read = [
        arc
        for section, key in _READERS.items()
        for name, block in net.get(section, {}).items()
        if section != "boxes" or name not in chosen
        for arc in _arcs(block.get(key))
        if arc.source in chosen
    ]
    inner = {arc.source for name in chosen for arc in _arcs(net["boxes"][name].get("in"))}
    ends = [Arc(name) for name in chosen if name not in inner]
    return list(dict.fromkeys(read)) or ends


def _named(arcs: list[Arc]) -> Iterator[tuple[Arc, str]]:
    """Name each arc after its source."""
    taken: set[str] = set()
    for arc in arcs:
        name = arc.source.replace("/", "-") + ("" if arc.port == MAIN else f"-{arc.port}")
        while name in taken:
            name += "_"
        taken.add(name)
        yield arc, name


def _input(arc: Arc, schemas: Mapping[str, messages.ArcSchema]) -> messages.Plain:
    schema = schemas.get(str(arc))
    if schema is None:
        raise Wrong(f"the fields of '{arc}' are not known yet: fix the problems upstream first.")
    return {"ts": schema.ts, "fields": {field.name: field.type for field in schema.fields}}


def ungroup(asked: messages.AskUngroup) -> messages.Regrouped:
    """Replace one use of a superbox by its boxes."""
    net = tidy(deepcopy(asked.network))
    boxes, definitions = net.get("boxes", {}), net.get("superboxes", {})
    if asked.box not in boxes:
        raise Wrong(f"there is no box '{asked.box}'.{nearest(asked.box, boxes)}")
    use = boxes[asked.box]
    kind = str(use.get("type"))
    if kind not in definitions:
        raise Wrong(f"box '{asked.box}' is not a superbox.")
    body = _filled(definitions[kind], use)
    names = _free_names(net, asked.box, body["boxes"])
    entering = _arcs(use.get("in"))
    if len(entering) != len(body["inputs"]):
        raise Wrong(f"connect all inputs of '{asked.box}' first: it has {len(body['inputs'])}.")
    inside = {Arc(name): arc for name, arc in zip(body["inputs"], entering, strict=True)}

    def moved(arc: Arc) -> Arc:
        if arc.source in names:
            return replace(arc, source=names[arc.source])
        return inside.get(arc, arc)

    _rewire(body["boxes"], moved)
    given = {names[name]: block for name, block in body["boxes"].items()}
    outside = dict(_outside(asked.box, body, moved))
    net["boxes"] = _replaced(boxes, [asked.box], given)
    _rewire_all(net, lambda arc: outside.get(arc, arc), skip=set(given))
    if not any(block.get("type") == kind for block in _every_box(net)):
        net["superboxes"] = {n: d for n, d in definitions.items() if n != kind}
    inner = body.get("superboxes", {})
    net["superboxes"] = {**net.get("superboxes", {}), **inner}
    return messages.Regrouped(network=_in_order(net), names=names)


def _filled(definition: messages.Plain, use: messages.Plain) -> messages.Plain:
    """Return the body of a superbox with the arguments of a use substituted."""
    body: messages.Plain = {key: value for key, value in definition.items() if key != "params"}
    params: Mapping[str, Any] = definition.get("params") or {}
    body = substitute(body, {key: use.get(key, default) for key, default in params.items()})
    return {"inputs": {}, "boxes": {}, "outputs": {}, **tidy(body)}


def _free_names(net: messages.Plain, use: str, inner: Mapping[str, Any]) -> dict[str, str]:
    """Map the inner boxes to unused outer names: the same name where it is free."""
    taken = {*net.get("inputs", {}), *net["boxes"]} - {use}
    names = {}
    for name in inner:
        free = name if name not in taken else f"{use}-{name}"
        while free in taken:
            free += "_"
        taken.add(free)
        names[name] = free
    return names


def _outside(
    use: str, body: messages.Plain, moved: Callable[[Arc], Arc]
) -> Iterator[tuple[Arc, Arc]]:
    """Map the ports of a use to the arcs of the boxes that replace it."""
    for number, (port, output) in enumerate(body["outputs"].items()):
        for arc in _arcs(output.get("from")):
            yield Arc(use, str(number)), moved(arc)
            yield Arc(use, port), moved(arc)


def _every_box(net: messages.Plain) -> Iterator[messages.Plain]:
    yield from net.get("boxes", {}).values()
    for definition in net.get("superboxes", {}).values():
        yield from _every_box(tidy(definition))


def _arcs(given: Any) -> list[Arc]:
    """Parse the arcs that a block names, skipping invalid ones."""
    found = []
    for text in given if isinstance(given, list) else [] if given is None else [given]:
        try:
            found.append(Arc.of(str(text)))
        except Wrong:
            continue
    return found


def _rewire(boxes: Mapping[str, messages.Plain], moved: Callable[[Arc], Arc]) -> None:
    for block in boxes.values():
        if "in" in block:
            block["in"] = _written([str(moved(arc)) for arc in _arcs(block["in"])])


def _rewire_all(net: messages.Plain, moved: Callable[[Arc], Arc], skip: set[str]) -> None:
    """Rewire all readers of arcs, except the boxes to skip."""
    _rewire({n: b for n, b in net.get("boxes", {}).items() if n not in skip}, moved)
    for section in ("outputs", "connection_points"):
        for block in net.get(section, {}).values():
            for arc in _arcs(block.get(_READERS[section])):
                block[_READERS[section]] = str(moved(arc))


def _written(arcs: list[str]) -> str | list[str]:
    return arcs[0] if len(arcs) == 1 else arcs


def _replaced(boxes: Mapping[str, Any], old: list[str], new: Mapping[str, Any]) -> dict[str, Any]:
    """Put new boxes at the position of the first old one, and remove the old ones."""
    found: dict[str, Any] = {}
    for name, block in boxes.items():
        if name == old[0] or (name in old and not new.keys() & found.keys()):
            found |= new
        if name not in old:
            found[name] = block
    return found


def _in_order(net: messages.Plain) -> messages.Plain:
    order = ("name", "inputs", "tables", "superboxes", "boxes", "outputs", "connection_points")
    return {key: net[key] for key in order if net.get(key)}
