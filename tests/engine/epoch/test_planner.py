"""Plans of epochs by a fake clock: how far silent inputs follow the wall clock."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

import boxcars as bx
from boxcars.connectors.read.base import Offset, Portion, Reader
from boxcars.connectors.read.splits import FileSplit
from boxcars.engine.epoch.planner import Planner
from boxcars.engine.epoch.wall_clock import PACE
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.state.epoch_records import EpochPlan, Manifest
from boxcars.engine.state.state_files import StateRef
from boxcars.model.stream import Stream
from tests.engine.clocks import FakeClock

FIELDS = {"t": "timestamp", "k": "str"}
MICROS = 1_000_000


@dataclass
class Rows(Reader):
    """An input with some new rows, which are taken all at once."""

    new: int = 0
    endless: bool = True
    ended: bool = False

    def take(self, offset: Offset, rows: int) -> Portion:
        """All new rows."""
        start, stop = offset.position, offset.position + self.new
        self.new = 0
        splits = (FileSplit("rows", start, stop, start),) if stop > start else ()
        return Portion(splits, Offset(stop, ended=self.ended))


@dataclass
class Planned:
    """A planner of a network with one input, and the manifest of its last epoch."""

    clock: FakeClock = field(default_factory=FakeClock)
    rows: Rows = field(default_factory=Rows)
    given: dict[str, Any] = field(default_factory=lambda: {"ts": "t", "clock": "wall"})
    window: bx.Window = field(default_factory=lambda: bx.time(60))
    last: Manifest | None = None

    def __post_init__(self) -> None:
        net = bx.Network("n")
        stream: Stream = net.input("rows", **{"fields": FIELDS, **self.given})
        net.output("out", stream.aggregate(self.window, n="count()").named("counts"))
        self.planner = Planner({"rows": self.rows}, 10, net.check().network, self.clock.clocks)

    def next(self, waiting: int = 1) -> EpochPlan | None:
        """The next plan; its epoch is committed, with so many rows in the state of the box."""
        plan = self.planner.next(self.last)
        if plan is not None:
            heads = {} if self.last is None else dict(self.last.heads)
            seen = [*plan.ahead.values(), *plan.arrivals.values(), *heads.values()]
            heads = {"rows": max(seen)} if seen else {}
            ref = StateRef("counts", "counts", 0, "panes", "state/a.state", 0, 1, 1, waiting)
            greatest = replace(ref, box="rows", name="greatest", rows=1)
            state, shape = (ref, greatest), Shape(1, 1)
            self.last = Manifest(plan.epoch, "", plan.places, False, shape, state, heads)
        return plan

    def read(self, waiting: int = 1) -> EpochPlan:
        """An epoch that reads a row."""
        self.rows.new = 1
        plan = self.next(waiting)
        assert plan is not None
        assert plan.splits["rows"]
        return plan


@pytest.mark.parametrize(
    ("type_", "value"), [("timestamp", 1_002_500_000), ("int", 1002), ("float", 1002.5)]
)
def test_a_silent_input_follows_the_wall(type_: str, value: float) -> None:
    given = {"ts": "t", "clock": "wall", "fields": {"t": type_}}
    planned = Planned(given=given)
    assert planned.read().ahead == {}
    planned.clock.now += 2.5
    plan = planned.next()
    assert plan is not None
    assert (plan.ahead, plan.splits["rows"]) == ({"rows": value}, ())


def test_epochs_that_read_nothing_have_a_pace() -> None:
    planned = Planned()
    planned.read()
    found = []
    for _ in range(100):
        planned.clock.now += PACE / 10
        found.append(planned.next())
    assert sum(plan is not None for plan in found) == 10


def test_nothing_happens_without_a_state_that_waits() -> None:
    planned = Planned()
    planned.clock.now += 10
    assert planned.next() is None
    planned.read(waiting=0)
    planned.clock.now += 10
    assert planned.next() is None
    planned.read(waiting=1)
    planned.clock.now += 10
    assert planned.next() is not None


@pytest.mark.parametrize(
    ("window", "waits"),
    [
        (bx.tuples(2), False),
        (bx.landmark(emit="change"), False),
        (bx.tuples(2, timeout=5), True),
        (bx.landmark(emit={"every": 3, "by": "time"}), True),
    ],
)
def test_windows_that_only_tuples_change_do_not_wait_for_time(
    window: bx.Window, waits: bool
) -> None:
    planned = Planned(window=window)
    planned.read()
    planned.clock.now += 10
    assert (planned.next() is not None) is waits


def test_an_input_that_is_read_is_not_taken_along() -> None:
    """Tuples that are being read are not late, however old they are."""
    planned = Planned()
    planned.clock.now += 10
    assert planned.read().ahead == {}
    planned.clock.now += PACE / 2
    assert planned.next() is None


def test_the_clock_of_the_machine_is_set_back() -> None:
    planned = Planned()
    planned.read()
    planned.clock.now += 10
    assert planned.next() is not None
    planned.clock.now -= 5
    for _ in range(5):
        assert planned.next() is None
        planned.clock.now += PACE
    planned.clock.now += PACE
    plan = planned.next()
    assert plan is not None
    assert plan.ahead == {"rows": planned.clock.now * MICROS}


@pytest.mark.parametrize("given", [{"ts": "t"}, {"ts": "t", "clock": "event"}])
def test_event_time_stands_still(given: dict[str, Any]) -> None:
    planned = Planned(given=given)
    planned.read()
    planned.clock.now += 100
    assert planned.next() is None


def test_finite_and_ended_inputs_have_no_wall() -> None:
    planned = Planned(rows=Rows(endless=False))
    planned.read()
    planned.clock.now += 100
    assert planned.next() is None
    planned = Planned()
    planned.rows.ended = True
    assert planned.read().ahead == {}


def test_arrival_times() -> None:
    """They never decrease, and a silent input follows the wall."""
    planned = Planned(given={"ts": "arrival", "fields": {"k": "str"}})
    assert planned.read().arrivals == {"rows": 1000 * MICROS}
    planned.clock.now -= 3
    assert planned.read().arrivals == {"rows": 1000 * MICROS}
    planned.clock.now += 10
    plan = planned.next()
    assert plan is not None
    assert (plan.ahead, plan.arrivals) == ({"rows": 1007 * MICROS}, {})
    assert EpochPlan.of(plan.plain()) == plan
