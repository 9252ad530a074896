"""The reader of a script: rows for a test, and marks at which something happens to the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boxcars.connectors.read.base import Place, Portion, Reader, take_files
from boxcars.connectors.read.file_reader import Heights
from boxcars.connectors.read.materialize import keep_data
from boxcars.connectors.read.sources import Mark, Script
from boxcars.model.entities import Input


class ScriptReader(Reader):
    """Rows between marks are files. A mark belongs to the epoch of the rows before it.

    The plan of that epoch names the place behind the mark. So a run that goes on with the plan does
    not come to it again: the plan is the memory.
    """

    def __init__(self, script: Script, home: Path, entity: Input) -> None:
        self._items = [
            item if isinstance(item, Mark) else keep_data(item, home / f"{number:06d}.arrow")
            for number, item in enumerate(_runs(script))
        ]
        self._heights = Heights(entity)
        self._over = False

    def take(self, place: Place, rows: int) -> Portion:
        """Rows up to the next mark, and the mark."""
        if self._over:
            return Portion((), place, over=True)
        item = self._items[place.file] if place.file < len(self._items) else None
        portion = Portion((), place)
        if isinstance(item, Path):
            portion = take_files([(place.file, item)], place, rows, self._heights)
        mark = self._mark_at(portion.place)
        at = portion.place if mark is None else replace(portion.place, file=portion.place.file + 1)
        self._over = mark is Mark.EOF
        ended = at.file == len(self._items) and not self._over
        return Portion(portion.splits, replace(at, ended=ended), self._over, mark is Mark.ABORT)

    def _mark_at(self, place: Place) -> Mark | None:
        item = self._items[place.file] if place.file < len(self._items) else None
        return item if isinstance(item, Mark) else None


def _runs(script: Script) -> list[Mark | list[Mapping[str, Any]]]:
    """The marks, and the rows between them together."""
    found: list[Mark | list[Mapping[str, Any]]] = []
    for item in script.items:
        if isinstance(item, Mark):
            found.append(item)
        elif found and isinstance(found[-1], list):
            found[-1].append(item)
        else:
            found.append([item])
    return found
