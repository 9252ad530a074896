"""The reader of a script: rows for a test, and marks that pause, abort or stop the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boxcars.connectors.read.base import Offset, Portion, Reader, take_files
from boxcars.connectors.read.file_reader import Heights
from boxcars.connectors.read.materialize import store_data
from boxcars.connectors.read.sources import Mark, Script
from boxcars.model.entities import Input


class ScriptReader(Reader):
    """Stores rows between marks as files. A mark belongs to the epoch of the rows before it.

    The plan of that epoch has the offset after the mark, so a resumed run does not see it again.
    """

    def __init__(self, script: Script, home: Path, entity: Input) -> None:
        self._items = [
            item if isinstance(item, Mark) else store_data(item, home / f"{number:06d}.arrow")
            for number, item in enumerate(_runs(script))
        ]
        self._heights = Heights(entity)
        self._over = False

    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan the rows up to the next mark, and the mark."""
        if self._over:
            return Portion((), offset, over=True)
        item = self._items[offset.file] if offset.file < len(self._items) else None
        portion = Portion((), offset)
        if isinstance(item, Path):
            portion = take_files([(offset.file, item)], offset, rows, self._heights)
        mark = self._mark_at(portion.offset)
        at = portion.offset
        if mark is not None:
            at = replace(at, file=at.file + 1)
        self._over = mark is Mark.EOF
        ended = at.file == len(self._items) and not self._over
        return Portion(portion.splits, replace(at, ended=ended), self._over, mark is Mark.ABORT)

    def _mark_at(self, offset: Offset) -> Mark | None:
        item = self._items[offset.file] if offset.file < len(self._items) else None
        return item if isinstance(item, Mark) else None


def _runs(script: Script) -> list[Mark | list[Mapping[str, Any]]]:
    """The marks, and the rows between them as lists."""
    found: list[Mark | list[Mapping[str, Any]]] = []
    for item in script.items:
        if isinstance(item, Mark):
            found.append(item)
        elif found and isinstance(found[-1], list):
            found[-1].append(item)
        else:
            found.append([item])
    return found
