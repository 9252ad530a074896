from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import boxcars as bx
from boxcars.model.problem import BoxcarsError, Wrong

FIELDS = {"time": "int", "price": "float"}
COLUMNS = {"time": [1, 2, 3], "price": [0.5, 3.0, None]}


def passing(fields: dict[str, str] | None = None, **more: Any) -> bx.Network:
    net = bx.Network("n")
    net.output("out", net.input("calls", ts="time", fields=fields or FIELDS, **more))
    return net


@pytest.mark.parametrize(
    "source",
    [
        COLUMNS,
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
        [{"time": 1, "price": 0.5}, {"time": 2, "price": 3.0}, {"time": 3, "price": None}],
    ],
    ids=lambda source: type(source).__name__,
)
def test_any_source(source: object) -> None:
    assert bx.preview(passing(), {"calls": source})["out"].to_pydict() == COLUMNS


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "arrow"])
def test_files(tmp_path: Path, suffix: str) -> None:
    from boxcars.connectors.files import write_table

    path = tmp_path / f"calls.{suffix}"
    write_table(pa.table(COLUMNS), path)
    assert bx.preview(passing(), {"calls": path})["out"].to_pydict() == COLUMNS
    assert bx.preview(passing(), {"calls": str(tmp_path)})["out"].num_rows == 3


def test_a_folder_of_parts(tmp_path: Path) -> None:
    for part in (0, 1):
        pl.DataFrame({"time": [part], "price": [1.0]}).write_parquet(tmp_path / f"{part}.parquet")
    assert bx.preview(passing(), {"calls": f"{tmp_path}/"})["out"]["time"].to_pylist() == [0, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"time": [1]}, "input 'calls': the data has no field 'price'. There is: time."),
        (
            {"time": ["x"], "price": [True]},
            "input 'calls': field 'price' is Boolean in the data, expected a float.",
        ),
        ({"time": [1.5], "price": [1.0]}, "field 'time' is Float64 in the data, expected an int."),
        ("nothing.parquet", "input 'calls': nothing.parquet: there is no such file."),
        ("calls.txt", "there is no such file"),
        (5, "expected a path, an Arrow table"),
        ({"time": [1, "a"], "price": [1.0, 2.0]}, "expected a path, an Arrow table"),
    ],
)
def test_sources_that_do_not_fit(source: object, message: str) -> None:
    with pytest.raises(Wrong) as error:
        bx.preview(passing(), {"calls": source})
    assert message in str(error.value)


def test_sources_by_name() -> None:
    with pytest.raises(Wrong, match="there is no input 'cals'. Did you mean 'calls'"):
        bx.preview(passing(), {"cals": COLUMNS})
    with pytest.raises(Wrong, match="input 'calls' has no source"):
        bx.preview(passing(), {})
    with pytest.raises(Wrong, match="at least one train"):
        bx.preview(passing(), {"calls": COLUMNS}, trains=0)


def test_a_file_that_is_not_what_its_name_says(tmp_path: Path) -> None:
    path = tmp_path / "calls.parquet"
    path.write_text("no parquet")
    with pytest.raises(BoxcarsError, match="can't be read as parquet"):
        bx.preview(passing(), {"calls": path})


