"""Completion: fields, functions and keywords at the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from boxcars.model.arc import Arc
from boxcars.model.problem import Wrong
from boxcars.studio.edit.checking import check_plain
from boxcars.studio.edit.palette import palette
from boxcars.studio.wire import messages

_WORD = re.compile(r'(?:(?P<side>\w+)\.)?(?P<word>"?(?:[^\W\d]\w*)?)\Z')
_MOST = 100
"""The largest number of completions returned."""
_SIDED = ("join", "product", "waitfor")
"""Boxes whose expressions are over left.<field> and right.<field>."""
_NAMES = ("by", "drop", "rename", "field", "window", "right", "ts", "key")
"""Parameters that hold field names, not expressions."""
_STATEMENT = ("SELECT", "FROM", "WHERE", "INSERT INTO", "VALUES", "UPDATE", "SET", "DELETE FROM")


@dataclass(frozen=True)
class _Context:
    """The context of the cursor: box type, parameter, input schemas and tables."""

    kind: str
    key: str
    entering: list[messages.ArcSchema]
    tables: dict[str, dict[str, str]]


def complete(asked: messages.AskComplete, code: bool) -> messages.Completion:
    """Return completions of the word before the cursor, the likeliest first."""
    before = asked.text[: asked.cursor]
    match = _WORD.search(before)
    side, word = (match["side"], match["word"].lstrip('"').lower()) if match else (None, "")
    context = _context(asked, code)
    options = list(_options(context) if side is None else _after_dot(context, side))
    fitting = [option for option in options if option.label.lower().startswith(word)]
    if len(word) > 1:
        fitting += [o for o in options if word in o.label.lower() and o not in fitting]
    start = match.start("word") if match else len(before)
    return messages.Completion(start=start, options=fitting[:_MOST])


def _context(asked: messages.AskComplete, code: bool) -> _Context:
    """Find the context in the plain network, which may be too broken to build its boxes."""
    checked, plain = check_plain(asked.network, code), asked.network
    schemas = checked.schemas
    if asked.superbox is not None:
        schemas = checked.superboxes.get(asked.superbox, {})
        plain = _block(plain, "superboxes", asked.superbox)
    block = _block(plain, "boxes", asked.box)
    given = block.get("in", [])
    arcs = [_arc(text) for text in (given if isinstance(given, list) else [given])]
    unknown = messages.ArcSchema(fields=[], ts="", ordered=True)
    tables = asked.network.get("tables")
    known = tables if isinstance(tables, dict) else {}
    return _Context(
        kind=str(block.get("type", "")),
        key=asked.path[0] if asked.path else "",
        entering=[schemas.get(arc, unknown) for arc in arcs],
        tables={name: _types(asked.network, name) for name in known},
    )


def _block(plain: messages.Plain, section: str, name: str) -> messages.Plain:
    blocks = plain.get(section)
    block = blocks.get(name) if isinstance(blocks, dict) else None
    return block if isinstance(block, dict) else {}


def _types(plain: messages.Plain, table: str) -> dict[str, str]:
    fields = _block(plain, "tables", table).get("fields")
    return {n: str(type_) for n, type_ in fields.items()} if isinstance(fields, dict) else {}


def _arc(text: object) -> str:
    try:
        return str(Arc.of(str(text)))
    except Wrong:
        return ""


def _options(context: _Context) -> Iterator[messages.Option]:
    if context.key == "sql":
        yield from _statement(context)
        return
    if context.kind in _SIDED and context.key == "on":
        for name, schema in zip(("left", "right"), context.entering, strict=False):
            detail = ", ".join(field.name for field in schema.fields)
            yield messages.Option(label=f"{name}.", kind="field", detail=detail, doc="")
    else:
        number = 1 if context.kind == "resample" and context.key == "fields" else 0
        yield from _fields(context, number)
    if context.key not in _NAMES:
        yield from _words(aggregates=context.kind in ("aggregate", "resample"))


def _words(aggregates: bool) -> Iterator[messages.Option]:
    wanted = ("aggregate", "scalar") if aggregates else ("scalar",)
    for function in [f for kind in wanted for f in palette().functions if f.kind == kind]:
        yield messages.Option(
            label=function.name, kind="function", detail=function.signature, doc=function.doc
        )
    for keyword in palette().keywords:
        yield messages.Option(label=keyword, kind="keyword", detail="", doc="")


def _after_dot(context: _Context, side: str) -> Iterator[messages.Option]:
    """Complete after a dot: fields of the left or right stream, of the tuple, or of a table."""
    if side in ("left", "right"):
        yield from _fields(context, ("left", "right").index(side))
    elif side == "input":
        yield from _fields(context, 0)
    else:
        for name, type_ in context.tables.get(side, {}).items():
            yield messages.Option(label=name, kind="field", detail=type_, doc="")


def _statement(context: _Context) -> Iterator[messages.Option]:
    yield messages.Option(label="input.", kind="field", detail="field of the tuple", doc="")
    for name, fields in context.tables.items():
        yield messages.Option(label=name, kind="table", detail=", ".join(fields), doc="")
        for field, type_ in fields.items():
            yield messages.Option(label=field, kind="field", detail=f"{type_} of {name}", doc="")
    for word in _STATEMENT:
        yield messages.Option(label=word, kind="keyword", detail="", doc="")


def _fields(context: _Context, number: int) -> Iterator[messages.Option]:
    for schema in context.entering[number : number + 1]:
        for field in schema.fields:
            mark = ", order attribute" if field.name == schema.ts else ""
            yield messages.Option(
                label=field.name, kind="field", detail=f"{field.type}{mark}", doc=""
            )
