"""Files as sources and sinks: Parquet, CSV, JSON lines and Arrow; one file or a folder of parts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from boxcars.connect.conform import Conformed, conform
from boxcars.convert import make_format
from boxcars.model.entities import Input, Table
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
    """The file itself, or the data files in a folder."""
    where = Path(path)
    if where.is_dir():
        found = sorted(p for p in where.iterdir() if p.suffix in SUFFIXES)
        parts = [p for p in found if p.name[0] not in "._"]  # those are still being written
        if not parts:
            raise Wrong(f"{path}: the folder has no {', '.join(SUFFIXES)} file.")
        return parts
    if not where.exists():
        siblings = [p.name for p in where.parent.iterdir()] if where.parent.is_dir() else []
        raise Wrong(f"{path}: there is no such file.{nearest(where.name, siblings)}")
    return [where]


def _read_file(path: Path, entity: Input | Table) -> Conformed:
    check_suffix(path)
    try:
        if path.suffix in (".csv", ".jsonl"):
            return _decode(path, entity)
        frame = pl.from_arrow(_read_arrow(path, entity))
        assert isinstance(frame, pl.DataFrame)
        return conform(frame, entity)
    except (OSError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        first = str(error).splitlines()[0]
        raise BoxcarsError(f"{path}: can't be read as {path.suffix[1:]}: {first}") from None
    except Wrong as wrong:
        raise Wrong(f"{path}: {wrong}") from None


def _read_arrow(path: Path, entity: Input | Table) -> pa.Table:
    """The columns that are fields; if one is missing all of them, to find what it may be called."""
    if path.suffix == ".arrow":
        return feather.read_table(path)
    names = pq.read_schema(path).names
    wanted = [name for name in names if name in entity.fields]
    return pq.read_table(path, columns=wanted if len(wanted) == len(entity.fields) else None)


def count_tuples(path: Path, entity: Input) -> int:
    """How many tuples a file has; that of Parquet is known without reading it, if all fit."""
    if path.suffix == ".parquet" and entity.fields[entity.ts] is not Type.FLOAT:
        with suppress(OSError, pa.ArrowException):
            file = pq.ParquetFile(path)
            types = {field.name: field.type for field in file.schema_arrow}
            fits = all(_same_type(types.get(name), t) for name, t in entity.fields.items())
            if fits and _has_no_null(file.metadata, entity.ts):
                return int(file.metadata.num_rows)
    return _read_file(path, entity).tuples.height


def _same_type(found: pa.DataType | None, type_: Type) -> bool:
    return found is not None and pl.Series(pa.array([], found)).dtype == type_.dtype


def _has_no_null(metadata: pq.FileMetaData, name: str) -> bool:
    """Whether the statistics of a column say that it has no null."""
    for group in range(metadata.num_row_groups):
        columns = metadata.row_group(group)
        for i in range(columns.num_columns):
            column = columns.column(i)
            if column.path_in_schema == name and (
                column.statistics is None or column.statistics.null_count != 0
            ):
                return False
    return True


def _decode(path: Path, entity: Input | Table) -> Conformed:
    options = {"header": True} if path.suffix == ".csv" else {}
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
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    writers: dict[str, Callable[[Path], None]] = {
        ".parquet": lambda part: pq.write_table(table, part),
        ".arrow": lambda part: feather.write_feather(table, part, compression="uncompressed"),
        ".csv": lambda part: _encode(frame, "csv", part),
        ".jsonl": lambda part: _encode(frame, "jsonl", part),
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


def _encode(frame: pl.DataFrame, name: str, part: Path) -> None:
    fields = {column: Type.of(dtype) or Type.STR for column, dtype in frame.schema.items()}
    encoded = make_format(name, fields, {}).encode(frame)
    if encoded.dead.height:
        raise BoxcarsError(f"a row can't be written as {name}: {encoded.dead['reason'][0]}.")
    with part.open("wb") as file:
        if name == "csv":
            head = pl.DataFrame(
                [list(fields)], schema=dict.fromkeys(fields, pl.String), orient="row"
            )
            strings = dict.fromkeys(fields, Type.STR)
            file.write(make_format("csv", strings, {}).encode(head).data[0])
        file.write(b"".join(encoded.data))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Say in a sentence why something can't be written."""
    try:
        yield
    except OSError as error:
        raise BoxcarsError(f"{path}: can't be written: {error.strerror or error}.") from None


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new file that takes the place of ``target`` once it is whole."""
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix
    )
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
