"""Versions of files, so that a save does not replace what was saved from elsewhere since."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boxcars.studio.wire.errors import Unable

_SAVING = threading.Lock()
"""Between the look at a file and its replacement there is no other."""


def version_of(path: Path, *beside: Path) -> str:
    """What changes when a file, or one that belongs to it, does; empty if it is not there."""
    if not path.is_file():
        return ""
    digest = hashlib.sha256()
    for each in (path, *beside):
        digest.update(hashlib.sha256(each.read_bytes() if each.is_file() else b"").digest())
    return digest.hexdigest()[:16]


@contextmanager
def saving_over(version: str | None, path: Path, *beside: Path) -> Iterator[None]:
    """Save a file that has this version; an empty one is for a file that is not there yet.

    Without a version whatever is there is replaced. A file that was removed has nothing to lose.
    """
    with _SAVING:
        now = version_of(path, *beside)
        if version is not None and now not in (version, ""):
            since = "it was changed since it was opened."
            raise Unable(f"{path.name}: {since if version else 'there is such a file already.'}")
        yield
