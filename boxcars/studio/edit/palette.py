"""The palette: all boxes, functions, types, windows and connectors, derived from the code."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from boxcars.boxes.stored import Stored
from boxcars.connectors.formats import formats
from boxcars.connectors.systems.connector import Connector, connectors
from boxcars.expr import Expr, functions
from boxcars.expr.words import WORDS
from boxcars.kernels.aggregates.builtin import FUNCTIONS, SYNONYMS
from boxcars.model import codec
from boxcars.model.box import Box, Param, box_types, params
from boxcars.model.ordered_map import Fields
from boxcars.model.types import FIELD_TYPES, Type
from boxcars.model.window import By, Emit, Obsolete, Window
from boxcars.pages.words import paper, prose, summary
from boxcars.studio.edit.checking import new_box, ports_of
from boxcars.studio.edit.templates import round_of, templates
from boxcars.studio.wire import messages

_GROUPS = {
    "map": "tuples",
    "filter": "tuples",
    "union": "tuples",
    "drop": "tuples",
    "aggregate": "windows",
    "join": "windows",
    "product": "windows",
    "resample": "windows",
    "waitfor": "windows",
    "bsort": "order",
    "wsort": "order",
    "decode": "formats",
    "encode": "formats",
    "apply": "code",
    "custom": "code",
}
"""The palette group of each box type; user-defined boxes are in ``more``."""
_KINDS: Mapping[tuple[str, str], messages.ParamKind] = {
    ("bsort", "by"): "field",
    ("decode", "field"): "field",
    ("decode", "format"): "choice",
    ("encode", "format"): "choice",
    ("custom", "outputs"): "names",
}
"""Kinds of parameters that can't be derived from their types."""
_BY_KEY: Mapping[str, messages.ParamKind] = {"sql": "sql", "table": "table"}
_WINDOWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "time": (
        "A range of the order attribute; in seconds if that is a timestamp.",
        ("advance", "timeout", "obsolete", "slack", "origin", "flush", "emit"),
    ),
    "tuples": (
        "A number of consecutive tuples.",
        ("advance", "timeout", "obsolete", "slack", "flush", "emit"),
    ),
    "value": (
        "A range of the values of a field.",
        ("size", "advance", "origin", "flush", "emit"),
    ),
    "landmark": ("All tuples since the first.", ("slack", "flush", "emit")),
    "runs": (
        "Consecutive tuples with equal values of the group-by fields.",
        ("slack", "flush", "emit"),
    ),
}
_EXAMPLES = {
    "enqueue": "enqueue://",
    "dequeue": "dequeue://",
    "tcp": "tcp://127.0.0.1:7001?format=csv",
    "http": "http://localhost:8000/alarms",
    "https": "https://example.org/alarms",
    "kafka": "kafka://localhost:9092/calls",
    "mqtt": "mqtt://localhost/calls",
    "mqtts": "mqtts://localhost/calls",
    "nats": "nats://localhost/calls",
    "redis": "redis://localhost/calls",
    "rediss": "rediss://localhost/calls",
    "s3": "s3://bucket/calls/",
    "postgresql": "postgresql://localhost/db?table=calls",
    "sqlite": "sqlite:///calls.db?table=calls",
}
_PLAIN_CONNECTORS = (
    ("inject", "inject", "Tuples injected from the studio, or sent by programs.", True, False),
    ("live", "live", "Tuples shown in the studio, which programs can read too.", False, True),
    ("file", "calls.csv", "A file, a folder with files, or a pattern.", True, True),
    (
        "rate",
        "rate://1000?rows=5000&time=value",
        "Computed tuples, at a fixed rate per second.",
        True,
        False,
    ),
)


@cache
def palette() -> messages.Palette:
    """Return the palette."""
    return messages.Palette(
        boxes=[_box(cls) for cls in box_types().values()],
        functions=[*_scalars(), *_aggregates()],
        keywords=sorted(word for word in WORDS if word not in ("AS", "FROM", "SELECT")),
        types=[type_.value for type_ in FIELD_TYPES],
        windows=_windows(),
        connectors=_connectors(),
    )


def template_infos() -> list[messages.TemplateInfo]:
    """Return the templates."""
    return [
        messages.TemplateInfo(
            name=app.name, family=app.family, sentence=app.sentence, rows=round_of(app)
        )
        for app in templates().values()
    ]


