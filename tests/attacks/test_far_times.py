"""Times far outside the calendar: dead letters in inputs, and null in results.

Polars can't show them: it panics, which no ``except Exception`` catches, so one of them ended a
run, and each restart.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.files import count_tuples, fits
from boxcars.connectors.formats import make_format
from boxcars.connectors.read.journal import Decoder
from boxcars.connectors.read.splits import FileSplit
from boxcars.model.entities import Input
from boxcars.model.schema import Schema
from boxcars.model.types import Type

FAR = 9 * 10**18
"""Microseconds: the year 287,168, which Polars can't format."""
LINES = b'{"time": 9e12, "seen": 1}\n{"time": 2, "seen": 9e12}\n{"time": 3e-6, "seen": 3}\n'
COLUMNS = {"time": pa.array([FAR, 2, 3]), "seen": pa.array([1, FAR, 3])}
READS = {
    "month": "date_trunc('month', seen)",
    "quarter": "date_trunc('quarter', seen)",
    "year": "strftime(seen, '%Y')",
    "text": "cast(seen as str)",
    "later": "seen + 9e18",
}


def network() -> bx.Network:
    net = bx.Network("far")
    rows = net.input("rows", ts="time", fields={"time": "timestamp", "seen": "timestamp"})
    net.output("all", rows)
    net.output("read", rows.map({"time": "time", **READS}))
    return net


def entity() -> Input:
    return network().inputs["rows"]


def table(type_: pa.DataType) -> pa.Table:
    return pa.table({name: column.cast(type_) for name, column in COLUMNS.items()})


def write_lines(path: Path) -> Path:
    path.with_suffix(".jsonl").write_bytes(LINES)
    return path.with_suffix(".jsonl")


def write_parquet(path: Path) -> Path:
    pq.write_table(table(pa.timestamp("us")), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def write_arrow(path: Path) -> Path:
    feather.write_feather(table(pa.timestamp("us")), path.with_suffix(".arrow"))
    return path.with_suffix(".arrow")


FILES: dict[str, Callable[[Path], Path]] = {
    "jsonl": write_lines,
    "parquet": write_parquet,
    "arrow": write_arrow,
}


@pytest.mark.parametrize("kind", FILES)
def test_files(kind: str, tmp_path: Path) -> None:
    found = bx.preview(network(), {"rows": FILES[kind](tmp_path / "far")})
    assert [row["time"].year for row in found["all"].to_pylist()] == [1970]
    assert found["read"].to_pylist()[0]["later"] is None
    assert found.dead.num_rows == 2


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_tables(unit: str) -> None:
    data = table(pa.timestamp(unit))
    for given in (data, [pa_bytes(data)]):
        found = Decoder(entity(), {"format": "arrow"}).decode(given)
        assert (found.tuples.height, found.dead.height) == (1, 2)
        assert set(found.dead["reason"]) == {
            "time: the order attribute is not between the years 1 and 9999",
            "seen: the timestamp is not between the years 1 and 9999",
        }


def pa_bytes(data: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, data.schema) as stream:
        stream.write_table(data)
    return bytes(sink.getvalue())


def test_lines() -> None:
    found = Decoder(entity(), {}).decode(LINES.splitlines())
    assert (found.tuples.height, found.dead.height) == (1, 2)
    assert json.loads(found.dead["record"][0])["time"] == 9e12


@pytest.mark.parametrize(
    ("name", "record", "options"),
    [
        ("jsonl", b'{"t": 9e12}', {}),
        ("jsonl", b'{"t": -62135596801}', {}),
        ("jsonl", b'{"t": "0000-12-31T23:59:59Z"}', {}),
        ("csv", b"0000-12-31", {}),
        ("csv", b"0001-01-01T00:00:00+01:00", {}),
        ("xml", b'<record t="0000-12-31"/>', {}),
        ("binary", FAR.to_bytes(8, "little"), {}),
        ("binary", (2**53).to_bytes(8, "little"), {"layout": {"t": "<M8[s]"}}),
    ],
    ids=str,
)
def test_records(name: str, record: bytes, options: dict[str, Any]) -> None:
    """Also in a decode box, whose input does not check them."""
    found = make_format(name, {"t": Type.TIMESTAMP}, options).decode(pl.Series([record]))
    assert (found.tuples.height, found.dead.height) == (0, 1)


def test_results_of_user_code() -> None:
    schema = Schema.of({"t": "timestamp"}, ts="t")
    far = bx.Expr.of(pl.col("t").dt.offset_by("20000y"))
    frame = pl.DataFrame({"t": [0]}).cast(pl.Datetime("us"))
    assert frame.select(far.compile(schema)).item() is None


def test_a_run_continues(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number, write in enumerate(FILES.values()):
        write(source / f"{number}")
    rows: list[Any] = []
    running = bx.run(
        network(),
        {"rows": source},
        {"all": tmp_path / "all.csv", "read": bx.callback(lambda t, _: rows.extend(t.to_pylist()))},
        checkpoint=tmp_path / "c",
        spark=spark,
    )
    running.wait()
    assert running.stats().boxes["rows"].dead == 6
    assert len(rows) == 3
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 4


def test_a_parquet_file_with_wrong_statistics(tmp_path: Path) -> None:
    """Its statistics claim that the maximum is 100,000."""
    path = tmp_path / "lie.parquet"
    rows = pa.table({"t": [1, 2, 77_777, 4, 100_000]})
    pq.write_table(rows, path, use_dictionary=False, compression="none")
    honest, far = (77_777).to_bytes(8, "little"), (2**63 - 1).to_bytes(8, "little")
    assert path.read_bytes().count(honest) == 1
    path.write_bytes(path.read_bytes().replace(honest, far))
    at = Input(Schema.of({"t": "int"}, ts="t").fields, "t")
    found = FileSplit(str(path), 0, count_tuples(path, at), 0).read(at)
    assert found.tuples["t"].to_list() == [1, 2, 4, 100_000]
    assert found.dead["record"].to_list() == [b'{"t":9223372036854775807}']
    rest = FileSplit(str(path), 3, 5, 3).read(at)
    assert (rest.tuples["t"].to_list(), rest.dead.height) == ([4, 100_000], 0)


def test_statistics_reveal_far_timestamps(tmp_path: Path) -> None:
    path = tmp_path / "far.parquet"
    pq.write_table(table(pa.timestamp("us")), path)
    assert not fits(path, entity())
    good = pa.table({"time": [1, 2], "seen": [None, 2]}).cast(table(pa.timestamp("us")).schema)
    pq.write_table(good, path)
    assert fits(path, entity())
