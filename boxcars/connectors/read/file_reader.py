"""Readers of files: a fixed list of files, and folders in which files appear."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from glob import escape, has_magic
from pathlib import Path
from time import time_ns
from typing import Any
from zlib import crc32

from boxcars.connectors.documents import FORMAT, READABLE, unknown_format
from boxcars.connectors.files import (
    content_mark,
    count_tuples,
    data_files,
    matching,
    replacing,
    writing,
)
from boxcars.connectors.read.base import MOST_SPLITS, Offset, Portion, Reader, take_files
from boxcars.connectors.within import check_within
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong

_SETTLED = 2_000_000_000
"""Nanoseconds after which the modification time of a folder is reliable."""

FILES = "files.jsonl"
"""The file of the checkpoint that lists the files of an input."""
COMPLETE = "_SUCCESS"
"""A file of this name marks its folder as complete, as Spark writes it."""

_SPARE = 1000
"""Names of removed files to remember, in addition to the number of existing files."""


class FileLog:
    """The files of an input in the order of their discovery: one numbered line per file.

    It fixes the order for all runs with a checkpoint, so that an offset only needs a number. Each
    line has its format and a checksum over itself and the lines before it, because a file missing
    from the log would be read again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: deque[tuple[int, str]] = deque()
        self.new = not path.exists() or not path.stat().st_size
        """Whether there was no list when it was opened."""
        self.next, self._sum = 0, 0
        if path.exists():
            self._load()

    def _load(self) -> None:
        """Read the log; the last line may be incomplete after a crash."""
        try:
            text = self._path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            for line in whole.splitlines():
                format_, number, name, checksum = json.loads(line)
                if format_ not in READABLE:
                    raise unknown_format(str(self._path), format_)
                self._sum = _checksum(self._sum, format_, number, name)
                if checksum != self._sum:
                    raise self.damaged()
                self.entries.append((number, name))
        except (ValueError, TypeError):
            raise self.damaged() from None
        self.next = self.entries[-1][0] + 1 if self.entries else 0
        if whole != text:
            self.keep(self.entries)

    def damaged(self) -> BoxcarsError:
        """The error for a log with missing or changed lines."""
        return BoxcarsError(
            f"{self._path}: the checkpoint is damaged: its list of files that were read is "
            "incomplete. Restore the checkpoint from a backup, or start with a new one."
        )

    def add(self, names: Sequence[str]) -> None:
        """Assign numbers to new files and append them to the log."""
        new = list(enumerate(names, self.next))
        lines, self._sum = _lines(new, self._sum)
        with writing(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())  # an epoch that reads these files may be committed next
        self.entries.extend(new)
        self.next += len(new)

    def keep(self, entries: Iterable[tuple[int, str]]) -> None:
        """Rewrite the log with these files only; the last one always stays, for its number."""
        found = list(entries)
        if self.entries and (not found or found[-1] != self.entries[-1]):
            found.append(self.entries[-1])
        lines, self._sum = _lines(found, 0)
        with writing(self._path), replacing(self._path) as part:
            part.write_text(lines, encoding="utf-8")
        self.entries = deque(found)


def _lines(entries: Iterable[tuple[int, str]], before: int) -> tuple[str, int]:
    """Format entries as lines, and return the checksum of the last one."""
    lines = []
    for number, name in entries:
        before = _checksum(before, FORMAT, number, name)
        lines.append(f"{json.dumps([FORMAT, number, name, before])}\n")
    return "".join(lines), before


def _checksum(before: int, format_: int, number: int, name: str) -> int:
    return crc32(f"{before} {format_} {number} {name}".encode())


class Heights:
    """Tuple counts and content marks of files, each computed once; the last ones are cached."""

    def __init__(self, entity: Input) -> None:
        self._entity = entity
        self._known: dict[Path, int] = {}
        self._marks: dict[Path, str] = {}

    def __call__(self, path: Path) -> int:
        """The number of tuples in a file."""
        if path not in self._known:
            _make_room(self._known)
            self._known[path] = count_tuples(path, self._entity)
        return self._known[path]

    def mark(self, path: Path) -> str:
        """The content mark of a file."""
        if path not in self._marks:
            _make_room(self._marks)
            self._marks[path] = content_mark(path)
        return self._marks[path]