def _box(cls: type[Box]) -> messages.BoxInfo:
    text, example = prose(cls)
    outputs, side = ports_of(new_box(cls))
    return messages.BoxInfo(
        type=cls.type,
        icon=cls.icon,
        group="tables" if issubclass(cls, Stored) else _GROUPS.get(cls.type, "more"),
        summary=summary(cls).replace("``", "`"),
        doc=text.replace("``", "`"),
        paper=paper(cls),
        example=example,
        stateful=cls.stateful,
        code=cls.code is not None,
        params=[_param(cls, p) for p in params(cls)],
        min_inputs=cls.arity[0],
        max_inputs=cls.arity[1],
        ports=outputs,
        side_ports=side,
    )


def _param(cls: type[Box], p: Param) -> messages.ParamInfo:
    kind = _KINDS.get((cls.type, p.key)) or _BY_KEY.get(p.key) or _kind(p.annotation)
    choices = list(formats()) if p.key == "format" else _choices(p.annotation)
    return messages.ParamInfo(
        key=p.key,
        doc=p.doc,
        kind=kind,
        required=p.required,
        default=None if p.required else codec.to_plain(p.default),
        choices=choices,
    )


def _kind(annotation: Any) -> messages.ParamKind:
    """Return the kind of form field for a parameter's type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not type(None)]
        return "float" if float in inner else _kind(inner[0])
    if origin is Literal:
        return "choice"
    if origin is tuple:
        return "exprs" if arguments[0] is Expr else "fields"
    if origin is Fields:
        return _MAPPINGS.get(arguments[0], "other")
    return _SCALARS.get(annotation, "other")


_MAPPINGS: Mapping[Any, messages.ParamKind] = {Expr: "named_exprs", Type: "schema", str: "renames"}
_SCALARS: Mapping[Any, messages.ParamKind] = {
    Expr: "expr",
    Window: "window",
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
}


def _choices(annotation: Any) -> list[str] | None:
    return list(map(str, get_args(annotation))) if get_origin(annotation) is Literal else None


def _scalars() -> list[messages.FunctionInfo]:
    return [
        messages.FunctionInfo(
            name=function.name,
            signature=function.signature,
            doc=function.doc,
            kind="scalar",
            group=function.group,
            example=function.examples[0][0] if function.examples else "",
        )
        for function in functions()
    ]


def _aggregates() -> list[messages.FunctionInfo]:
    others: dict[str, list[str]] = {}
    for other, name in SYNONYMS.items():
        others.setdefault(name, []).append(other)
    return [
        messages.FunctionInfo(
            name=function.name,
            signature=function.signature,
            doc=function.doc,
            kind="aggregate",
            group="aggregates",
            example=", ".join(others.get(function.name, [])),
        )
        for function in FUNCTIONS.values()
    ]


def _windows() -> messages.WindowInfo:
    kinds = [
        messages.WindowKind(by=by, doc=doc, sized=by not in ("landmark", "runs"), keys=list(keys))
        for by in get_args(By)
        for doc, keys in [_WINDOWS[by]]
    ]
    return messages.WindowInfo(
        kinds=kinds, emit=list(get_args(Emit)), obsolete=list(get_args(Obsolete))
    )


def _connectors() -> list[messages.ConnectorInfo]:
    found = [
        messages.ConnectorInfo(scheme=scheme, example=example, doc=doc, source=source, sink=sink)
        for scheme, example, doc, source, sink in _PLAIN_CONNECTORS
    ]
    for cls, schemes in connectors().items():
        found += [_connector(cls, scheme) for scheme in schemes]
    return found


def _connector(cls: type[Connector], scheme: str) -> messages.ConnectorInfo:
    says = [text for text in (cls.guarantee_in, cls.guarantee_out) if text]
    return messages.ConnectorInfo(
        scheme=scheme,
        example=_EXAMPLES.get(scheme, f"{scheme}://host/name"),
        doc=f"{cls.title}: {'; '.join(dict.fromkeys(says))}".replace("``", "`"),
        source=bool(cls.guarantee_in),
        sink=bool(cls.guarantee_out),
    )
