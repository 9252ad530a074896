"""Data for an injector: data files, or text files whose lines a function parses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from boxcars.connectors.conform import as_frame
from boxcars.connectors.files import check_suffix, list_parts, unreadable
from boxcars.inject.pace import Batch

_READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": lambda path: pl.read_csv(path, try_parse_dates=True),
    ".jsonl": pl.read_ndjson,
    ".arrow": pl.read_ipc,
}


def from_files(files: Mapping[str, str]) -> Iterator[Batch]:
    """The files of all inputs: one batch of all first files, then one of all second files, ..."""
    lists = {name: list_parts(where) for name, where in files.items()}
    for number in range(max(map(len, lists.values()), default=0)):
        yield {name: _read(paths[number]) for name, paths in lists.items() if number < len(paths)}


def _read(path: Path) -> pl.DataFrame:
    check_suffix(path)
    try:
        return _READERS[path.suffix](path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise unreadable(path, error) from None


def from_lines(
    name: str, path: str | Path, row: Callable[[str], Mapping[str, Any]], most: int = 10_000
) -> Iterator[Batch]:
    """Parse the lines of a text file for one input, in batches of ``most`` rows.

    ``from_lines("calls", "calls.log", parse)``, where ``parse`` returns ``{"time": 7, ...}``.
    """
    with Path(path).open(encoding="utf-8") as file:
        while lines := [line.rstrip("\n") for line in islice(file, most)]:
            yield {name: as_frame([dict(row(line)) for line in lines])}
