"""Splits: the pieces in which an epoch reads its inputs; small, for tasks read what they name."""

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
from boxcars.connectors.files import fits, group_heights, read_input, read_rows
from boxcars.expr import Expr
from boxcars.expr.stored import vouch
from boxcars.model.entities import Input
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

DEAD_SUFFIX = ".dead"
"""How the name of a Parquet file ends that has only dead letters, of what came from outside."""
NUMBERS = Schema.of({"value": "int"}, ts="value")
"""What the expressions of a rate read: the number of the row."""


@dataclass(frozen=True)
class FileSplit:
    """Rows of a file; ``position`` is that of the first among all rows of the input."""

    path: str
    start: int
    stop: int
    position: int
    kind: Literal["file"] = "file"

    def read(self, entity: Input) -> Conformed:
        """The tuples; the dead letters of a file come with its first rows."""
        if self.path.endswith(DEAD_SUFFIX):
            return Conformed(entity.schema.empty(), pl.read_parquet(self.path))
        stamp = _stamp_of(self.path)
        if stamp and fits(Path(self.path), entity):
            # its metadata may be wrong, so the values are looked at as those of any other origin
            return conform(self._read_groups(entity, stamp), entity)
        whole = _whole(self.path, stamp, entity)
        dead = whole.dead if self.start == 0 else whole.dead.clear()
        return Conformed(whole.tuples[self.start : self.stop], dead)

    def _read_groups(self, entity: Input, stamp: tuple[int, int]) -> pl.DataFrame:
        """Only the row groups that have rows of the split, side by side."""

        def read(group: tuple[int, int]) -> pl.DataFrame:
            first, height = group
            rows = _rows(self.path, stamp, first, height, entity)
            return rows[max(self.start - first, 0) : self.stop - first]

        heights = group_heights(Path(self.path))
        groups = zip(accumulate(heights, initial=0), heights, strict=False)
        wanted = [g for g in groups if g[0] < self.stop and self.start < sum(g)]
        return pl.concat([entity.schema.empty(), *_threads().map(read, wanted)])


@dataclass(frozen=True)
class RateSplit:
    """Rows that are computed: each field is an expression over ``value``, the row's number."""

    start: int
    stop: int
    position: int
    fields: tuple[tuple[str, str], ...]
    kind: Literal["rate"] = "rate"

    def read(self, entity: Input) -> Conformed:
        """Compute the rows; one without an order value is a mistake in its expression.

        The driver has checked the expressions, so a worker may read them.
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
    """The tuples of a split, and its dead letters."""
    return split.read(entity)


def split_of(plain: Mapping[str, Any]) -> Split:
    """A split from its JSON, which may bring no expression that nobody here knows."""
    if plain["kind"] == "rate":
        fields = tuple((str(n), str(text)) for n, text in plain["fields"])
        for _, text in fields:
            Expr(text).type_in(NUMBERS)
        return RateSplit(**{**plain, "fields": fields})
    return FileSplit(**plain)


def _stamp_of(path: str) -> tuple[int, int] | None:
    """What tells a file from another that has taken its place, if there is one."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _whole(path: str, _stamp: tuple[int, int] | None, entity: Input) -> Conformed:
    """The tuples of a file; the last few are kept, for an epoch may take a part of one."""
    return read_input(path, entity)


@cache
def _threads() -> ThreadPoolExecutor:
    """Those who read; they stay, for it takes longer to start them than to read a little."""
    return ThreadPoolExecutor(os.cpu_count(), "boxcars-read")


@lru_cache(maxsize=4)
def _rows(
    path: str, _stamp: tuple[int, int], first: int, height: int, entity: Input
) -> pl.DataFrame:
    """A row group of a file; the last few are kept, as of files."""
    return read_rows(Path(path), first, height, entity)
