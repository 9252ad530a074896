"""Aurora's modifyNetwork: a run resumes with a changed network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import boxcars as bx

FIELDS = {"t": "int", "who": "str", "x": "float"}
SPLIT = 60
"""Number of tuples that go through the old network."""


def rows(first: int, stop: int) -> list[dict[str, Any]]:
    return [{"t": n, "who": "abc"[n * 7 % 3], "x": float(n % 11)} for n in range(first, stop)]


def network(limit: int = 3, more: bool = False) -> bx.Network:
    """Counts by key, then a filter; optionally sums, also of another input."""
    net = bx.Network("n")
    feed = net.input("rows", ts="t", fields=FIELDS)
    counts = feed.aggregate(bx.time(30, advance=10), by="who", n="count()").named("count")
    net.output("busy", counts.filter(f"n > {limit}").named("busy"))
    if more:
        other = net.input("others", ts="t", fields=FIELDS)
        both = (feed | other).named("both")
        net.output("sums", both.aggregate(bx.tuples(4), by="who", s="sum(x)").named("sum"))
    return net


@pytest.fixture
def go(spark: SparkSession, tmp_path: Path) -> Callable[..., dict[str, list[Any]]]:
    """Run a network with the same checkpoint until it has read enough; return all its output."""
    found: dict[str, list[Any]] = {}

    def go(
        net: bx.Network, sources: Any, *, to: int = 999, instances: int = 2, modify: bool = True
    ) -> Any:
        def tell(status: bx.Status) -> None:
            if status.read["rows"] >= to:
                running[0].stop()

        def collect(name: str) -> Any:
            return bx.callback(
                lambda table, _: found.setdefault(name, []).extend(table.to_pylist())
            )

        running: list[bx.Run] = []
        run = bx.run(
            net,
            sources,
            {name: collect(name) for name in net.outputs},
            checkpoint=tmp_path / "c",
            epoch_rows=20,
            instances=instances,
            modify=modify,
            spark=spark,
            tell=tell,
        )
        running.append(run)
        run.wait()
        return found

    return go


@pytest.mark.parametrize("instances", [1, 2, 3])
def test_unchanged_boxes_continue_as_if_nothing_was_changed(go: Any, instances: int) -> None:
    stop = 160
    go(network(), {"rows": rows(0, stop)}, to=SPLIT)
    found = go(
        network(more=True), {"rows": rows(0, stop), "others": rows(0, 40)}, instances=instances
    )
    expected = bx.preview(network(), {"rows": rows(0, stop)})["busy"].to_pylist()
    assert found["busy"] == expected
    later = {"rows": rows(SPLIT - 1, stop), "others": rows(0, 40)}
    assert found["sums"] == bx.preview(network(more=True), later)["sums"].to_pylist()


def test_a_new_box_continues_from_retained_state_upstream(go: Any) -> None:
    given = rows(0, 160)
    go(network(limit=3), {"rows": given}, to=SPLIT)
    before = bx.preview(network(limit=3), {"rows": rows(0, SPLIT)})["busy"].to_pylist()
    found = go(network(limit=9), {"rows": given})
    after = bx.preview(network(limit=9), {"rows": rows(0, 160)})["busy"].to_pylist()
    assert found["busy"] == before + [row for row in after if row not in before]
    assert len(before) > 0 < len(after)


def test_a_changed_box_starts_with_an_empty_state(go: Any) -> None:
    given = rows(0, 160)

    def wider(size: int) -> bx.Network:
        net = bx.Network("n")
        feed = net.input("rows", ts="t", fields=FIELDS)
        net.output("counts", feed.aggregate(bx.tuples(size), by="who", n="count()").named("count"))
        return net

    go(wider(7), {"rows": given}, to=SPLIT)
    found = go(wider(5), {"rows": given})
    before = bx.preview(wider(7), {"rows": rows(0, SPLIT)})["counts"].to_pylist()
    after = bx.preview(wider(5), {"rows": rows(SPLIT - 1, 160)})["counts"].to_pylist()
    assert found["counts"] == before + after


def test_an_input_can_be_taken_away(go: Any) -> None:
    given = rows(0, 160)
    go(network(more=True), {"rows": given, "others": rows(0, 40)}, to=SPLIT)
    found = go(network(), {"rows": given})
    assert found["busy"] == bx.preview(network(), {"rows": rows(0, 160)})["busy"].to_pylist()


def test_it_is_refused_without_modify(go: Any) -> None:
    go(network(), {"rows": rows(0, 160)}, to=SPLIT)
    with pytest.raises(bx.BoxcarsError, match="keep their state. Use --modify to resume"):
        go(network(limit=4), {"rows": rows(0, 160)}, modify=False)


def test_changes_that_would_lose_tuples_are_refused(go: Any) -> None:
    go(network(), {"rows": rows(0, 160)}, to=SPLIT)
    slack = bx.Network("n")
    feed = slack.input("rows", ts="t", fields=FIELDS, slack=3)
    slack.output("busy", feed.aggregate(bx.time(5), by="who", n="count()"))
    stateless = bx.Network("n")
    stateless.output("out", stateless.input("rows", ts="t", fields=FIELDS).filter("x > 1"))
    other = bx.Network("n")
    feed = other.input("rows", ts="t", fields=FIELDS)
    other.output("busy", feed.aggregate(bx.time(5), by="who", m="count()"))
    writing = bx.Network("n")
    writing.table("seen", fields={"who": "str"})
    feed = writing.input("rows", ts="t", fields=FIELDS)
    writing.output("busy", feed.insert("INSERT INTO seen VALUES (who)"))
    for net, sentence in (
        (slack, "input 'rows' has changed: give the changed input a new name"),
        (stateless, "--modify can't add the first stateful or drop box"),
        (other, "output 'busy' has different fields"),
        (writing, "--modify does not support networks that write stored tables"),
    ):
        with pytest.raises(bx.BoxcarsError, match=sentence):
            go(net, {"rows": rows(0, 160)})


def test_a_finished_run_has_nothing_to_go_on_with(go: Any) -> None:
    go(network(), {"rows": rows(0, 30)})
    with pytest.raises(bx.BoxcarsError, match="this run has finished and read all of its input"):
        go(network(limit=4), {"rows": rows(0, 30)})


def own_network(factor: int) -> bx.Network:
    """A network whose counts depend on a user's function; its sums do not."""

    @bx.function
    def scaled(x):
        return x * factor

    net = bx.Network("own")
    feed = net.input("rows", ts="t", fields=FIELDS)
    scaled_rows = feed.map(t="t", who="who", x="scaled(x)").named("scaled")
    last = scaled_rows.aggregate(bx.tuples(2), by="who", x="sum(x)").named("last")
    net.output("last", last)
    net.output("sums", feed.aggregate(bx.tuples(4), by="who", s="sum(x)").named("sum"))
    return net


def test_a_changed_function_is_a_changed_network(go: Any) -> None:
    source = {"rows": rows(0, 160)}
    go(own_network(2), source, to=SPLIT)
    number = len(go(own_network(2), source, to=SPLIT + 20, modify=False)["last"])
    told = (
        "The code of function scaled has changed. These boxes would start with an empty state: "
        "last; all others would keep theirs. Use --modify"
    )
    with pytest.raises(bx.BoxcarsError, match=told):
        go(own_network(3), source, modify=False)
    after = go(own_network(3), source)
    assert after["sums"] == bx.preview(own_network(3), source)["sums"].to_pylist()
    assert {row["x"] % 3 for row in after["last"][number:]} == {0}
