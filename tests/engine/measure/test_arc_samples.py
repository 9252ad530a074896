"""Samples of the arcs of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.measure.arc_samples import PEEKED
from boxcars.model.problem import BoxcarsError


def network() -> bx.Network:
    """A chain that runs as one pipeline, followed by a keyed box, and a box with two outputs."""
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int", "who": "str"})
    double = rows.map(t="t", who="who", twice="2 * t").named("double")
    high = double.filter("twice >= 10").named("high")
    net.output("counts", high.aggregate(bx.time(10), by="who", n="count()").named("count"))
    some = rows.filter("t % 2 = 0", otherwise=True).named("even")
    net.output("even", some)
    net.output("odd", some["else"])
    return net


def rows(first: int, stop: int) -> dict[str, list[object]]:
    return {"t": list(range(first, stop)), "who": ["ab"[n % 2] for n in range(first, stop)]}


@pytest.fixture
def running(spark: SparkSession) -> Iterator[bx.Run]:
    run = bx.run(network(), {"rows": "enqueue://"}, instances=2, spark=spark)
    yield run
    run.stop()


def test_every_arc_shows_its_last_tuples(running: bx.Run) -> None:
    arcs = ("rows", "double", "high", "count", "even", "even.else")
    for arc in arcs:
        assert running.peek(arc, seconds=0).num_rows == 0
    running.enqueue("rows", rows(0, 101))
    seen = {arc: running.peek(arc, seconds=20).to_pylist() for arc in arcs}
    assert seen["rows"][-1] == {"t": 99, "who": "b"}
    assert len(seen["rows"]) == PEEKED
    assert seen["double"][-1] == {"t": 99, "who": "b", "twice": 198}
    assert [row["t"] for row in seen["high"]] == list(range(80, 100))
    assert [row["t"] for row in seen["even"]] == list(range(60, 100, 2))
    assert [row["t"] for row in seen["even.else"]] == list(range(61, 100, 2))
    counted = sorted((row["t"], row["who"], row["n"]) for row in seen["count"])
    assert counted[:2] == [(0, "a", 2), (0, "b", 3)]
    assert counted[2:] == [(t, who, 5) for t in range(10, 100, 10) for who in "ab"]


def test_a_sample_stays_until_new_tuples_arrive(running: bx.Run) -> None:
    running.peek("rows", seconds=0)
    running.enqueue("rows", rows(0, 5))
    assert running.peek("rows", seconds=20)["t"].to_pylist() == [0, 1, 2, 3]
    assert running.peek("rows", seconds=20)["t"].to_pylist() == [0, 1, 2, 3]


def test_an_arc_that_is_not_there(running: bx.Run) -> None:
    with pytest.raises(BoxcarsError, match=r"there is no arc 'doubel'. Did you mean 'double'\?"):
        running.peek("doubel")


def test_a_network_that_writes_tables(spark: SparkSession, tmp_path: Path) -> None:
    net = bx.Network("n")
    feed = net.input("rows", ts="t", fields={"t": "int", "who": "str"})
    net.table("seen", fields={"who": "str"}, key="who")
    net.output("all", feed.filter("t >= 0").named("old").insert("INSERT INTO seen VALUES (who)"))
    run = bx.run(net, {"rows": "enqueue://"}, checkpoint=tmp_path, spark=spark)
    run.peek("old", seconds=0)
    run.enqueue("rows", {"t": [1, 2], "who": ["ann", "bob"]})
    assert run.peek("old", seconds=20).to_pylist() == [{"t": 1, "who": "ann"}]
    run.stop()
