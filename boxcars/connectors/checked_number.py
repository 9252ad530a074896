"""Numbers in files of a checkpoint, such as the last delivered epoch of a sink."""

from __future__ import annotations

from pathlib import Path

from boxcars.connectors.documents import Damaged, seal, unseal
from boxcars.connectors.files import replacing, writing
from boxcars.model.problem import BoxcarsError


def note_number(path: Path, number: int) -> None:
    """Write a number atomically."""
    with writing(path), replacing(path) as new:
        new.write_bytes(seal("number", {"number": number}))


def noted_number(path: Path) -> int | None:
    """The number in a file; None if the file does not exist. Raises if the file is damaged."""
    try:
        return int(unseal("number", path.read_bytes(), str(path))["number"])
    except FileNotFoundError:
        return None
    except (Damaged, OSError):
        raise BoxcarsError(
            f"{path}: the checkpoint is damaged: the number in this file is not what was written. "
            "Restore the checkpoint from a backup, or start with a new one."
        ) from None
