"""Readers of files: those that are there, and those that still appear."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from glob import escape, has_magic
from pathlib import Path
from time import time_ns
from zlib import crc32

from boxcars.connectors.files import count_tuples, data_files, matching, replacing, writing
from boxcars.connectors.read.base import MOST_SPLITS, Place, Portion, Reader, take_files
from boxcars.connectors.within import check_within
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong

_SETTLED = 2_000_000_000
"""Nanoseconds after which the time of a folder tells that nothing has come since."""

COMPLETE = "_SUCCESS"
"""A file of that name says that no more files come into its folder, as Spark writes it."""

_SPARE = 1000
"""Names of files that are gone are remembered up to that many, and as many as there are."""


class FileLog:
    """The files of an input in the order in which they were found: a line for each, with a number.

    It fixes the order for all runs with a checkpoint, so a manifest only needs a number. Each line
    has a checksum of itself and the lines before it: a file that was forgotten would be read again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: deque[tuple[int, str]] = deque()
        self.next, self._sum = 0, 0
        if path.exists():
            self._load()

    def _load(self) -> None:
        """Read the lines; a process may have ended in the middle of the last one."""
        try:
            text = self._path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            lines = [json.loads(line) for line in whole.splitlines()]
            for number, name, *checksum in lines:
                self._sum = _checksum(self._sum, number, name)
                if checksum != [self._sum] and any(len(line) > 2 for line in lines):
                    raise self.damaged()
                self.entries.append((number, name))
        except (ValueError, TypeError):
            raise self.damaged() from None
        self.next = self.entries[-1][0] + 1 if self.entries else 0
        if whole != text or any(len(line) == 2 for line in lines):
            self.keep(self.entries)

    def damaged(self) -> BoxcarsError:
        """The sentence about a log that lacks lines, or has others than were written."""
        return BoxcarsError(
            f"{self._path}: the checkpoint is damaged: it does not have all files that were read. "
            "Restore the checkpoint from a copy, or give the run a new one."
        )

    def add(self, names: Sequence[str]) -> None:
        """Number new files and write them down."""
        new = list(enumerate(names, self.next))
        lines, self._sum = _lines(new, self._sum)
        with writing(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(lines)
        self.entries.extend(new)
        self.next += len(new)

    def keep(self, entries: Iterable[tuple[int, str]]) -> None:
        """Write anew with these files only; the last one stays in any case, for its number."""
        found = list(entries)
        if self.entries and (not found or found[-1] != self.entries[-1]):
            found.append(self.entries[-1])
        lines, self._sum = _lines(found, 0)
        with writing(self._path), replacing(self._path) as part:
            part.write_text(lines, encoding="utf-8")
        self.entries = deque(found)


def _lines(entries: Iterable[tuple[int, str]], before: int) -> tuple[str, int]:
    """The lines of files, and the checksum of all lines up to the last of them."""
    lines = []
    for number, name in entries:
        before = _checksum(before, number, name)
        lines.append(f"{json.dumps([number, name, before])}\n")
    return "".join(lines), before


def _checksum(before: int, number: int, name: str) -> int:
    return crc32(f"{before} {number} {name}".encode())


class Heights:
    """The numbers of tuples of files, counted once; the last ones are known."""

    def __init__(self, entity: Input) -> None:
        self._entity = entity
        self._known: dict[Path, int] = {}

    def __call__(self, path: Path) -> int:
        """How many tuples a file has."""
        if path not in self._known:
            if len(self._known) > 2 * MOST_SPLITS:
                self._known.pop(next(iter(self._known)))
            self._known[path] = count_tuples(path, self._entity)
        return self._known[path]


class ListedFiles(Reader):
    """Files that are all there; they are counted as they are reached."""

    def __init__(self, paths: Sequence[Path], entity: Input) -> None:
        self._paths, self._heights = paths, Heights(entity)

    def take(self, place: Place, rows: int) -> Portion:
        """The next rows, and the end of the input behind the last file."""
        left = enumerate(self._paths[place.file :], place.file)
        portion = take_files(left, place, rows, self._heights)
        at = portion.place
        ended = at.file == len(self._paths)
        return Portion(portion.splits, Place(at.position, at.file, at.row, ended))


class FollowedFiles(Reader):
    """A folder or pattern that is still being filled; each name is taken once.

    Files that are not in the folder ``within`` end the run, whenever links to them appear.
    """

    endless = True

    def __init__(self, where: str, log: FileLog, entity: Input, within: str | None = None) -> None:
        if Path(where).is_file():
            raise Wrong(f"{where}: only a folder or a pattern can be followed, not a file.")
        if not has_magic(where) and not Path(where).is_dir():
            raise Wrong(f"{where}: there is no such folder to follow.")
        self._find, self._mark = _finder(where), Path(where) / COMPLETE
        self._log, self._heights, self._within = log, Heights(entity), within
        self._check(Path(name) for _, name in log.entries)
        self._seen = {name for _, name in log.entries}
        self._waiting = deque((number, Path(name)) for number, name in log.entries)

    def take(self, place: Place, rows: int) -> Portion:
        """The next rows of what was found; only if they are too few, look for new files."""
        if place.file > self._log.next:  # what is found now would take numbers that were read
            raise self._log.damaged()
        while self._waiting and self._waiting[0][0] < place.file:
            self._waiting.popleft()
        portion = take_files(self._there(place), place, rows, self._heights)
        if portion.place.position - place.position == rows:
            return portion
        complete = self._mark.exists()  # before the look: what comes after it is not looked for
        if self._look(place):
            portion = take_files(self._there(place), place, rows, self._heights)
        at = portion.place
        ended = complete and all(number < at.file for number, _ in self._there(at))
        return Portion(portion.splits, Place(at.position, at.file, at.row, ended))

    def _there(self, place: Place) -> Iterable[tuple[int, Path]]:
        """What waits, without files that were removed before anything of them was read."""
        for number, path in self._waiting:
            if (number == place.file and place.row) or path.exists():
                yield number, path

    def _look(self, place: Place) -> bool:
        """Find new files, in the order of their names; tell whether there are any."""
        found = self._find()
        if found is None:
            return False
        names = [str(path) for path in found]
        new = [name for name in names if name not in self._seen]
        if new:
            self._check(map(Path, new))
            first = self._log.next
            self._log.add(new)
            self._seen.update(new)
            self._waiting.extend((first + n, Path(name)) for n, name in enumerate(new))
        if len(self._seen) > 2 * len(names) + _SPARE:
            self._tidy(set(names), place)
        return bool(new)

    def _check(self, paths: Iterable[Path]) -> None:
        if self._within is not None:
            check_within(paths, self._within)

    def _tidy(self, there: set[str], place: Place) -> None:
        """Forget files that were read and are gone."""
        entries = self._log.entries
        self._log.keep(entry for entry in entries if entry[0] >= place.file or entry[1] in there)
        self._seen = {name for _, name in self._log.entries}


def _finder(where: str) -> Callable[[], list[Path] | None]:
    """What lists the files of a folder or pattern; none if it knows that there is nothing new."""
    if Path(where).is_dir():
        return _Folder(Path(where).resolve()).find
    pattern = str(Path(escape(str(Path.cwd()))) / where)
    return lambda: matching(pattern)


class _Folder:
    """A folder that is listed only if its time says that something has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: int | None = None

    def find(self) -> list[Path] | None:
        try:
            stamp = self._path.stat().st_mtime_ns
            if stamp == self._stamp:
                return None
            self._stamp = stamp if time_ns() - stamp > _SETTLED else None
            with os.scandir(self._path) as entries:
                return data_files(self._path / entry.name for entry in entries)
        except OSError as error:
            raise Wrong(f"{self._path}: can't be read: {error.strerror or error}.") from None
