"""Readers: what plans the rows of an input, epoch by epoch, without reading more than it must."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from boxcars.connectors.read.splits import FileSplit, Split
from boxcars.model.problem import Wrong

MOST_SPLITS = 1000
"""Files that an epoch reads at most: its plan stays small, however small they are."""


@dataclass(frozen=True)
class Place:
    """How far an input was read: how many tuples, and the file and the row to go on with."""

    position: int = 0
    file: int = 0
    row: int = 0
    ended: bool = False


@dataclass(frozen=True)
class Portion:
    """What an epoch reads of an input, and the place behind it.

    ``over`` says that nothing more comes in this run, although the input has not ended, and
    ``abort`` that the run is to fail here, for a test.
    """

    splits: tuple[Split, ...]
    place: Place
    over: bool = False
    abort: bool = False


class Reader(ABC):
    """An input under way. What it gives follows from the place alone, except for what is new."""

    endless: bool = False
    """Whether it ends only if it is stopped."""

    @abstractmethod
    def take(self, place: Place, rows: int) -> Portion:
        """The next rows behind a place, at most that many; none if there is nothing new."""

    def forget(self, place: Place) -> None:
        """No recovery needs what is before this place."""
        return

    def close(self) -> None:
        """The run has ended."""
        return


def take_files(
    files: Iterable[tuple[int, Path]], place: Place, rows: int, count: Callable[[Path], int]
) -> Portion:
    """The next rows of numbered files; one without any is read once, for its dead letters."""
    splits: list[Split] = []
    left = rows
    for number, path in files:
        if left == 0 or len(splits) == MOST_SPLITS:
            break
        start, height = place.row if number == place.file else 0, count(path)
        if start > height:
            raise Wrong(f"{path}: the file has changed since the run began to read it.")
        stop = min(start + left, height)
        splits.append(FileSplit(str(path), start, stop, place.position))
        left -= stop - start
        file, row = (number, stop) if stop < height else (number + 1, 0)
        place = Place(place.position + stop - start, file, row)
    return Portion(tuple(splits), place)
