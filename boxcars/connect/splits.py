"""Splits: the pieces in which an epoch reads its inputs; small, for tasks read what they name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from boxcars.connect.conform import Conformed
from boxcars.connect.files import read_input
from boxcars.model.entities import Input


@dataclass(frozen=True)
class Split:
    """Rows of a file; ``position`` is that of the first among all rows of the input."""

    path: str
    start: int
    stop: int
    position: int


def read_split(split: Split, entity: Input) -> Conformed:
    """The tuples of a split; the dead letters of a file come with its first rows."""
    whole = _read_file(split.path, entity)
    dead = whole.dead if split.start == 0 else whole.dead.clear()
    return Conformed(whole.tuples[split.start : split.stop], dead)


@lru_cache(maxsize=4)
def _read_file(path: str, entity: Input) -> Conformed:
    """The tuples of a file; the last few are kept, for an epoch may take a part of one."""
    return read_input(path, entity)
