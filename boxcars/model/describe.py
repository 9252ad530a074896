"""Describe the entities of a network as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from boxcars.model.arc import Arc
from boxcars.model.entities import KINDS
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.model.serialize import arc_text, network_to_plain

if TYPE_CHECKING:
    from boxcars.model.network import Network


def describe(net: Network, name: str) -> str:
    """Describe the entities of that name: their parameters, inputs, outputs and readers."""
    plain = network_to_plain(net)
    found = [(key, kind) for key, kind in KINDS.items() if name in getattr(net, key)]
    if not found:
        every = [entity for _, entity in net.list_entities()]
        raise Wrong(f"there is no '{name}' in '{net.name}'.{nearest(name, every)}")
    schemas = net.check().schemas
    lines: list[str] = []
    for key, kind in found:
        lines.append(f"{kind} {name}")
        lines += [f"  {line}" for line in _block(plain[key][name])]
        if key in ("inputs", "boxes"):
            lines += [f"  {line}" for line in _arcs(net, name, schemas)]
    return "\n".join(lines)


def _block(block: dict[str, Any]) -> Iterator[str]:
    for key, value in block.items():
        yield f"{key}: {short(value)}"


def short(value: Any) -> str:
    """Write a plain value on one line.

    >>> short({"where": ["a > 1", "b"], "flush": True})
    'where: [a > 1, b], flush: true'
    """
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_nested(v)}" for k, v in value.items())
    return _nested(value)


def _nested(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{short(value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _arcs(net: Network, name: str, schemas: Any) -> Iterator[str]:
    for arc, schema in _of(name, schemas):
        readers = [*net.consumers(arc)]
        readers += [f"output {o}" for o, output in net.outputs.items() if output.source == arc]
        to = f" -> {', '.join(readers)}" if readers else ""
        yield f"gives {arc_text(net, arc)} ({schema}){to}"


def _of(name: str, schemas: dict[Arc, Schema]) -> Iterator[tuple[Arc, Schema]]:
    return ((arc, schema) for arc, schema in schemas.items() if arc.source == name)
