"""Files that stay in a folder: neither a path, nor a pattern, nor a link in a folder leads out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from glob import has_magic, iglob
from pathlib import Path

from boxcars.model.problem import Wrong


def is_within(path: Path, home: Path) -> bool:
    """Whether a file or folder is in a folder, wherever links on its way lead.

    >>> is_within(Path("/srv/data/../calls.csv"), Path("/srv/data"))
    False
    """
    return path.resolve().is_relative_to(home.resolve())


def leads_out(name: str, home: Path) -> Path | None:
    """The first thing that a path or pattern in ``home`` names, or a folder has, outside of it."""
    return next((path for path in _named(name, home) if not is_within(path, home)), None)


def check_within(paths: Iterable[Path], home: str) -> None:
    """Refuse to read files that are not in a folder; links may have come into it at any time."""
    for path in paths:
        if not is_within(path, Path(home)):
            raise Wrong(f"{path} leads out of '{home}', and this run reads nothing outside of it.")


def _named(name: str, home: Path) -> Iterator[Path]:
    """The path itself, what it fits as a pattern, and all links in folders among them."""
    fitting = iglob(name, root_dir=home, recursive=True) if has_magic(name) else ()  # noqa: PTH207
    for path in (home / name, *(home / each for each in fitting)):
        yield path
        for folder, folders, files in os.walk(path):
            inner = (Path(folder, each) for each in (*folders, *files))
            yield from (each for each in inner if each.is_symlink())
