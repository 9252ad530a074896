"""Splits: descriptions of the rows that an epoch reads from its inputs; tasks read the rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import polars as pl

from boxcars.connectors.conform import Conformed, conform
from boxcars.connectors.files import content_mark, fits, group_heights, read_input, read_rows
from boxcars.expr import Expr
from boxcars.expr.stored import vouch
from boxcars.model.entities import Input
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

DEAD_SUFFIX = ".dead"
"""The suffix of Parquet files in a journal that contain only dead letters."""
NUMBERS = Schema.of({"value": "int"}, ts="value")
"""The schema of the expressions of a rate source: the row number."""


@dataclass(frozen=True)
class FileSplit:
    """Rows of a file; ``position`` is the row number of the first one within the input."""

    path: str
    start: int
    stop: int
    position: int
    mark: str = ""
    """The content mark of the file when the epoch was planned, where it is the user's file."""
    kind: Literal["file"] = "file"

    def read(self, entity: Input) -> Conformed:
        """Read the tuples; the dead letters of a file come with its first rows."""
        if self.path.endswith(DEAD_SUFFIX):
            return Conformed(entity.data_schema.empty(), pl.read_parquet(self.path))
        stamp = _stamp_of(self.path)
        if stamp and self.mark and self.mark != _mark_of(self.path, stamp):
            raise changed_file(self.path)
        if stamp and fits(Path(self.path), entity):
            # metadata may be wrong, so the values are still checked
            return conform(self._read_groups(entity, stamp), entity)
        whole = _whole(self.path, stamp, entity)
        dead = whole.dead if self.start == 0 else whole.dead.clear()
        return Conformed(whole.tuples[self.start : self.stop], dead)

    def _read_groups(self, entity: Input, stamp: tuple[int, int]) -> pl.DataFrame:
        """Read only the row groups that contain rows of the split, in parallel."""

        def read(group: tuple[int, int]) -> pl.DataFrame:
            first, height = group
            rows = _rows(self.path, stamp, first, height, entity)
            return rows[max(self.start - first, 0) : self.stop - first]

        heights = group_heights(Path(self.path))
        groups = zip(accumulate(heights, initial=0), heights, strict=False)
        wanted = [g for g in groups if g[0] < self.stop and self.start < sum(g)]
        return pl.concat([entity.data_schema.empty(), *_threads().map(read, wanted)])


@dataclass(frozen=True)
class RateSplit:
    """Generated rows: each field is an expression over ``value``, the row number."""

    start: int
    stop: int
    position: int
    fields: tuple[tuple[str, str], ...]
    kind: Literal["rate"] = "rate"

    def read(self, entity: Input) -> Conformed:
        """Generate the rows; one without an order value is a mistake in its expression.

        The driver has checked the expressions, so a worker may evaluate them.
        """
        for _, text in self.fields:
            vouch(text)
        numbers = pl.DataFrame({"value": pl.int_range(self.start, self.stop, eager=True)})
        made = numbers.with_columns(
            Expr(text).compile(NUMBERS).alias(name) for name, text in self.fields
        )
        found = conform(made, entity)
        if found.dead.height:
            raise Wrong(f"rate: row {found.dead['record'][0].decode()}: {found.dead['reason'][0]}.")
        return found


Split = FileSplit | RateSplit


def read_split(split: Split, entity: Input) -> Conformed:
    """Read the tuples of a split, and its dead letters."""
    return split.read(entity)


def split_of(plain: Mapping[str, Any]) -> Split:
    """Create a split from its JSON, and check its expressions, which may be untrusted."""
    if plain["kind"] == "rate":
        fields = tuple((str(n), str(text)) for n, text in plain["fields"])
        for _, text in fields:
            Expr(text).type_in(NUMBERS)
        return RateSplit(**{**plain, "fields": fields})
    return FileSplit(**plain)


def changed_file(path: str) -> Wrong:
    """The error about a file that was edited after a run had read a part of it."""
    return Wrong(
        f"{path}: the file has changed since the run began to read it. Restore it as it was, or "
        "start over with a new checkpoint."
    )


def _stamp_of(path: str) -> tuple[int, int] | None:
    """Modification time and size, which identify a version of a file; None without a file."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=64)
def _mark_of(path: str, _stamp: tuple[int, int]) -> str:
    return content_mark(Path(path))


@lru_cache(maxsize=4)
def _whole(path: str, _stamp: tuple[int, int] | None, entity: Input) -> Conformed:
    """Read a file, with a small cache: consecutive epochs may read parts of the same file."""
    return read_input(path, entity)


@cache
def _threads() -> ThreadPoolExecutor:
    """The pool of reader threads, reused because starting threads costs more than a small read."""
    return ThreadPoolExecutor(os.cpu_count(), "boxcars-read")


@lru_cache(maxsize=4)
def _rows(
    path: str, _stamp: tuple[int, int], first: int, height: int, entity: Input
) -> pl.DataFrame:
    """Read a row group of a file, with a small cache."""
    return read_rows(Path(path), first, height, entity)
