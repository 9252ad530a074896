"""Merge part files into one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from boxcars.connectors.files import append_rows, replacing, unreadable, writing


def read_part(path: Path) -> pa.Table:
    """Read the rows of a part."""
    try:
        return feather.read_table(path) if path.suffix == ".arrow" else pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def join_parts(parts: Sequence[Path], target: Path, schema: pa.Schema) -> None:
    """Merge parts into a file, one part in memory at a time; the file appears atomically."""
    write = _WRITERS[target.suffix]
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as new:
            write(new, schema, (read_part(path).cast(schema) for path in parts))


def _write_parquet(target: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    with pq.ParquetWriter(target, schema) as writer:
        for table in tables:
            writer.write_table(table)


def _write_arrow(target: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    with pa.ipc.new_file(target, schema) as writer:
        for table in tables:
            writer.write_table(table)


def _write_text(name: str, target: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    with target.open("wb") as file:
        append_rows(_frame(schema.empty_table()), name, file, head=True)
        for table in tables:
            append_rows(_frame(table), name, file, head=False)


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


_WRITERS: dict[str, Callable[[Path, pa.Schema, Iterator[pa.Table]], None]] = {
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".csv": partial(_write_text, "csv"),
    ".jsonl": partial(_write_text, "jsonl"),
}
