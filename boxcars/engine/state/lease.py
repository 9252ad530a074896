"""A lease on a checkpoint folder: it tells a second run on the same machine to stay away.

It is for people, not for safety: what keeps two drivers from committing is the head of the
checkpoint (:mod:`boxcars.engine.state.checkpoint`).
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boxcars.connectors.files import writing
from boxcars.model.problem import Wrong


@contextmanager
def lease(
    folder: Path, advice: str = "stop it first, or give this run another checkpoint folder"
) -> Iterator[None]:
    """Hold the folder while a run uses it; the lock ends with the process."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Wrong(f"{folder}: another run is using this checkpoint: {advice}.") from None
        yield
