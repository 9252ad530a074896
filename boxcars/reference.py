"""Files that are generated from the code, so that they cannot drift from it.

``boxcars generate`` writes the types of the stream methods (``model/methods.pyi``), the tables of
boxes and functions in ``docs/reference/``, the generated parts of the pages of the boxes
(:mod:`boxcars.pages`), the indexes of applications and connectors, and pictures of networks. A
test fails if they are out of date.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from boxcars.draw import draw
from boxcars.expr import Expr, functions
from boxcars.kernels.aggregates.builtin import FUNCTIONS, SYNONYMS
from boxcars.lang.files import load
from boxcars.model.box import Box, Param, box_types, params
from boxcars.model.ordered_map import Fields
from boxcars.model.types import Type
from boxcars.pages import generated_pages
from boxcars.pages.apps import generated_apps
from boxcars.pages.connectors import generated_connectors
from boxcars.pages.words import NOTE, arity, parameter_table, prose, summary


def generated(root: Path) -> dict[Path, str]:
    """The expected content of every generated file of a checkout, by path."""
    example = load(root / "examples/high-mobility.yaml")
    return {
        root / "boxcars/model/methods.pyi": methods_stub(),
        root / "docs/reference/boxes.md": boxes_page(),
        root / "docs/reference/functions.md": functions_page(),
        root / "docs/reference/aggregates.md": aggregates_page(),
        root / "docs/img/high-mobility.svg": draw(example, "svg"),
        **generated_pages(root),
        **generated_apps(root),
        **generated_connectors(root),
    }


def methods_stub() -> str:
    """A type stub with the methods of a stream, for editors and type checkers."""
    methods = [_method(cls) for cls in box_types().values()]
    body = "\n\n".join(methods)
    modules = sorted(set(re.findall(r"\b([a-z_][\w.]*)\.[A-Z]", body)))
    imports = "\n".join(f"import {module}" for module in modules)
    return (
        f"# {NOTE}\n{imports}\nfrom typing import Any\n\n"
        "from boxcars.model.stream import Stream\n\n"
        f"class Methods:\n    def draw(self, type_: str, /, *arguments: Any, **parameters: Any) "
        f"-> Stream: ...\n{body}\n"
    )


def _method(cls: type[Box]) -> str:
    least, most = cls.arity
    first, rest = ["self"], _signature(cls)
    if most is None and least == 1 and "*" in rest:
        rest[rest.index("*")] = "*others: Stream"
    elif most is None:
        first.append("*others: Stream")
        if rest and not rest[0].startswith("*"):
            rest = [part for part in rest if part != "*"]
    else:
        names = ["other"] if most == 2 else [f"input{i}" for i in range(2, most + 1)]
        first += [f"{name}: Stream" for name in names[: max(most - 1, 0)]]
    arguments = ", ".join([*first, *rest])
    name = cls.type.replace("-", "_")
    return f'    def {name}({arguments}) -> Stream:\n        """{summary(cls)}"""\n        ...'


def _signature(cls: type[Box]) -> list[str]:
    if cls.build.__func__ is Box.build.__func__:  # type: ignore[attr-defined]
        own = [f"{p.name}: {_plain_type(p.annotation)}{_default(p)}" for p in params(cls)]
        return ["*", *own] if own else []
    hints = get_type_hints(cls.build)
    parts: list[str] = []
    starred = False
    for p in inspect.signature(cls.build).parameters.values():
        star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        annotation = inspect.formatannotation(hints.get(p.name, Any))
        default = "" if p.default is p.empty else f" = {p.default!r}"
        parts.append(f"{star}{p.name}: {annotation}{default}")
        if p.kind is p.POSITIONAL_ONLY:
            parts.append("/")
    return parts


def _plain_type(annotation: Any) -> str:
    """The type of a parameter as a Python user may pass it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " | ".join(_plain_type(argument) for argument in arguments)
    if origin is tuple:
        item = _plain_type(arguments[0])
        return f"{item} | collections.abc.Sequence[{item}]"
    if origin is Fields:
        return f"collections.abc.Mapping[str, {_plain_type(arguments[0])}]"
    if annotation is Expr:
        return "str | boxcars.expr.Expr"
    if annotation is Type:
        return "str"
    return "None" if annotation is type(None) else inspect.formatannotation(annotation)


def _default(p: Param) -> str:
    if p.required:
        return ""
    simple = isinstance(p.default, int | float | str | bool | None)
    return f" = {p.default!r}" if simple else " = ..."


def boxes_page() -> str:
    """The reference of all boxes: an index, then a section for each."""
    lines = [
        "# Boxes",
        "",
        f"<!-- {NOTE} -->",
        "",
        "| box | | what it does |",
        "| --- | --- | --- |",
    ]
    for name, cls in box_types().items():
        lines.append(f"| [`{name}`](#{name}) | {cls.icon} | {summary(cls)} |")
    for name, cls in box_types().items():
        lines += ["", *_box_section(name, cls)]
    return "\n".join(lines) + "\n"


def _box_section(name: str, cls: type[Box]) -> Iterator[str]:
    text, example = prose(cls)
    yield f"## {name}"
    yield ""
    yield text
    yield ""
    if example:
        yield "```pycon"
        yield example
        yield "```"
        yield ""
    yield f"Inputs: {arity(cls)}. More: [{name}](../boxes/{name}.md)."
    if params(cls):
        yield ""
        yield from parameter_table(cls)


def functions_page() -> str:
    """The reference of all functions, by group, with examples."""
    lines = ["# Functions", "", f"<!-- {NOTE} -->"]
    group = ""
    for function in functions():
        if function.group != group:
            group = function.group
            lines += [
                "",
                f"## {group.capitalize()}",
                "",
                "| function | | example |",
                "| --- | --- | --- |",
            ]
        examples = "<br>".join(
            f"`{_cell(text)}` is `{_cell(repr(value))}`" for text, value in function.examples
        )
        lines.append(f"| `{_cell(function.signature)}` | {_cell(function.doc)} | {examples} |")
    return "\n".join(lines) + "\n"


def aggregates_page() -> str:
    """The reference of the aggregate functions."""
    lines = ["# Aggregate functions", "", f"<!-- {NOTE} -->", ""]
    lines += ["| function | also called | |", "| --- | --- | --- |"]
    for function in FUNCTIONS.values():
        names = [f"`{other}`" for other, name in SYNONYMS.items() if name == function.name]
        lines.append(f"| `{function.signature}` | {', '.join(names)} | {function.doc} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
