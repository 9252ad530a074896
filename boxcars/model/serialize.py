"""Write a network as plain data: the structure of YAML and JSON network files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from boxcars.model.arc import MAIN, Arc
from boxcars.model.box import Plain
from boxcars.model.entities import ConnectionPoint, Input, Node, Output, Table
from boxcars.model.superbox import Superbox, Use
from boxcars.model.types import Type

if TYPE_CHECKING:
    from boxcars.model.network import Network

NODE_KEYS = ("type", "in", "group")
"""The keys of a box's block that are not parameters."""


def network_to_plain(net: Network) -> dict[str, Plain]:
    """Return the network as plain data: one block per entity, in drawing order."""
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
    """Return the block of a box."""
    arcs = [arc_text(net, arc) for arc in node.inputs]
    kind = node.box.superbox if isinstance(node.box, Use) else node.box.type
    plain: dict[str, Plain] = {"type": kind, "in": arcs[0] if len(arcs) == 1 else arcs}
    if node.group:
        plain["group"] = node.group
    return plain | node.box.plain()


def arc_text(net: Network, arc: Arc) -> str:
    """Write an arc; with its port if the box has several outputs."""
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
    if entity.clock != "event":
        plain["clock"] = entity.clock
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
