"""Writes a network as Borealis XML; :mod:`boxcars.lang.borealis` reads it."""

from __future__ import annotations

from collections.abc import Mapping

from boxcars.lang.xmlparams import any_text, write_params
from boxcars.lang.xmltree import Element, render
from boxcars.model.arc import DEAD, LATE, Arc
from boxcars.model.entities import Node, Output
from boxcars.model.network import Network
from boxcars.model.serialize import arc_text
from boxcars.model.superbox import Use
from boxcars.model.types import Type

_TYPES = {Type.STR: "string", Type.FLOAT: "double"}


def write(net: Network) -> str:
    """Write the query file of a network: schemas, inputs, boxes by group, outputs."""
    root = Element("borealis", {"name": net.name})
    for name in net.modules:
        root.add("module", name=name)
    _network(root, net, {})
    return render(root)


def _network(root: Element, net: Network, supers: Mapping[str, tuple[str, ...]]) -> None:
    known = {**supers, **{n: tuple(s.body.outputs) for n, s in net.superboxes.items()}}
    for name, definition in net.superboxes.items():
        element = root.add("superbox", name=name)
        for param, default in definition.params.items():
            text = None if default is None else any_text(default)
            element.add("param", name=param, default=text)
        _network(element, definition.body, known)
    for name, entity in net.inputs.items():
        schema = _schema(root, f"{name}-schema", entity.fields)
        slack = any_text(entity.slack) if entity.slack else None
        root.add(
            "input",
            stream=name,
            schema=schema,
            ts=entity.ts,
            slack=slack,
            idle=entity.idle,
            clock=None if entity.clock == "event" else entity.clock,
        )
    for name, table in net.tables.items():
        element = root.add("table", name=name, schema=_schema(root, f"{name}-table", table.fields))
        for key in table.key:
            element.add("key", field=key)
    _boxes(root, net, known)
    for name, output in net.outputs.items():
        _output(root, net, name, output)
    for name, point in net.connection_points.items():
        root.add(
            "connection-point",
            name=name,
            stream=arc_text(net, point.arc),
            time=point.time,
            tuples=point.tuples,
        )


def _schema(root: Element, name: str, fields: Mapping[str, Type]) -> str:
    element = root.add("schema", name=name)
    for field, type_ in fields.items():
        element.add("field", name=field, type=_TYPES.get(type_, type_.value))
    return name


def _boxes(root: Element, net: Network, supers: Mapping[str, tuple[str, ...]]) -> None:
    """Write the boxes in order; consecutive boxes of a group share a ``query`` element."""
    group: tuple[str, Element] = ("", root)
    for name, node in net.boxes.items():
        if node.group != group[0]:
            parent = root.add("query", name=node.group) if node.group else root
            group = (node.group, parent)
        _box(group[1], net, name, node, supers)


def _box(
    root: Element, net: Network, name: str, node: Node, supers: Mapping[str, tuple[str, ...]]
) -> None:
    use = node.box if isinstance(node.box, Use) else None
    element = root.add("box", name=name, type=use.superbox if use else node.box.type)
    for arc in node.inputs:
        element.add("in", stream=arc_text(net, arc))
    ports = supers.get(use.superbox, ()) if use else node.box.ports
    for port in ports:
        element.add("out", stream=arc_text(net, Arc(name, port)))
    for port in (LATE, DEAD):
        if port in node.box.side_ports and _is_read(net, Arc(name, port)):
            element.add("out", stream=arc_text(net, Arc(name, port)), port=port)
    flat = (
        {key: any_text(value) for key, value in use.values.items()}
        if use
        else write_params(node.box)
    )
    for parameter, text in flat.items():
        element.add("parameter", name=parameter, value=text)


def _is_read(net: Network, arc: Arc) -> bool:
    return (
        bool(net.consumers(arc))
        or any(output.source == arc for output in net.outputs.values())
        or any(point.arc == arc for point in net.connection_points.values())
    )


def _output(root: Element, net: Network, name: str, output: Output) -> None:
    stream = arc_text(net, output.source)
    schema = None
    if output.fields is not None:
        schema = _schema(root, f"{name}-output", output.fields)
    element = root.add(
        "output", stream=stream, name=None if name == stream else name, schema=schema
    )
    if output.qos is None:
        return
    for kind in ("latency", "loss", "value"):
        graph = getattr(output.qos, kind)
        if graph:
            field = output.qos.value_field if kind == "value" else None
            points = element.add("qos", of=kind, field=field)
            for x, utility in graph:
                points.add("point", x=x, utility=utility)
