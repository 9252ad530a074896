"""The registry of formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from boxcars.connectors.formats.binary import Binary
from boxcars.connectors.formats.csv import Csv
from boxcars.connectors.formats.format import Format
from boxcars.connectors.formats.jsonl import Jsonl
from boxcars.connectors.formats.xml import Xml
from boxcars.model.own_code import note_own
from boxcars.model.problem import Wrong, nearest
from boxcars.model.types import Type

F = TypeVar("F", bound=Format)

_BUILT_IN: tuple[type[Format], ...] = (Csv, Jsonl, Xml, Binary)
_FORMATS: dict[str, type[Format]] = {format_.name: format_ for format_ in _BUILT_IN}


def converter(name: str) -> Callable[[type[F]], type[F]]:
    """Register a custom format under a name; see ``RecordFormat`` for an example.

    The same class may be registered again, for example when its module is reloaded.
    """

    def register(format_: type[F]) -> type[F]:
        there = _FORMATS.get(name)
        if there in _BUILT_IN:
            raise Wrong(f"format '{name}' is built in; choose another name.")
        if there and _identity(there) != _identity(format_):
            raise Wrong(
                f"there are two formats '{name}': {_identity(there)} and {_identity(format_)}."
            )
        format_.name = name
        _FORMATS[name] = format_
        note_own("format", name, format_)
        return format_

    return register


def formats() -> Mapping[str, type[Format]]:
    """All formats: the built-in ones first, then custom ones in the order of registration.

    >>> list(formats())[:4]
    ['csv', 'jsonl', 'xml', 'binary']
    """
    return MappingProxyType(_FORMATS)


def make_format(name: str, fields: Mapping[str, Type], options: Mapping[str, object]) -> Format:
    """Return a format by its name.

    >>> make_format("jsnol", {"time": Type.INT}, {})
    Traceback (most recent call last):
    boxcars.model.problem.Wrong: unknown format 'jsnol'. Did you mean 'jsonl'?
    """
    if name not in _FORMATS:
        raise Wrong(f"unknown format '{name}'.{nearest(name, _FORMATS)}")
    return _FORMATS[name](fields, **options)


def _identity(format_: type[Format]) -> str:
    return f"{format_.__module__}.{format_.__qualname__}"
