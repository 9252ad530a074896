"""Files as sources and sinks: Parquet, CSV, JSON lines and Arrow; one file or a folder of parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4
from zlib import crc32

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from boxcars.connectors.arrow_columns import carried, fields_frame
from boxcars.connectors.conform import DATA_ERRORS, Conformed, conform, first_line
from boxcars.connectors.formats import make_format
from boxcars.model.entities import Input, Table
from boxcars.model.order import has_place
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.types import Type

SUFFIXES = (".parquet", ".csv", ".jsonl", ".arrow")
_FOOTER = 1 << 16
"""Bytes at the end of a Parquet file that its content mark is computed from."""
_CHUNK = 1 << 20
"""Bytes of a file that are read at a time."""


def read_input(path: str | Path, entity: Input | Table) -> Conformed:
    """Read a file, or all files of a folder in the order of their names, for an input or table."""
    parts = [_read_file(part, entity) for part in list_parts(path)]
    if len(parts) == 1:
        return parts[0]
    return Conformed(pl.concat([p.tuples for p in parts]), pl.concat([p.dead for p in parts]))


def list_parts(path: str | Path) -> list[Path]:
    """The file itself, the data files in a folder, or those that match a glob pattern."""
    where = Path(path)
    if where.is_dir():
        parts = data_files(where.iterdir())
        if not parts:
            raise Wrong(f"{path}: the folder has no {', '.join(SUFFIXES)} file.")
        return parts
    if where.exists():
        return [where]
    if has_magic(str(path)):
        parts = matching(str(path))
        if not parts:
            raise Wrong(f"{path}: no {', '.join(SUFFIXES)} file matches this pattern.")
        return parts
    siblings = [p.name for p in where.parent.iterdir()] if where.parent.is_dir() else []
    raise Wrong(f"{path}: there is no such file.{nearest(where.name, siblings)}")


def matching(pattern: str) -> list[Path]:
    """The data files that match a pattern; ``**`` matches any number of folders."""
    return data_files(map(Path, glob(pattern, recursive=True)))  # noqa: PTH207


def data_files(paths: Iterable[Path]) -> list[Path]:
    """The data files, sorted by path, without unfinished ones."""
    return sorted(path for path in paths if path.suffix in SUFFIXES and path.name[0] not in "._")


def _read_file(path: Path, entity: Input | Table) -> Conformed:
    check_suffix(path)
    try:
        if path.suffix in (".csv", ".jsonl"):
            return _decode(path, entity)
        return conform(fields_frame(_read_arrow(path, entity), entity.fields), entity)
    except (OSError, *DATA_ERRORS) as error:
        raise unreadable(path, error) from None
    except Wrong as wrong:
        raise Wrong(f"{path}: {wrong}") from None


def _read_arrow(path: Path, entity: Input | Table) -> pa.Table:
    """The columns that are fields; if one is missing, an empty table with all columns."""
    if path.suffix == ".arrow":
        table = feather.read_table(path)
        table.validate(full=True)  # a wrong offset would read arbitrary memory
        return table
    file = open_parquet(path)
    wanted = [name for name in file.schema_arrow.names if name in entity.fields]
    if len(wanted) != len(entity.fields):
        return file.schema_arrow.empty_table()
    return file.read(columns=wanted)


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file; the INT96 timestamps of Spark are read as microseconds, like ours."""
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us")


def count_tuples(path: Path, entity: Input) -> int:
    """Number of tuples in a file; from the metadata if all rows of a Parquet file fit."""
    if fits(path, entity):
        return sum(group_heights(path))
    return _read_file(path, entity).tuples.height


def fits(path: Path, entity: Input) -> bool:
    """Whether every row of a Parquet file is a tuple, according to its metadata.

    Metadata may be wrong, so this is good enough for planning; readers check the values.
    """
    if path.suffix != ".parquet" or entity.order_type is Type.FLOAT:
        return False  # a float may be NaN, which statistics ignore
    try:
        file = open_parquet(path)
        types = {field.name: field.type for field in file.schema_arrow}
        same = all(_same_type(types.get(name), t) for name, t in entity.fields.items())
        return same and _in_ranges(file.metadata, entity)
    except (OSError, pa.ArrowException):
        return False


def content_mark(path: Path) -> str:
    """Size and checksum of a file, to notice that it was edited; ``""`` if it can't be read.

    The footer of a Parquet file describes all of its row groups, so the end of it is enough.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, SEEK_END)
            file.seek(max(0, size - _FOOTER) if path.suffix == ".parquet" else 0)
            found = 0
            while data := file.read(_CHUNK):
                found = crc32(data, found)
        return f"{size}-{found:08x}"
    except OSError:
        return ""


def group_heights(path: Path) -> list[int]:
    """Number of rows in each row group of a Parquet file."""
    metadata = pq.read_metadata(path)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def read_rows(path: Path, first: int, height: int, entity: Input) -> pl.DataFrame:
    """Read rows of a Parquet file that :func:`fits`; Polars reads them twice as fast as Arrow."""
    try:
        rows = pl.scan_parquet(
            path,
            schema=entity.data_schema.dtypes,
            extra_columns="ignore",
            cast_options=pl.ScanCastOptions(datetime_cast="nanosecond-downcast"),
        )
        return rows.slice(first, height).collect()
    except (OSError, *DATA_ERRORS) as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: BaseException) -> BoxcarsError:
    """The error for a file that can't be read."""
    return BoxcarsError(f"{path}: can't be read as {path.suffix[1:]}: {first_line(error)}")


