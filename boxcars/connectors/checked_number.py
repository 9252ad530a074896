"""A number in its own small file, such as the last epoch delivered, with a checksum."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from boxcars.connectors.files import replacing, writing
from boxcars.model.problem import BoxcarsError


def note_number(path: Path, number: int) -> None:
    """Write a number atomically."""
    with writing(path), replacing(path) as new:
        new.write_text(f"{number} {_sum(number)}", encoding="ascii")


def noted_number(path: Path) -> int | None:
    """The number in a file; None if the file does not exist. Raises if the file is damaged."""
    try:
        words = path.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        words = []
    if words and words[0].isdecimal() and words[1:] in ([], [_sum(int(words[0]))]):
        return int(words[0])  # older checkpoints have no checksum
    raise BoxcarsError(
        f"{path}: the checkpoint is damaged: the number in this file is not what was written. "
        "Restore the checkpoint from a backup, or start with a new one."
    )


def _sum(number: int) -> str:
    return f"{crc32(str(number).encode()):08x}"
