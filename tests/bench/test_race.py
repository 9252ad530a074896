"""The race without the other engines: its reference is correct, and it detects differences."""

import doctest
import json
import sys
from importlib import import_module
from pathlib import Path

import duckdb
import polars as pl
import pytest
from rich.console import Console

import boxcars as bx

sys.path.append(str(Path(__file__).parents[2] / "bench" / "race"))
from _compare import closed, difference, read_rows
from _contest import Limits, Order, Task, measure, name_columns
from _report import Entry, report
from _workloads import SMALL, WINDOW, WORKLOADS, Workload, large_rows, small_data, write

WINDOWS = """
    SELECT start AS time, caller, count(*) AS n, avg(duration) AS mean
    FROM calls, LATERAL unnest(range(time // 10 * 10 - 50, time // 10 * 10 + 10, 10)) AS w(start)
    GROUP BY start, caller
"""
ORACLES = {
    "map-filter": """
        SELECT time, caller, price * 100 + 1 AS cents FROM calls
        WHERE price > 5 AND caller <> callee
    """,
    "sliding": f"SELECT * FROM ({WINDOWS}) WHERE n >= 3",
    "mobility": """
        WITH seen AS (
            SELECT caller AS phone, time, caller_x AS x, caller_y AS y FROM calls UNION ALL
            SELECT callee, time, callee_x, callee_y FROM calls),
        pairs AS (
            SELECT phone, lag(time) OVER past AS t1,
                sqrt((x - lag(x) OVER past) ** 2 + (y - lag(y) OVER past) ** 2)
                    / (time - lag(time) OVER past) AS speed
            FROM seen WINDOW past AS (PARTITION BY phone ORDER BY time))
        SELECT t1 AS time, phone, speed FROM pairs WHERE speed > 110
    """,
    "join": """
        SELECT l.time AS left_time, l.phone AS left_phone, l.x AS left_x,
            r.time AS right_time, r.phone AS right_phone, r.x AS right_x
        FROM "left" AS l JOIN "right" AS r ON l.phone = r.phone AND abs(l.time - r.time) < 60
    """,
    "aggregates": f"""
        SELECT time, count(*) AS callers, max(n) AS most, avg(n) AS mean FROM ({WINDOWS})
        GROUP BY time
    """,
}


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_boxcars_finds_what_sql_finds(workload: Workload):
    data = small_data(workload)
    net = workload.network()
    (output,) = net.outputs
    ours = pl.DataFrame(bx.preview(net, data, trains=5)[output]).select(workload.fields)
    with duckdb.connect() as connection:
        for name, frame in data.items():
            connection.register(name, frame)
        theirs = connection.sql(ORACLES[workload.name]).pl().select(workload.fields)
    if workload.windows:
        end = int(data["calls"]["time"].to_numpy().max())
        ours, theirs = closed(ours, end, WINDOW), closed(theirs, end, WINDOW)
    assert ours.height > 25
    assert difference(ours, theirs) is None


ROWS = pl.DataFrame({"time": [1, 2, 2], "phone": ["a", "b", "c"], "x": [0.5, 1e6, None]})


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        (ROWS.reverse(), None),
        (ROWS.with_columns(pl.all().cast(pl.String)), None),
        (ROWS.with_columns(pl.col("x") * (1 + 1e-10)), None),
        (ROWS.head(2), "3 rows against 2"),
        (ROWS.with_columns(pl.col("x") * (1 + 1e-8)), "row 0: (1, 'a', 0.5) against"),
        (ROWS.with_columns(phone=pl.lit("a")), "row 1: (2, 'b', 1000000.0) against (2, 'a', "),
        (ROWS.with_columns(pl.col("x").fill_null(0)), "row 2: (2, 'c', None) against (2, 'c', 0.0"),
    ],
)
def test_rows_are_compared_one_by_one(theirs: pl.DataFrame, said: str | None):
    found = difference(ROWS, theirs)
    assert found == said if said is None else (found or "").startswith(said)


def test_only_windows_that_are_closed_are_compared():
    assert closed(pl.DataFrame({"time": [0, 10, 20]}), 70, 60)["time"].to_list() == [0, 10]


def test_files_of_all_inputs_are_cut_at_the_same_rows(tmp_path: Path):
    frames = {name: pl.DataFrame({"time": range(10)}) for name in ("left", "right")}
    write(frames, (4, 8, 8), tmp_path / "data")
    assert json.loads((tmp_path / "data" / "rows.json").read_text()) == [4, 8, 8]
    files = Task("join", tmp_path / "data", 2, tmp_path / "out").files("csv")
    assert {name: len(paths) for name, paths in files.items()} == {"left": 2, "right": 2}
    assert pl.read_csv(files["left"][1])["time"].to_list() == [2, 3, 4, 5]
    first, second = (path.stat().st_mtime for path in files["right"])
    assert second - first == 1, "Spark would take them in any order"


def test_rows_are_read_from_either_kind_of_file(tmp_path: Path):
    frame = pl.DataFrame({"time": [1], "x": [0.5]})
    for kind in ("parquet", "csv"):
        (tmp_path / kind).mkdir()
    frame.write_parquet(tmp_path / "parquet" / "part.parquet")
    (tmp_path / "csv" / "part-0").write_text("1,0.5\n")
    name_columns(tmp_path / "csv", "time,x")
    for kind in ("parquet", "csv"):
        assert difference(frame, read_rows(tmp_path / kind, ["time", "x"])) is None


def test_large_data_has_all_its_rows():
    assert sum(large_rows(4_000_000)) == 4_000_000
    assert sum(SMALL) == 10_000


def test_a_round_has_as_much_data_as_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A job starts within a second, and then processes 100 rows per second."""
    (tmp_path / "rows.json").write_text(json.dumps([10, 20, 70, 100, 800, 1000]))
    totals = [10, 30, 100, 200, 1000, 2000]
    now = [0.0]
    monkeypatch.setattr("_contest.perf_counter", lambda: now[0])

    def job(task: Task):
        def run():
            now[0] += 1 + totals[task.parts - 1] / 100

        return run

    order = Order("join", tmp_path, tmp_path, tmp_path / "out", Limits(2, 3))
    result = measure(job, order)
    assert result.rows == 190
    assert result.seconds == pytest.approx([1.9] * 3)
    assert Order.read(order.arguments()) == order


def test_the_report_has_speeds_ratios_and_what_went_wrong(tmp_path: Path):
    entries = [
        Entry("join", "a join", "boxcars", "Boxcars", 1000, (1.0, 2.0, 9.0), 7),
        Entry("join", "a join", "flink", "Flink", 1000, (20.0,), 7),
        Entry("join", "a join", "bytewax", "Bytewax", trouble="Bytewax failed: <no> & never."),
    ]
    console = Console(record=True, width=100)
    report(entries, {"Flink": "exactly once"}, "measured", tmp_path, console)
    found = json.loads((tmp_path / "race.json").read_text())["entries"]
    assert [entry["speed"] for entry in found] == [500, 50, None]
    assert [entry["ratio"] for entry in found] == [1, 10, None]
    assert "10.0 x" in console.export_text()
    drawn = (tmp_path / "race.svg").read_text()
    assert "Bytewax failed: &lt;no&gt; &amp; never." in drawn


@pytest.mark.parametrize("name", ["_compare", "_contest", "_environments", "_workloads"])
def test_examples_of_docstrings(name: str):
    assert doctest.testmod(import_module(name)).failed == 0
