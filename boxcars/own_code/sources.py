"""Finds the user's modules and their source files."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_NATIVE = (".so", ".pyd", ".dylib")
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Names of folders into which packages are installed."""
_LARGEST_FILE = 1 << 20
"""Bytes; larger files are taken for data and are not shipped."""


def is_own(top: str) -> bool:
    """Whether a top-level module is the user's: not Python's, not Boxcars', and not installed.

    >>> is_own("json"), is_own("polars"), is_own("boxcars"), is_own("__main__")
    (False, False, False, True)
    """
    if top == "__main__":
        return True
    if top in sys.stdlib_module_names or top in ("boxcars", "builtins", ""):
        return False
    locations = _locations(top)
    return bool(locations) and not any(_INSTALLED & set(location.parts) for location in locations)


def top_of(thing: Any) -> str:
    """The top-level module that a function, a class or the class of a value comes from.

    Code from a console, or compiled from a text, comes from ``__main__``.

    >>> from pathlib import Path
    >>> top_of(Path), top_of(Path())
    ('pathlib', 'pathlib')
    """
    module = getattr(thing, "__module__", type(thing).__module__)
    return (module or "__main__").partition(".")[0]


def _locations(top: str) -> tuple[Path, ...]:
    """The file of a top-level module, or the folders of a package."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations is not None:
        return tuple(Path(location).resolve() for location in spec.submodule_search_locations)
    return (Path(spec.origin).resolve(),) if spec.origin and spec.has_location else ()


def sources_of(tops: Iterable[str]) -> dict[str, bytes]:
    """The files of modules and of all the user's modules that they import, by path in a bundle.

    What workers have is left out: Python, Boxcars and its dependencies. So is a package with native
    code: it must be installed on the workers.
    """
    found: dict[str, bytes] = {}
    waiting, seen = list(tops), {"__main__", *_on_workers()}
    while waiting:
        top = waiting.pop()
        if top in seen or top in sys.stdlib_module_names:
            continue
        seen.add(top)
        files = dict(_files(top))
        if any(name.endswith(_NATIVE) for name in files):
            continue
        for name, path in files.items():
            found[name] = path.read_bytes()
            if name.endswith(".py"):
                waiting += filter(is_own, set(_imported(found[name])))
    return found


@cache
def _on_workers() -> frozenset[str]:
    """Boxcars and its dependencies."""
    return frozenset(
        {"boxcars", *(re.split(r"[^\w-]", need)[0] for need in requires("boxcars") or ())}
    )


def _files(top: str) -> Iterator[tuple[str, Path]]:
    for location in _locations(top):
        if location.is_file():
            yield location.name, location
            continue
        for path in sorted(location.rglob("*")):
            inner = path.relative_to(location)
            hidden = any(part.startswith(".") or part in _LEFT_OUT for part in inner.parts)
            if not hidden and path.is_file() and path.stat().st_size <= _LARGEST_FILE:
                yield (Path(top) / inner).as_posix(), path


def _imported(source: bytes) -> Iterator[str]:
    """The top-level modules that a file imports by absolute names."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