def _make_room(cache: dict[Path, Any]) -> None:
    if len(cache) > 2 * MOST_SPLITS:
        cache.pop(next(iter(cache)))


class ListedFiles(Reader):
    """A fixed list of files; each is counted when it is reached."""

    def __init__(self, paths: Sequence[Path], entity: Input, log: FileLog | None = None) -> None:
        self._paths, self._heights, self._log = paths, Heights(entity), log
        self._taken = False

    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan the next rows; the input ends after the last file."""
        if self._log is not None and self._log.new and offset.position and not self._taken:
            raise self._log.damaged()  # it was listed anew, perhaps in another order
        self._taken = True
        left = enumerate(self._paths[offset.file :], offset.file)
        portion = take_files(left, offset, rows, self._heights, self._heights.mark)
        at = portion.offset
        return Portion(portion.splits, replace(at, ended=at.file == len(self._paths)))


class FollowedFiles(Reader):
    """A folder or pattern in which files still appear; each name is read once.

    A file outside the folder ``within`` fails the run, whenever a link to it appears.
    """

    endless = True

    def __init__(self, where: str, log: FileLog, entity: Input, within: str | None = None) -> None:
        if Path(where).is_file():
            raise Wrong(f"{where}: expected a folder or a pattern to follow, got a file.")
        if not has_magic(where) and not Path(where).is_dir():
            raise Wrong(f"{where}: there is no such folder to follow.")
        self._find, self._complete = _finder(where), Path(where) / COMPLETE
        self._log, self._heights, self._within = log, Heights(entity), within
        self._check(Path(name) for _, name in log.entries)
        self._seen = {name for _, name in log.entries}
        self._waiting = deque((number, Path(name)) for number, name in log.entries)
        self._taken = False

    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan rows of known files; search for new files only if these are not enough."""
        lost = self._log.new and offset.position and not self._taken
        self._taken = True
        if lost or offset.file > self._log.next:  # new files would get numbers that were read
            raise self._log.damaged()
        while self._waiting and self._waiting[0][0] < offset.file:
            self._waiting.popleft()
        portion = self._take_found(offset, rows)
        if portion.offset.position - offset.position == rows:
            return portion
        complete = self._complete.exists()  # checked first: files after the marker are not read
        if self._search(offset):
            portion = self._take_found(offset, rows)
        at = portion.offset
        ended = complete and all(number < at.file for number, _ in self._there(at))
        return Portion(portion.splits, replace(at, ended=ended))

    def _take_found(self, offset: Offset, rows: int) -> Portion:
        """The next rows of files that were found before."""
        return take_files(self._there(offset), offset, rows, self._heights, self._heights.mark)

    def _there(self, offset: Offset) -> Iterable[tuple[int, Path]]:
        """The unread files, without those that were removed before reading them started."""
        for number, path in self._waiting:
            if (number == offset.file and offset.row) or path.exists():
                yield number, path

    def _search(self, offset: Offset) -> bool:
        """Log new files in the order of their names; return whether there are any."""
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
            self._compact(set(names), offset)
        return bool(new)

    def _check(self, paths: Iterable[Path]) -> None:
        if self._within is not None:
            check_within(paths, self._within)

    def _compact(self, there: set[str], offset: Offset) -> None:
        """Remove files from the log that were read and deleted."""
        entries = self._log.entries
        self._log.keep(entry for entry in entries if entry[0] >= offset.file or entry[1] in there)
        self._seen = {name for _, name in self._log.entries}


def _finder(where: str) -> Callable[[], list[Path] | None]:
    """A function that lists the files of a folder or pattern, or returns None if nothing is new."""
    if Path(where).is_dir():
        return _Folder(Path(where).resolve()).find
    pattern = str(Path(escape(str(Path.cwd()))) / where)
    return lambda: matching(pattern)


class _Folder:
    """A folder that is listed only if its modification time has changed."""

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
