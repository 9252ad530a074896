"""Confine files to a folder: no path, pattern or symbolic link may lead outside."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from glob import has_magic, iglob
from pathlib import Path

from boxcars.model.problem import Wrong


def is_within(path: Path, home: Path) -> bool:
    """Whether a path is inside a folder after all symbolic links are resolved.

    >>> is_within(Path("/srv/data/../calls.csv"), Path("/srv/data"))
    False
    """
    return path.resolve().is_relative_to(home.resolve())


def leads_out(name: str, home: Path) -> Path | None:
    """The first path outside ``home`` that a path or pattern reaches, also through links."""
    return next((path for path in _named(name, home) if not is_within(path, home)), None)


def check_within(paths: Iterable[Path], home: str) -> None:
    """Raise Wrong if a file is not inside a folder; links may be added to it at any time."""
    for path in paths:
        if not is_within(path, Path(home)):
            raise Wrong(f"{path} leads outside '{home}', and this run reads only files inside it.")


def _named(name: str, home: Path) -> Iterator[Path]:
    """The path itself, its matches if it is a pattern, and all links in folders below them."""
    fitting = iglob(name, root_dir=home, recursive=True) if has_magic(name) else ()  # noqa: PTH207
    for path in (home / name, *(home / each for each in fitting)):
        yield path
        for folder, folders, files in os.walk(path):
            inner = (Path(folder, each) for each in (*folders, *files))
            yield from (each for each in inner if each.is_symlink())