class TestDeadLetters:
    """The documented behaviour for each kind of invalid record (docs/explanation/values.md)."""

    def test_null_order_attribute(self) -> None:
        result = bx.preview(passing(), {"calls": {"time": [1, None, 3], "price": [1.0, 2.0, 3.0]}})
        assert result["out"]["time"].to_pylist() == [1, 3]
        assert result.dead.to_pylist() == [
            {
                "source": "calls",
                "record": b'{"time":null,"price":2.0}',
                "reason": "time: the order attribute is null",
            }
        ]
        assert result.stats["calls"].dead == 1

    def test_order_attribute_that_is_not_a_number(self) -> None:
        net = passing({"time": "float"})
        result = bx.preview(net, {"calls": {"time": [1.0, float("nan")]}})
        assert result["out"]["time"].to_pylist() == [1.0]
        assert result.dead["reason"].to_pylist() == ["time: the order attribute is not a number"]

    def test_text_that_is_no_number(self) -> None:
        data = {"time": ["1", "x", "3"], "price": ["1.5", "2", "y"]}
        result = bx.preview(passing(), {"calls": data}, trains=2)
        assert result["out"].to_pylist() == [{"time": 1, "price": 1.5}]
        assert result.dead["reason"].to_pylist() == [
            "time: 'x' is not an int",
            "price: 'y' is not a float",
        ]

    def test_corrupt_lines_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "calls.csv"
        path.write_text("time,price\n1,0.5\n2,much\n3\n99999999999999999999,1\n5,2.5\n")
        result = bx.preview(passing(), {"calls": path})
        assert result["out"]["time"].to_pylist() == [1, 5]
        assert result.dead["record"].to_pylist() == [b"2,much", b"3", b"99999999999999999999,1"]
        assert result.dead["source"].to_pylist() == ["calls"] * 3


def test_what_can_not_be_computed_is_null() -> None:
    net = bx.Network("n")
    n = net.input("n", ts="t", fields={"t": "int", "x": "int", "s": "str"})
    mapped = n.map(
        t="t",
        division="x / 0",
        whole="x // 0",
        modulo="x % 0",
        cast="cast(s as int)",
        root="sqrt(x - 10)",
        overflow="x + 9223372036854775807",
    )
    net.output("out", mapped)
    out = bx.preview(net, {"n": {"t": [1], "x": [1], "s": ["five"]}})["out"].to_pylist()
    assert out == [
        {
            "t": 1,
            "division": None,
            "whole": None,
            "modulo": None,
            "cast": None,
            "root": None,
            "overflow": -(2**63),
        }
    ]


class TestLate:
    def net(self, slack: float) -> bx.Network:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields={"time": "int"}, slack=slack)
        net.output("in-order", calls)
        net.output("late", calls.late)
        return net

    @pytest.mark.parametrize("trains", [1, 2, 3, 7])
    def test_slack_puts_back_in_order(self, trains: int) -> None:
        times = [5, 3, 6, 4, 9, 7, 6]
        result = bx.preview(self.net(2), {"calls": {"time": times}}, trains=trains)
        assert result["in-order"]["time"].to_pylist() == [3, 4, 5, 6, 7, 9]
        assert result["late"]["time"].to_pylist() == [6]
        assert result.stats["calls"].late == 1

    def test_timestamps_have_slack_in_seconds(self) -> None:
        from datetime import datetime, timedelta

        start = datetime(2026, 1, 1)
        times = [start + timedelta(seconds=s) for s in (10, 8.5, 7)]
        net = bx.Network("n")
        net.output("out", net.input("i", ts="at", fields={"at": "timestamp"}, slack=1.5))
        result = bx.preview(net, {"i": {"at": times}})
        assert result["out"]["at"].to_pylist() == [times[1], times[0]]


def test_chains_run_as_one_pipeline_and_still_count() -> None:
    net = bx.Network("n")
    n = net.input("n", ts="t", fields={"t": "int"})
    a = n.map(t="t", x="t * 2").named("a")
    b = a.filter("x % 4 = 0").named("b")
    c = b.map(t="t", x="x + 1").named("c")
    d = c.filter("x > 9").named("d")
    e = d.map(t="t").named("e")
    net.output("out", e)
    stats = bx.preview(net, {"n": {"t": list(range(20))}}, trains=4).stats
    assert [(stats[k].tuples_in, stats[k].total_out) for k in "abcde"] == [
        (20, 20),
        (20, 10),
        (10, 10),
        (10, 7),
        (7, 7),
    ]
    assert [stats[k].fused_into for k in "abcde"] == ["e", "e", "e", "e", ""]
    assert stats["e"].seconds > 0


def test_a_network_that_is_wrong_does_not_run() -> None:
    net = bx.Network("n")
    net.output("out", net.input("n", ts="t", fields={"t": "int"}).filter("x > 1").named("f"))
    with pytest.raises(bx.NetworkError, match="unknown field 'x'"):
        bx.preview(net, {"n": {"t": [1]}})
