"""An order value out of range is a dead letter, whichever way it enters."""

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import boxcars as bx
from boxcars.connectors.conform import conform
from boxcars.connectors.files import fits, write_table
from boxcars.connectors.read.journal import Decoder
from boxcars.connectors.read.splits import FileSplit
from boxcars.engine.flow.box_stats import BoxStats
from boxcars.model.entities import Input
from boxcars.model.order import FARTHEST_FLOAT, FARTHEST_INT
from boxcars.model.schema import Schema
from boxcars.model.stream import Stream
from tests.boxes.helper import network, problems, run

FLOATS = {"time": "float", "n": "int"}
INF, NAN = float("inf"), float("nan")
FAR = [INF, -INF, NAN, 1e300, -1e17, FARTHEST_FLOAT * 1.001]


def source(kind: str, table: pa.Table, folder: Path) -> Any:
    """The rows as a source of that kind."""
    if kind in ("arrow", "polars", "pandas", "rows"):
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        made = {"arrow": table, "polars": frame, "pandas": frame.to_pandas()}
        return made[kind] if kind in made else frame.to_dicts()
    if kind == "text":
        lines = [f"{row['time']},{row['n']}" for row in table.to_pylist()]
        (folder / "in.csv").write_text("time,n\n" + "\n".join(lines) + "\n")
        return folder / "in.csv"
    write_table(table, folder / f"in.{kind}")
    return folder / f"in.{kind}"


def of_type(found: bx.Preview, type_: str) -> BoxStats:
    """The statistics of the only box of a type."""
    (only,) = [stats for stats in found.stats.values() if stats.type == type_]
    return only


@pytest.mark.parametrize("kind", ["arrow", "polars", "pandas", "rows", "parquet", "text"])
@pytest.mark.parametrize("far", FAR)
def test_far_float_time_ends_no_window(kind: str, far: float, tmp_path: Path) -> None:
    table = pa.table({"time": [1.0, far, 2.0, 11.0], "n": [1, 2, 3, 4]})
    net = network(lambda calls: calls.aggregate(bx.time(10, flush=True), n="count()"), FLOATS)
    found = bx.preview(net, {"calls": source(kind, table, tmp_path)}, trains=4)
    rows = [(row["time"], row["n"]) for row in found["out0"].to_pylist()]
    assert rows == [(0.0, 2), (10.0, 1)]
    assert found.dead.num_rows == found.stats["calls"].dead == 1
    assert found.stats["calls"].late == 0
    (letter,) = found.dead.to_pylist()
    assert letter["source"] == "calls"
    assert letter["reason"].startswith("time: the order attribute is n")
    assert b'"n":2' in letter["record"]


@pytest.mark.parametrize(
    ("type_", "good", "far", "words"),
    [
        ("int", FARTHEST_INT, FARTHEST_INT + 1, "-2^62 and 2^62"),
        ("int", -FARTHEST_INT, -(2**63), "-2^62 and 2^62"),
        ("float", FARTHEST_FLOAT, FARTHEST_FLOAT + 2, "-2^53 and 2^53"),
        ("timestamp", datetime(9999, 12, 31), 2**60, "the years 1 and 9999"),
    ],
)
def test_range_ends_exactly_there(type_: str, good: Any, far: Any, words: str) -> None:
    entity = Input(Schema.of({"t": type_}, ts="t").fields, "t")
    dtype = entity.schema.dtypes["t"]
    values = [pl.Series([good], dtype=dtype), pl.Series([far]).cast(dtype)]
    found = conform(pl.DataFrame({"t": pl.concat(values)}), entity)
    assert found.tuples["t"].to_list() == [good]
    assert found.dead["reason"].to_list() == [f"t: the order attribute is not between {words}"]


@pytest.mark.parametrize("type_", ["int", "float"])
def test_parquet_with_a_far_value_is_not_read_unseen(type_: str, tmp_path: Path) -> None:
    """Neither the number of its rows nor its rows come from the metadata alone."""
    entity = Input(Schema.of({"time": type_}, ts="time").fields, "time")
    far = FARTHEST_INT + 1 if type_ == "int" else INF
    path = tmp_path / "in.parquet"
    write_table(pa.table({"time": [1, far, 3]}), path)
    assert not fits(path, entity)
    found = FileSplit(str(path), 0, 3, 0).read(entity)
    assert found.tuples["time"].to_list() == [1, 3]
    assert found.dead.height == 1
    write_table(pa.table({"time": [1, 2, 3]}), path)
    assert fits(path, entity) == (type_ == "int")


def test_table_that_is_enqueued_loses_its_far_row_only() -> None:
    decoder = Decoder(Input(Schema.of(FLOATS, ts="time").fields, "time"), {})
    found = decoder.decode(pa.table({"time": [1.0, INF], "n": [1, 2]}))
    assert found.tuples["n"].to_list() == [1]
    assert found.dead.height == 1
    sent = decoder.decode([b'{"time": 1e999, "n": 1}', b'{"time": 2, "n": 2}'])
    assert sent.tuples["n"].to_list() == [2]
    assert sent.dead.height == 1