def _same_type(found: pa.DataType | None, type_: Type) -> bool:
    if found is None or not carried(found):
        return False
    return pl.Series(pa.array([], found)).dtype == type_.dtype


def _in_ranges(metadata: pq.FileMetaData, entity: Input) -> bool:
    """Whether all order values and timestamps are in range, according to the statistics."""
    bounded = {n: t for n, t in entity.fields.items() if n == entity.ts or t is Type.TIMESTAMP}
    for group in range(metadata.num_row_groups):
        columns = metadata.row_group(group)
        for column in map(columns.column, range(columns.num_columns)):
            name, found = column.path_in_schema, column.statistics
            if name == entity.ts and (found is None or found.null_count != 0):
                return False
            if name in bounded and not _all_in_range(found, bounded[name]):
                return False
    return True


def _all_in_range(statistics: pq.Statistics | None, type_: Type) -> bool:
    """Whether all values are within the range of order values, which covers all timestamps."""
    if statistics is None:
        return False
    if not statistics.has_min_max:
        return int(statistics.num_values) == 0
    try:
        extremes = pl.Series([statistics.min, statistics.max]).cast(type_.dtype).to_frame("ts")
        return bool(extremes.select(has_place(pl.col("ts"), type_).all()).item())
    except (ValueError, OverflowError, pl.exceptions.PolarsError):
        return False


def _decode(path: Path, entity: Input | Table) -> Conformed:
    options = {"header": True, "breaks": True} if path.suffix == ".csv" else {}
    decoder = make_format(path.suffix[1:], entity.fields, options)
    decoded = decoder.decode(pl.Series("data", [path.read_bytes()], dtype=pl.Binary))
    fitting = conform(decoded.tuples, entity)
    return Conformed(fitting.tuples, pl.concat([decoded.dead.drop("origin"), fitting.dead]))


def check_suffix(path: Path) -> None:
    """Raise Wrong if a file name has no known suffix."""
    if path.suffix not in SUFFIXES:
        raise Wrong(f"{path}: expected a file name ending in {', '.join(SUFFIXES)}.")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table to a file atomically."""
    target = target_of(path)
    writers: dict[str, Callable[[Path], None]] = {
        ".parquet": lambda part: pq.write_table(table, part, use_dictionary=False),
        ".arrow": lambda part: feather.write_feather(table, part, compression="uncompressed"),
        ".csv": lambda part: _encode(table, "csv", part),
        ".jsonl": lambda part: _encode(table, "jsonl", part),
    }
    with writing(path):
        if str(path).endswith("/"):
            target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            writers[target.suffix](part)


def target_of(path: str | Path) -> Path:
    """The file that a table is written to: the path itself, or a part file in a folder."""
    target = Path(path) / "part-0.parquet" if str(path).endswith("/") else Path(path)
    check_suffix(target)
    return target


def _encode(table: pa.Table, name: str, part: Path) -> None:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    with part.open("wb") as file:
        append_rows(frame, name, file, head=True)


def append_rows(frame: pl.DataFrame, name: str, file: BinaryIO, head: bool) -> None:
    """Append rows as CSV or JSON lines; with ``head``, after a header line in CSV."""
    fields = {column: Type.of(dtype) or Type.STR for column, dtype in frame.schema.items()}
    options = {"breaks": True} if name == "csv" else {}
    encoded = make_format(name, fields, options).encode(frame)
    if encoded.dead.height:
        raise BoxcarsError(f"a row can't be written as {name}: {encoded.dead['reason'][0]}.")
    if name == "csv" and head:
        names = pl.DataFrame([list(fields)], schema=dict.fromkeys(fields, pl.String), orient="row")
        strings = dict.fromkeys(fields, Type.STR)
        file.write(make_format("csv", strings, {}).encode(names).data[0])
    file.write(b"".join(encoded.data))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn an OSError into a BoxcarsError that names the path."""
    try:
        yield
    except OSError as error:
        raise BoxcarsError(f"{path}: can't be written: {error.strerror or error}.") from None


UNFINISHED = ".tmp"
"""The suffix of files being written, which readers ignore."""


def sweep_unfinished(folder: Path) -> None:
    """Remove unfinished files that killed processes left in a folder."""
    for path in folder.glob(f".*{UNFINISHED}"):
        if re.search(r"-[0-9a-f]{32}$", path.stem):
            path.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Return once a file and its entry in the folder survive a loss of power."""
    sync_paths((path, path.parent))


def sync_paths(paths: Iterable[Path]) -> None:
    """Sync files and folders; a folder has the names of its files, also after a rename."""
    for path in paths:
        with writing(path):
            number = os.open(path, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Write to a temporary file that is renamed to ``target`` on success."""
    part = target.with_name(f".{target.name}-{uuid4().hex}{UNFINISHED}")
    try:
        yield part
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
