"""Files as sources and sinks: Parquet, CSV, JSON lines and Arrow; one file or a folder of parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

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


def read_input(path: str | Path, entity: Input | Table) -> Conformed:
    """Read a file, or all files of a folder in the order of their names, for an input or table."""
    parts = [_read_file(part, entity) for part in list_parts(path)]
    if len(parts) == 1:
        return parts[0]
    return Conformed(pl.concat([p.tuples for p in parts]), pl.concat([p.dead for p in parts]))


def list_parts(path: str | Path) -> list[Path]:
    """The file itself, the data files in a folder, or those that a pattern such as ``*`` fits."""
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
            raise Wrong(f"{path}: there is no {', '.join(SUFFIXES)} file of that kind.")
        return parts
    siblings = [p.name for p in where.parent.iterdir()] if where.parent.is_dir() else []
    raise Wrong(f"{path}: there is no such file.{nearest(where.name, siblings)}")


def matching(pattern: str) -> list[Path]:
    """The data files that a pattern fits, ``**`` being any number of folders."""
    return data_files(map(Path, glob(pattern, recursive=True)))  # noqa: PTH207


def data_files(paths: Iterable[Path]) -> list[Path]:
    """The data files in the order of their names, without those that are still being written."""
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
    """The columns that are fields; if one is missing only the names of all, to say so."""
    if path.suffix == ".arrow":
        table = feather.read_table(path)
        table.validate(full=True)  # a wrong offset would read any memory
        return table
    file = open_parquet(path)
    wanted = [name for name in file.schema_arrow.names if name in entity.fields]
    if len(wanted) != len(entity.fields):
        return file.schema_arrow.empty_table()
    return file.read(columns=wanted)


def open_parquet(path: Path) -> pq.ParquetFile:
    """A Parquet file; the old timestamps that Spark writes are in microseconds, like ours."""
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us")


def count_tuples(path: Path, entity: Input) -> int:
    """How many tuples a file has; that of Parquet is known without reading it, if all fit."""
    if fits(path, entity):
        return sum(group_heights(path))
    return _read_file(path, entity).tuples.height


def fits(path: Path, entity: Input) -> bool:
    """Whether every row of a Parquet file is a tuple, by what its metadata says.

    That is a plan, and no proof: who reads the rows looks at their values.
    """
    if path.suffix != ".parquet" or entity.fields[entity.ts] is Type.FLOAT:
        return False  # a float may be no number, and the metadata does not tell
    try:
        file = open_parquet(path)
        types = {field.name: field.type for field in file.schema_arrow}
        same = all(_same_type(types.get(name), t) for name, t in entity.fields.items())
        return same and _in_ranges(file.metadata, entity)
    except (OSError, pa.ArrowException):
        return False


def group_heights(path: Path) -> list[int]:
    """The numbers of rows of the row groups of a Parquet file."""
    metadata = pq.read_metadata(path)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def read_rows(path: Path, first: int, height: int, entity: Input) -> pl.DataFrame:
    """Rows of a Parquet file that :func:`fits`; Polars reads them twice as fast as Arrow."""
    try:
        rows = pl.scan_parquet(
            path,
            schema=entity.schema.dtypes,
            extra_columns="ignore",
            cast_options=pl.ScanCastOptions(datetime_cast="nanosecond-downcast"),
        )
        return rows.slice(first, height).collect()
    except (OSError, *DATA_ERRORS) as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: BaseException) -> BoxcarsError:
    """Why a file can't be read, in a sentence."""
    return BoxcarsError(f"{path}: can't be read as {path.suffix[1:]}: {first_line(error)}")


def _same_type(found: pa.DataType | None, type_: Type) -> bool:
    if found is None or not carried(found):
        return False
    return pl.Series(pa.array([], found)).dtype == type_.dtype


def _in_ranges(metadata: pq.FileMetaData, entity: Input) -> bool:
    """Whether statistics say that all order values have a place, and all timestamps are some."""
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
    """Whether no value is beyond the range of order values, which is that of all timestamps."""
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
    """Complain about a file whose name does not say what it is."""
    if path.suffix not in SUFFIXES:
        raise Wrong(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}.")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a whole table to a file: all of it or, if something goes wrong, nothing."""
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
    """The file that a table is written to: the path itself, or a part in the folder it names."""
    target = Path(path) / "part-0.parquet" if str(path).endswith("/") else Path(path)
    check_suffix(target)
    return target


def _encode(table: pa.Table, name: str, part: Path) -> None:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    with part.open("wb") as file:
        append_rows(frame, name, file, head=True)


def append_rows(frame: pl.DataFrame, name: str, file: BinaryIO, head: bool) -> None:
    """Append rows as CSV or JSON lines, below the names of the columns if they are the first."""
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
    """Say in a sentence why something can't be written."""
    try:
        yield
    except OSError as error:
        raise BoxcarsError(f"{path}: can't be written: {error.strerror or error}.") from None


UNFINISHED = ".tmp"
"""The ending of files that are being written: no reader takes them for data."""


def sweep_unfinished(folder: Path) -> None:
    """Remove what processes left in a folder that were killed while they wrote there."""
    for path in folder.glob(f".*{UNFINISHED}"):
        if re.search(r"-[0-9a-f]{32}$", path.stem):
            path.unlink(missing_ok=True)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new file that takes the place of ``target`` once it is whole."""
    part = target.with_name(f".{target.name}-{uuid4().hex}{UNFINISHED}")
    try:
        yield part
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
