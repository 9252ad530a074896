"""The events of a run: of its driver, with a clock of the test, and of a run on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.read.base import Offset
from boxcars.control.decisions import Decision, Requests
from boxcars.engine.driver import Driver, StoredTables
from boxcars.engine.epoch.planner import Planner
from boxcars.engine.layout.pieces import Shape, make_layout
from boxcars.engine.measure.dead_letter_reasons import Reason
from boxcars.engine.run_events import RunEvents
from boxcars.engine.state.checkpoint import Checkpoint
from boxcars.engine.state.epoch_records import EpochPlan, Manifest
from boxcars.events.event import Event, Kind
from boxcars.events.event_log import CURRENT
from boxcars.model.problem import BoxcarsError
from boxcars.sim.storage import MemoryStorage
from boxcars.sim.tiny_network import (
    BUCKETS,
    COUNTS,
    NoLetters,
    Numbers,
    Published,
    TinyExecutor,
    network_text,
)
from tests.patience import PATIENCE, until


class Told:
    """Events, with a clock that the test sets."""

    def __init__(self) -> None:
        self.found: list[Event] = []
        self.now = 100.0
        self.events = RunEvents(self.found.append, lambda: self.now)

    def lose(self, at: float, lost: Mapping[str, Mapping[str, int]]) -> None:
        """Commit an epoch that loses tuples."""
        self.now = at
        dead = {name: {"bad": Reason(n["dead"], "x")} for name, n in lost.items() if n["dead"]}
        self.events.committed(manifest(1), lost, dead)


def manifest(epoch: int, final: bool = False, rows: int = 0) -> Manifest:
    return Manifest(epoch, "", {"calls": Offset(rows)}, final, Shape(1, 4))


def plan(epoch: int, *decisions: Decision) -> EpochPlan:
    return EpochPlan(epoch, {}, {}, decisions=decisions)


def test_losses_are_told_at_once_and_then_summed_up() -> None:
    told = Told()
    both = {"calls": {"late": 1, "dead": 2}}
    told.lose(100.0, both)
    assert [(e.at, e.kind, e.box, e.figures, e.cause) for e in told.found] == [
        (100.0, Kind.LATE, "calls", {"tuples": 1}, "1 tuple arrived too late and was dropped."),
        (100.0, Kind.DEAD, "calls", {"tuples": 2}, "2 dead letters: 2 x bad (x)."),
    ]
    told.found.clear()
    told.lose(101.0, both)
    told.lose(109.0, {**both, "pairs": {"late": 7, "dead": 0}})
    assert [(e.kind, e.box) for e in told.found] == [(Kind.LATE, "pairs")]
    told.now = 110.0
    told.events.tell_losses()
    assert [e.cause for e in told.found[1:]] == [
        "2 tuples arrived too late and were dropped.",
        "4 dead letters: 4 x bad (x).",
    ]


def test_the_rest_of_the_losses_is_told_at_the_end() -> None:
    told = Told()
    for _ in range(3):
        told.lose(100.0, {"calls": {"late": 1, "dead": 0}})
    told.events.ended(None, None, None)
    assert [(str(e.kind), e.figures) for e in told.found] == [
        ("late", {"tuples": 1}),
        ("late", {"tuples": 2}),
        ("stopped", {}),
    ]


def test_decisions_say_what_they_were_taken_from() -> None:
    told = Told()
    owners = Decision("count", 2, (0, 1, 1, 1), "balancer", "one instance is busy", {"share": 0.9})
    told.events.planned(plan(7, Decision("count", 4), owners), {"count": 2})
    first, second = told.found
    assert first.cause == "user: 'count' runs on 4 instances instead of 2."
    assert (first.epoch, first.box, first.figures) == (7, "count", {"instances": 4, "before": 2})
    assert second.cause == (
        "balancer: 'count' runs on 2 instances with other owners of its buckets (one instance is "
        "busy)."
    )
    assert second.figures["share"] == 0.9


def test_a_slow_epoch_after_many_quick_ones() -> None:
    told = Told()
    for _ in range(20):
        told.events.took(0.5)
    assert told.found == []
    told.events.planned(plan(21), {})
    told.events.committed(manifest(21, rows=99), {}, {})
    told.events.took(5.0)
    (slow,) = told.found
    assert (slow.kind, slow.epoch) == (Kind.SLOW_EPOCH, 21)
    assert slow.figures == {"seconds": 5.0, "median": 0.5, "rows": 99}


def test_the_ends_of_a_run() -> None:
    told = Told()
    told.events.started(manifest(3), {"count": 2})
    told.events.retried(plan(4))
    error = BoxcarsError("output 'alarms': it is full.")
    told.events.ended(BoxcarsError, error, None)
    told.events.started(manifest(3, final=True), {})
    told.events.ended(None, None, None)
    assert [(str(e.kind), e.epoch, e.box) for e in told.found] == [
        ("started", 3, ""),
        ("retried", 4, ""),
        ("failed", 4, "alarms"),
        ("started", 3, ""),
        ("finished", 3, ""),
    ]


def network() -> bx.Network:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int", "who": "str"})
    net.output("counts", rows.aggregate(bx.time(10), by="who", n="count()").named("count"))
    return net


def test_a_run_with_a_late_tuple_a_dead_letter_a_resize_and_a_failure(
    spark: SparkSession, tmp_path: Path
) -> None:
    ends = {"rows": "enqueue://"}, {"counts": bx.callback(fails_when_told)}
    running = bx.run(network(), *ends, checkpoint=tmp_path, instances=1, spark=spark)
    running.enqueue("rows", {"t": [50, 60], "who": ["ann", "ann"]})
    until(lambda: running.status().epoch == 1)
    (subquery,) = (name for name in running.instances if "count" in name)
    running.resize(subquery, 2)
    running.enqueue("rows", {"t": [10, 70, None], "who": ["ann", "bob", "cid"]})
    until(lambda: running.status().epoch == 2)
    FAILING.append(True)
    running.enqueue("rows", {"t": [90], "who": ["ann"]})
    with pytest.raises(BoxcarsError, match="the disk burns"):
        running.wait(PATIENCE)
    FAILING.clear()
    found = running.events()
    assert [event.number for event in found] == list(range(1, len(found) + 1))
    kinds = {str(event.kind): event for event in found}
    assert list(kinds) == ["started", "decision", "late", "dead", "failed"]
    late, dead, decision, failed = (kinds[k] for k in ("late", "dead", "decision", "failed"))
    assert (late.box, late.epoch, late.figures) == ("rows", 2, {"tuples": 1})
    assert (dead.box, dead.epoch, dead.figures) == ("rows", 2, {"tuples": 1})
    assert (decision.box, decision.epoch) == (subquery, 2)
    assert decision.figures == {"instances": 2, "before": 1}
    assert "run.resize" in decision.cause
    assert (failed.box, failed.epoch) == ("counts", 3)
    assert "the disk burns" in failed.cause
    again = bx.run(network(), *ends, checkpoint=tmp_path, instances=1, spark=spark)
    again.stop()
    assert [str(e.kind) for e in again.events(after=found[-1].number)] == ["started", "stopped"]
    assert again.events(after=found[-1].number)[0].cause == "the run resumed after epoch 3."


FAILING: list[bool] = []


def fails_when_told(*_: object) -> None:
    if FAILING:
        raise ValueError("the disk burns")


def test_a_run_that_cannot_start(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BoxcarsError, match="there is no such file"):
        bx.run(network(), {"rows": "no.csv"}, checkpoint=tmp_path, spark=spark)
    rows = {"t": [1], "who": ["ann"]}
    running = bx.run(network(), {"rows": rows}, checkpoint=tmp_path, spark=spark)
    running.wait(PATIENCE)
    failed, *rest = running.events()
    assert (failed.kind, failed.box) == (Kind.FAILED, "rows")
    assert [str(event.kind) for event in rest] == ["started", "finished"]


def test_a_log_that_cannot_be_written_stops_no_run(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / CURRENT).mkdir()
    rows = {"t": [1], "who": ["ann"]}
    running = bx.run(network(), {"rows": rows}, checkpoint=tmp_path, spark=spark)
    assert running.wait(PATIENCE).state == "finished"
    assert running.events() == ()


class Dies(Exception):
    """The process of a driver ends here."""


def driver(storage: MemoryStorage, told: Told, dies: list[bool], requests: Requests) -> Driver:
    """A driver on simulated storage, whose executor dies once if ``dies`` has an entry."""

    def tick() -> None:
        if dies:
            dies.pop()
            raise Dies

    checkpoint = Checkpoint(storage)
    checkpoint.claim()
    text, shape = network_text(), Shape(1, BUCKETS)
    net = make_layout(text, shape).checked.network
    return Driver(
        text,
        text,
        checkpoint,
        Planner({"rows": Numbers(Random(7))}, 10, net),
        {"out": Published(storage)},
        NoLetters(),
        TinyExecutor(tick),
        shape,
        StoredTables({}, {}, Path()),
        Path("nowhere"),
        controllers=[requests],
        events=told.events,
    )


def test_a_driver_tells_decisions_once_and_the_retries_of_their_epoch() -> None:
    storage, told, requests = MemoryStorage(), Told(), Requests()
    requests.put(Decision(COUNTS, 3, why="run.resize"))
    first = driver(storage, told, [True], requests)
    plan_ = first.plan(None)
    assert plan_ is not None
    with pytest.raises(Dies):
        first.run(plan_, None)
    second = driver(storage, told, [], requests)
    again = second.plan(None)
    assert again is not None
    second.run(again, None)
    assert [(str(e.kind), e.epoch, e.box) for e in told.found] == [
        ("decision", 1, COUNTS),
        ("retried", 1, ""),
    ]
