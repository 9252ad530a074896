"""Versions of files (optimistic locking): a save detects changes made elsewhere."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boxcars.studio.wire.errors import Unable

_SAVING = threading.Lock()
"""Held from the comparison of a version to the replacement of the file."""


def version_of(path: Path, *beside: Path) -> str:
    """Return a hash of a file and the files that belong to it; empty if it does not exist."""
    if not path.is_file():
        return ""
    digest = hashlib.sha256()
    for each in (path, *beside):
        digest.update(hashlib.sha256(each.read_bytes() if each.is_file() else b"").digest())
    return digest.hexdigest()[:16]


@contextmanager
def saving_over(version: str | None, path: Path, *beside: Path) -> Iterator[None]:
    """Allow a save if the file has this version; an empty version means that it must not exist.

    None allows any version. A file that was removed may always be written.
    """
    with _SAVING:
        now = version_of(path, *beside)
        if version is not None and now not in (version, ""):
            since = "it has changed since it was opened."
            raise Unable(f"{path.name}: {since if version else 'the file already exists.'}")
        yield
