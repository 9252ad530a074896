"""Temporary folders that hold code: a user's own, which no other user can have prepared."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def private_folder(name: str) -> Path:
    """A temporary folder of this user, the same each time; a new one if that name was taken.

    >>> private_folder("boxcars-doctest").stat().st_mode & 0o777 == 0o700
    True
    """
    folder = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return folder if own and not found.st_mode & 0o077 else Path(tempfile.mkdtemp(prefix=name))
