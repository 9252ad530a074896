"""Input tuples in files: Parquet, or the benchmark's lines of 15 integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
from pyarrow import csv

from boxcars.linear_road.facts import COLUMNS


def write_parquet(frames: Iterable[pl.DataFrame], folder: Path) -> int:
    """Write a file for each frame, named by its first second; return the number of tuples."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = 0
    for frame in frames:
        if frame.height:
            frame.write_parquet(folder / f"tuples-{frame['time'][0]:05d}.parquet")
            rows += frame.height
    return rows


def read_parquet(folder: Path) -> Iterator[pl.DataFrame]:
    """Yield the tuples of each file."""
    for file in sorted(folder.glob("*.parquet")):
        yield pl.read_parquet(file, columns=list(COLUMNS))


def write_lines(frames: Iterable[pl.DataFrame], file: Path) -> int:
    """Write the tuples as lines of numbers, without a header; return the number of tuples."""
    rows = 0
    with file.open("wb") as out:
        for frame in frames:
            frame.select(COLUMNS).write_csv(out, include_header=False)
            rows += frame.height
    return rows


def read_lines(file: Path, block: int = 1 << 24) -> Iterator[pl.DataFrame]:
    """Yield the tuples of a file of lines, ``block`` bytes at a time."""
    reading = csv.ReadOptions(column_names=list(COLUMNS), block_size=block)
    typing = csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.int64()))
    with csv.open_csv(file, reading, convert_options=typing) as batches:
        for batch in batches:
            yield pl.DataFrame(batch)
