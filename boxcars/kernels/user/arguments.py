"""Constructor arguments of user-defined classes, converted by their type hints."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, get_type_hints

from boxcars.model import codec
from boxcars.model.problem import Problem, nearest


def read_arguments(
    found: type[Any], given: Mapping[str, Any], problems: list[Problem]
) -> dict[str, Any]:
    """Convert plain data to the types of the constructor; problems are collected."""
    wanted = inspect.signature(found).parameters
    hints = _hints(found)
    open_ = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
    for name in given:
        if name not in wanted and not open_:
            hint = nearest(name, wanted)
            problems.append(Problem(f"{found.__name__} has no '{name}'.{hint}", ("with", name)))
    for name, parameter in wanted.items():
        plain = parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if plain and parameter.default is parameter.empty and given.get(name) in (None, ""):
            problems.append(Problem(f"{found.__name__} needs '{name}'.", ("with",)))
    read = {}
    for name, value in given.items():
        if codec.is_placeholder(value) and hints.get(name) is not str:
            sentence = "no enclosing superbox has that parameter."
            problems.append(Problem(sentence, ("with", name)))
        read[name] = codec.from_plain(hints.get(name, Any), value, ("with", name), problems)
    return read


def _hints(found: type[Any]) -> dict[str, Any]:
    try:
        return get_type_hints(found.__init__)
    except (NameError, TypeError, AttributeError):
        return {}
