"""User-defined Python objects by name: how a network file says which code a box runs.

A name is ``package.module:name``. Objects passed in this process are found by their name even if
they cannot be imported (a lambda, a class inside a function).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from boxcars.model.problem import Wrong

_LOCAL: dict[str, Any] = {}
"""Objects passed in this process, which may not be importable by name."""


def name_of(thing: Any) -> str:
    """The name of an object; objects that cannot be imported are distinguished by a number.

    >>> from pathlib import Path
    >>> name_of(Path)
    'pathlib:Path'
    """
    name = getattr(thing, "__qualname__", f"<{type(thing).__name__}>")
    first = free = f"{thing.__module__}:{name}"
    number = 1
    while "<" in first and _LOCAL.get(free, thing) is not thing:
        number += 1
        free = f"{first}-{number}"
    _LOCAL[free] = thing
    return free


def register_named(name: str, thing: Any) -> None:
    """Register an object under a name that cannot be imported in this process."""
    _LOCAL[name] = thing


def find_named(name: str, kind: str) -> Any:
    """The object of that name, imported if needed; ``kind`` is what an error calls it."""
    if not is_name(name):
        raise Wrong(f"expected 'package.module:{kind}', got '{name}'.")
    if name in _LOCAL:
        return _LOCAL[name]
    module, _, attribute = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise Wrong(f"there is no {kind} '{name}': {error}.") from error
    return found


def is_name(name: str) -> bool:
    """Whether it has the form ``package.module:name``."""
    return all(name.partition(":"))
