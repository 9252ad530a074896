"""The content of a drawing, independent of its format: items and arrows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from boxcars.model.arc import MAIN, Arc
from boxcars.model.describe import short
from boxcars.model.entities import Node
from boxcars.model.network import Network
from boxcars.model.superbox import Use

Kind = Literal["input", "output", "stateless", "stateful", "superbox"]


@dataclass(frozen=True)
class Item:
    """An input, a box or an output, with its texts."""

    key: str
    kind: Kind
    icon: str
    name: str
    summary: str
    tooltip: str
    group: str = ""


@dataclass(frozen=True)
class Arrow:
    """An arrow between two items; ``label`` is the output port, if the source has several."""

    source: str
    target: str
    label: str
    tooltip: str
    keeps: str = ""
    """The name of its connection point, if any."""


@dataclass(frozen=True)
class Picture:
    """The items and arrows of a drawing."""

    name: str
    items: Mapping[str, Item]
    arrows: tuple[Arrow, ...]


def output_key(name: str) -> str:
    """Return the key of an output, which may share its name with a box."""
    return f"-> {name}"


def picture_of(net: Network) -> Picture:
    """Return the items and arrows of a network, which need not be valid; superboxes stay closed."""
    schemas = net.check().schemas
    points = {point.arc: name for name, point in net.connection_points.items()}
    items: dict[str, Item] = {}
    for name, entity in net.inputs.items():
        number = len(entity.fields)
        summary = f"{number} field{'s' * (number != 1)} by {entity.ts}"
        items[name] = Item(name, "input", "▶", name, summary, str(entity.schema))
    for name, node in net.boxes.items():
        items[name] = _box(name, node)
    for name, output in net.outputs.items():
        summary = "with QoS" if output.qos else "output"
        items[output_key(name)] = Item(output_key(name), "output", "◀", name, summary, "")

    def arrow(arc: Arc, target: str) -> Arrow:
        node = net.boxes.get(arc.source)
        several = arc.port != MAIN or (node is not None and len(node.box.ports) > 1)
        schema = schemas.get(arc)
        tooltip = str(schema) if schema else ""
        return Arrow(arc.source, target, arc.port if several else "", tooltip, points.get(arc, ""))

    arrows = [arrow(arc, name) for name, node in net.boxes.items() for arc in node.inputs]
    arrows += [arrow(output.source, output_key(name)) for name, output in net.outputs.items()]
    known = tuple(a for a in arrows if a.source in items)
    return Picture(net.name, items, known)


def _box(name: str, node: Node) -> Item:
    box = node.box
    if isinstance(box, Use):
        says = short(box.plain())
        return Item(name, "superbox", box.icon, name, box.superbox, says, node.group)
    kind: Kind = "stateful" if box.stateful else "stateless"
    plain = box.plain()
    summary = summarize(plain) or box.type
    return Item(name, kind, box.icon, name, summary, f"{box.type}: {short(plain)}", node.group)


def window_words(plain: Mapping[str, Any]) -> str:
    """Summarize a window.

    >>> window_words({"tuples": 2, "advance": 1}), window_words({"time": 60})
    ('2 tuples / 1', 'time 60')
    """
    for kind in ("landmark", "runs"):
        if kind in plain:
            return kind
    if "tuples" in plain:
        words = f"{plain['tuples']} tuples"
    else:
        words = f"{plain['value']} {plain['size']}" if "value" in plain else f"time {plain['time']}"
    return f"{words} / {plain['advance']}" if "advance" in plain else words


def summarize(plain: Mapping[str, Any]) -> str:
    """Summarize the parameters of a box.

    >>> summarize({"where": ["price < 1", "price < 5"], "else": True})
    'price < 1 | price < 5 | else'
    """
    return " ".join(_gist(plain).split())


def _gist(plain: Mapping[str, Any]) -> str:
    if "where" in plain:
        return " | ".join([*_texts(plain["where"]), *(["else"] if plain.get("else") else [])])
    parts = []
    if "window" in plain:
        parts.append(window_words(plain["window"]))
    if "by" in plain:
        parts.append("by " + ", ".join(_texts(plain["by"])))
    if "fields" in plain and isinstance(plain["fields"], dict) and not parts:
        parts.append(", ".join(plain["fields"]))
    rest = {k: v for k, v in plain.items() if k not in ("window", "by", "fields", "options")}
    if rest and not parts:
        parts.append(short(rest))
    elif "format" in plain:
        parts.insert(0, str(plain["format"]))
    return ", ".join(parts)


def _texts(plain: Any) -> list[str]:
    return [short(item) for item in (plain if isinstance(plain, list) else [plain])]
