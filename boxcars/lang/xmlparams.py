"""Box parameters in the XML of Borealis: flat, with numbered names.

``where: [a, b]`` is ``expression.0`` and ``expression.1``; ``fields: {phone: caller}`` is the pair
``expression.0`` and ``output-field-name.0``; a window is ``window-size``, ``window-size-by`` and so
on. A ``#`` in the XML name of a parameter stands for the number.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Union, get_args, get_origin

from boxcars.lang.text import scalar
from boxcars.model.box import Box, Param, params
from boxcars.model.ordered_map import Fields
from boxcars.model.window import Window

Flat = dict[str, str]
_WINDOW = {
    "window-size": "size",
    "window-size-by": "by",
    "window-field": "field",
    "advance": "advance",
    "timeout": "timeout",
    "obsolete": "obsolete",
    "slack": "slack",
    "slack-by": "slack_by",
    "emit": "emit",
    "emit-every": "every",
    "emit-every-by": "every_by",
    "origin": "origin",
    "flush": "flush",
}


def write_params(box: Box) -> Flat:
    """The parameters of a box by their XML names."""
    flat: Flat = {}
    plain = box.plain()
    for p in params(type(box)):
        if p.key in plain:
            flat |= _write(p, plain[p.key])
    return flat


def read_params(cls: type[Box], flat: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The plain parameters of a box, and for each XML name the key that it belongs to."""
    plain: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for p in params(cls):
        names = [name for name in flat if _belongs(name, p)]
        owners |= dict.fromkeys(names, p.key)
        if names:
            plain[p.key] = _read(p, {name: flat[name] for name in names})
    return plain, owners


def xml_names(cls: type[Box]) -> list[str]:
    """All names that a parameter of the box may have in XML."""
    return [name for p in params(cls) for name in _names(p)]


def _names(p: Param) -> tuple[str, ...]:
    kind = _kind(p)
    if kind is Window:
        return tuple(_window_prefix(p) + name for name in _WINDOW)
    if kind is Fields and len(p.xml) == 1:
        return (f"{p.xml[0]}.#", f"{p.xml[0]}-name.#")
    return p.xml


def _window_prefix(p: Param) -> str:
    """Prefix of the names of a window parameter that is not called ``window``."""
    return "" if p.key == "window" else f"{p.key}-"


def _kind(p: Param) -> Any:
    annotation = p.annotation
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [a for a in get_args(annotation) if a is not type(None)]
        annotation = inner[0] if len(inner) == 1 else float
    return get_origin(annotation) or annotation


def _belongs(name: str, p: Param) -> bool:
    stem, dot, number = name.rpartition(".")
    numbered = f"{stem}.#" if dot and number.isdecimal() else None
    return any(
        own in (name, numbered) or (_kind(p) is tuple and numbered == f"{own}.#")
        for own in _names(p)
    )


def _write(p: Param, plain: Any) -> Flat:
    kind, names = _kind(p), _names(p)
    if kind is Window:
        flat = _write_window(Window.from_plain(plain))
        return {_window_prefix(p) + name: value for name, value in flat.items()}
    if kind is Fields:
        values, keys = names
        text = any_text if Any in get_args(p.annotation) else _text
        return {
            name: word
            for i, (key, value) in enumerate(plain.items())
            for name, word in ((_nth(values, i), text(value)), (_nth(keys, i), key))
        }
    if kind is tuple:
        if len(plain) == 1 and "#" not in names[0]:
            return {names[0]: _text(plain[0])}
        return {_nth(names[0], i): _text(value) for i, value in enumerate(plain)}
    return {names[0]: _text(plain)}


def _text(value: Any) -> str:
    """Write a value whose type is known from its parameter."""
    return value if isinstance(value, str) else json.dumps(value)


def _nth(name: str, number: int) -> str:
    return name.replace("#", str(number)) if "#" in name else f"{name}.{number}"


def _read(p: Param, flat: Flat) -> Any:
    kind, names = _kind(p), _names(p)
    if kind is Window:
        return _read_window({n.removeprefix(_window_prefix(p)): value for n, value in flat.items()})
    if kind is Fields:
        values, keys = (_numbered(flat, name) for name in names)
        value_type = get_args(p.annotation)[0] if get_args(p.annotation) else str
        read = any_value if value_type is Any else str
        return {
            keys.get(i, f"field-{i}"): read(values.get(i, "")) for i in sorted({*values, *keys})
        }
    if kind is tuple:
        if names[0] in flat:
            return [flat[names[0]]]
        return [value for _, value in sorted(_numbered(flat, names[0]).items())]
    text = flat[names[0]]
    return scalar(text) if kind in (int, float, bool) else text


def _numbered(flat: Flat, name: str) -> dict[int, str]:
    stem = name.removesuffix(".#")
    found = {}
    for key, value in flat.items():
        head, _, number = key.rpartition(".")
        if head == stem and number.isdecimal():
            found[int(number)] = value
    return found


def _write_window(window: Window) -> Flat:
    default = Window(window.by, every_by="time" if window.by == "time" else "tuples")
    if window.emit != "every":
        default = replace(default, every_by=window.every_by)
    flat = {}
    for name, attribute in _WINDOW.items():
        value = getattr(window, attribute)
        if attribute == "by":
            flat[name] = str(value).upper()
        elif value != getattr(default, attribute):
            flat[name] = _text(value)
    return flat


def _read_window(flat: Flat) -> dict[str, Any]:
    given = {_WINDOW[name]: scalar(text) for name, text in flat.items()}
    by = str(given.pop("by", "time")).lower()
    plain: dict[str, Any] = {}
    size = given.pop("size", None)
    if by == "value":
        plain |= {"value": given.pop("field", None), "size": size}
    else:
        plain[by] = True if by in ("landmark", "runs") else size
    emit_by, slack_by = given.pop("every_by", None), given.pop("slack_by", None)
    every = given.pop("every", None)
    if every is not None:
        given["emit"] = {"every": every} | ({"by": emit_by} if emit_by else {})
    if slack_by is not None:
        given["slack"] = {slack_by: given.get("slack", 0)}
    return plain | given


def any_text(value: Any) -> str:
    """Write a value of any type as text that :func:`any_value` reads back.

    >>> any_text(5), any_text("5"), any_text("speed > 5")
    ('5', '"5"', 'speed > 5')
    """
    if isinstance(value, str) and any_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def any_value(text: str) -> Any:
    """Read the text of :func:`any_text`: JSON, or else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
