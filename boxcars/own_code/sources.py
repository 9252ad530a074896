"""Source files of the user's modules: which modules are the user's, and what belongs to them."""

from __future__ import annotations

import ast
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_NATIVE = (".so", ".pyd", ".dylib")
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "site-packages"})
_LARGEST_FILE = 1 << 20
"""Bytes: larger files are data, which does not belong into a package."""


@cache
def _installed() -> tuple[Path, ...]:
    """The folders of installed packages and of Python itself."""
    paths = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages(), sys.base_prefix]
    return tuple({Path(path).resolve() for path in paths if path})


def is_own(top: str) -> bool:
    """Whether a top-level module is the user's: neither Python's, nor ours, nor installed.

    >>> is_own("json"), is_own("polars"), is_own("boxcars"), is_own("__main__")
    (False, False, False, True)
    """
    if top == "__main__":
        return True
    if top in sys.stdlib_module_names or top in ("boxcars", "builtins", ""):
        return False
    places = _places(top)
    return bool(places) and not any(
        place.is_relative_to(folder) for place in places for folder in _installed()
    )


def _places(top: str) -> tuple[Path, ...]:
    """The file of a top-level module, or the folders of a package."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations is not None:
        return tuple(Path(place).resolve() for place in spec.submodule_search_locations)
    return (Path(spec.origin).resolve(),) if spec.origin and spec.has_location else ()


def sources_of(modules: Iterable[str]) -> dict[str, bytes]:
    """The files of modules and of all the user's modules that they import, by path in a bundle.

    A package that holds machine code is left out, with what belongs to Python or to Boxcars: it
    must be installed where it is to run.
    """
    found: dict[str, bytes] = {}
    waiting, seen = [name.partition(".")[0] for name in modules], {"__main__", "boxcars"}
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


def _files(top: str) -> Iterator[tuple[str, Path]]:
    for place in _places(top):
        if place.is_file():
            yield place.name, place
            continue
        for path in sorted(place.rglob("*")):
            inner = path.relative_to(place)
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
