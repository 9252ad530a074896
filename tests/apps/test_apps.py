"""Every application: its data, its results compared with an independent computation, on Spark."""

import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.apps import App, apps, find_app, judge

ROWS = {"default": 30_000, "feed-monitor": 150_000, "environment": 60_000, "siem": 120_000}
"""Number of tuples per test; some applications need more for all cases to occur."""

ELSEWHERE = {"siem"}
"""Applications whose independent computation is in other tests: tests/ossim."""

every_app = pytest.mark.parametrize("app", apps().values(), ids=lambda app: app.name)


class Generated:
    """The complete data of an application, with its cases and tables."""

    def __init__(self, app: App, rows: int = 0, seed: int = 1) -> None:
        self.rows = rows or ROWS.get(app.name, ROWS["default"])
        feed = app.feed(self.rows, seed)
        self.planted, self.tables = feed.planted, feed.tables
        chunks = list(feed.chunks)
        inputs = app.build().inputs
        self.data = {name: pl.concat([c[name] for c in chunks if name in c]) for name in inputs}


def plain(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows in canonical order, with floats rounded to ignore the last digits."""

    def value(item: Any) -> Any:
        finite = isinstance(item, float) and math.isfinite(item)
        return float(f"{item:.9g}") if finite else item

    return sorted(
        (tuple((name, value(row[name])) for name in sorted(row)) for row in rows), key=repr
    )


@every_app
def test_the_data(app: App) -> None:
    """The requested number of tuples, sorted, with the input's fields; reproducible by seed."""
    one, two, other = Generated(app), Generated(app), Generated(app, seed=2)
    assert sum(frame.height for frame in one.data.values()) == one.rows
    assert any(not frame.equals(other.data[name]) for name, frame in one.data.items())
    for name, entity in app.build().inputs.items():
        assert_frame_equal(one.data[name], two.data[name])
        assert dict(one.data[name].schema) == entity.schema.dtypes
        assert one.data[name][entity.ts].is_sorted()


@every_app
@pytest.mark.parametrize("rows", [1, 10, 300])
def test_any_size(app: App, rows: int) -> None:
    small = Generated(app, rows)
    assert sum(frame.height for frame in small.data.values()) == rows
    bx.preview(app.build(), small.data, tables=small.tables)


@every_app
def test_what_it_gives(app: App) -> None:
    """Results equal an independent computation; all cases are found, without false alarms."""
    made = Generated(app)
    result = bx.preview(app.build(), made.data, trains=3, tables=made.tables)
    if app.name not in ELSEWHERE:
        module = import_module(f"tests.apps.expected.{app.name.replace('-', '_')}")
        expected = module.expected(made.data, made.tables)
        assert set(expected) == set(result)
        for name, rows in expected.items():
            assert plain(result[name].to_pylist()) == plain(rows), name
    assert_judged(made, {name: pl.DataFrame(table) for name, table in result.items()})


def assert_judged(made: Generated, outputs: Mapping[str, pl.DataFrame]) -> None:
    verdicts = {name: judge(cases, outputs[name]) for name, cases in made.planted.items()}
    assert any(verdict.found.height for verdict in verdicts.values()), "something is planted"
    for name, verdict in verdicts.items():
        assert (verdict.missed.to_dicts(), verdict.false.to_dicts()) == ([], []), name


@every_app
def test_on_spark(app: App, spark: SparkSession, tmp_path: Path) -> None:
    """The same bytes with 1, 2 and 8 instances, and the rows of a preview."""
    made, net = Generated(app), app.build()
    preview = bx.preview(net, made.data, tables=made.tables)
    parts: list[dict[str, bytes]] = []
    for instances in (1, 2, 8):
        folder = tmp_path / str(instances)
        sinks = {name: folder / name for name in net.outputs}
        bx.run(
            net,
            made.data,
            sinks,
            tables=made.tables,
            epoch_rows=made.rows // 2 + 1,
            instances=instances,
            spark=spark,
        ).wait()
        found = sorted(folder.rglob("part-*.parquet"))
        parts.append({str(path.relative_to(folder)): path.read_bytes() for path in found})
        if instances == 1:
            for name, sink in sinks.items():
                whole = pl.DataFrame(preview[name])
                got = [pl.read_parquet(path) for path in sorted(sink.glob("part-*"))]
                assert_frame_equal(pl.concat([whole.clear(), *got]), whole)
    assert parts[0] == parts[1] == parts[2]


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(bx.BoxcarsError, match="no application 'high-mobilty'.*'high-mobility'"):
        find_app("high-mobilty")