@pytest.mark.parametrize("trains", [1, 3])
def test_order_value_that_a_map_computes_beyond_the_range_is_a_dead_letter(trains: int) -> None:
    """An ordered stream is not sorted again; an int would even overflow."""
    far = 2**60
    data = {"time": [1, 2, far, far + 1], "n": [1, 2, 3, 4]}
    ints = {"time": "int", "n": "int"}
    for expr, words in {"time * 1000": "2^62", "time * 1e300": "2^53"}.items():

        def draw(calls: Stream, expr: str = expr) -> Stream:
            dated = calls.filter("n > 0").map({"time": expr}, keep=True).filter("n < 9")
            return dated.aggregate(bx.time(10, flush=True), rows="count()")

        net = network(draw, ints)
        found = bx.preview(net, {"calls": data}, trains=trains)
        lost = 2 if words == "2^62" else 4
        assert sum(row["rows"] for row in found["out0"].to_pylist()) == 4 - lost
        assert of_type(found, "map").dead == found.dead.num_rows == lost
        assert of_type(found, "map").total_out == 4 - lost
        assert {row["source"] for row in found.dead.to_pylist()} == {of_type(found, "map").name}
        assert all(words in row["reason"] for row in found.dead.to_pylist())


def test_moment_that_a_map_computes_beyond_the_years_is_a_dead_letter() -> None:
    net = network(
        lambda calls: calls.map(time="from_epoch(time)", n="n"), {"time": "int", "n": "int"}
    )
    found = bx.preview(net, {"calls": {"time": [1, 10**12], "n": [1, 2]}})
    assert [row["n"] for row in found["out0"].to_pylist()] == [1]
    assert of_type(found, "map").dead == 1


@pytest.mark.parametrize("box", ["bsort", "slack"])
def test_order_value_out_of_order_beyond_the_range_is_late(box: str) -> None:
    """An unordered stream is sorted, and invalid order values are late there."""
    data = {"time": [1.0, 2.0, 3.0, 4.0], "n": [1, 0, 2, 3]}

    def draw(calls: Any) -> Any:
        again = calls.map(time="time / n", n="n * 1")
        if box == "bsort":
            return again.bsort(slack=10).aggregate(bx.time(10, flush=True), rows="count()")
        window = bx.time(10, flush=True, slack={"time": 10})
        return again.aggregate(window, rows="count()")

    found = bx.preview(network(draw, FLOATS), {"calls": data})
    assert [row["rows"] for row in found["out0"].to_pylist()] == [3]
    assert sum(stats.late for stats in found.stats.values()) == 1


@pytest.mark.parametrize("far", [INF, NAN, 1e300])
def test_far_value_of_a_value_window_is_late(far: float) -> None:
    fields = {"time": "int", "v": "float"}
    window = bx.value("v", 10, flush=True)
    net = network(lambda calls: calls.aggregate(window, rows="count()"), fields)
    found = bx.preview(net, {"calls": {"time": [1, 2, 3], "v": [1.0, far, 2.0]}})
    assert [row["rows"] for row in found["out0"].to_pylist()] == [2]
    assert of_type(found, "aggregate").late == 1


@pytest.mark.parametrize("time", [-FARTHEST_FLOAT, FARTHEST_FLOAT, 1e15])
def test_ends_of_the_range_fall_into_windows_of_any_size(time: float) -> None:
    for size in (1e-9, 0.001, 3, 1e15):

        def draw(calls: Stream, size: float = size) -> Stream:
            return calls.aggregate(bx.time(size, flush=True), rows="count()")

        net = network(draw, FLOATS)
        rows = run(net, calls={"time": [time], "n": [1]})[0]
        assert [row["rows"] for row in rows] == ([1] if time > 0 else [])


@pytest.mark.parametrize(
    ("window", "sentence"),
    [
        (bx.time(1e300), "expected at most"),
        (bx.time(10, origin=2**62), "expected at most"),
        (bx.time(1e5, advance=0.3333333333333333), "have too small a common divisor"),
    ],
)
def test_windows_too_large_to_count_with_are_refused(window: Any, sentence: str) -> None:
    net = network(lambda calls: calls.aggregate(window, rows="count()"), FLOATS)
    assert sentence in problems(net)[0]


def test_order_value_out_of_order_beyond_the_range_stays_a_tuple() -> None:
    """Without a sort it is a number like others, and overflows like them."""
    net = network(lambda calls: calls.map(time="time + n", n="n"), {"time": "int", "n": "int"})
    found = bx.preview(net, {"calls": {"time": [1, 2], "n": [1, 9 * 10**18]}})
    assert [row["time"] for row in found["out0"].to_pylist()] == [2, 9 * 10**18 + 2]
    assert found.dead.num_rows == 0
