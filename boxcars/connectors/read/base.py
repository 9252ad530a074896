"""Readers: plan the rows that each epoch reads from an input, reading as little as possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from boxcars.connectors.read.splits import FileSplit, Split, changed_file

MOST_SPLITS = 1000
"""Maximum number of files per epoch, which keeps its plan small even if the files are tiny."""


@dataclass(frozen=True)
class Offset:
    """How far an input was read: how many tuples, and the file and the row to go on with.

    ``mark`` is the :func:`~boxcars.connectors.files.content_mark` of a file that is partly read.
    """

    position: int = 0
    file: int = 0
    row: int = 0
    ended: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Portion:
    """The splits that an epoch reads from an input, and the offset after them.

    ``over``: nothing more comes in this run, although the input has not ended. ``abort``: the run
    must fail here, for a test.
    """

    splits: tuple[Split, ...]
    offset: Offset
    over: bool = False
    abort: bool = False


class Reader(ABC):
    """Plans the reading of an input. Rows after an offset never change; new ones may be added."""

    endless: bool = False
    """Whether the input is unbounded: it ends only when the run is stopped."""

    @abstractmethod
    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan the next rows after an offset, at most ``rows``; none if there is nothing new."""

    def forget(self, offset: Offset) -> None:
        """Release data before this offset, which no recovery needs."""
        return

    def close(self) -> None:
        """Release resources at the end of the run."""
        return


def take_files(
    files: Iterable[tuple[int, Path]],
    offset: Offset,
    rows: int,
    count: Callable[[Path], int],
    mark: Callable[[Path], str] = lambda _: "",
) -> Portion:
    """The next rows of numbered files; one without any is read once, for its dead letters.

    A partly read file whose mark has changed is an error: its remaining rows may be others.
    """
    splits: list[Split] = []
    left = rows
    for number, path in files:
        if left == 0 or len(splits) == MOST_SPLITS:
            break
        start, height = offset.row if number == offset.file else 0, count(path)
        found = mark(path)
        if start > height or (start and offset.mark and offset.mark != found):
            raise changed_file(str(path))
        stop = min(start + left, height)
        splits.append(FileSplit(str(path), start, stop, offset.position, found))
        left -= stop - start
        file, row = (number, stop) if stop < height else (number + 1, 0)
        offset = Offset(offset.position + stop - start, file, row, mark=found if row else "")
    return Portion(tuple(splits), offset)
