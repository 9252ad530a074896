"""Temporary folders for code, private to the user: other users can't plant files in them."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def private_folder(name: str) -> Path:
    """Return this user's temporary folder of that name; a fresh one if another user owns it.

    >>> private_folder("boxcars-doctest").stat().st_mode & 0o777 == 0o700
    True
    """
    folder = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return folder if own and not found.st_mode & 0o077 else Path(tempfile.mkdtemp(prefix=name))
