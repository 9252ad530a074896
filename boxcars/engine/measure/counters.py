"""Counters of pieces in an epoch, and their totals over all epochs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from typing import Any

import polars as pl

from boxcars.engine.flow.stepper import Stepper
from boxcars.engine.measure.dead_letter_reasons import DeadReasons, add_reasons, read_reasons
from boxcars.kernels.contract import State, Stateful
from boxcars.kernels.ordering.sorting import WAITING
from boxcars.model.arc import LATE, Arc
from boxcars.model.entities import Output


@dataclass(frozen=True)
class Counts:
    """Counters of an input or a box, and its current queue and state size.

    A tuple that goes to several pieces of a box counts in each of them. ``seconds`` is the
    wall-clock time of each piece. ``queue`` is the number of unprocessed tuples that wait for the
    frontier (in an input: for its slack). The state includes them and everything else that is
    retained for the next epoch; its bytes are the size of its columns in memory.
    """

    tuples_in: int = 0
    tuples_out: int = 0
    late: int = 0
    dead: int = 0
    seconds: float = 0.0
    queue: int = 0
    state_rows: int = 0
    state_bytes: int = 0

    def then(self, later: Counts) -> Counts:
        """Add the counters of a later epoch; queue and state size are those of the later one."""
        return Counts(
            self.tuples_in + later.tuples_in,
            self.tuples_out + later.tuples_out,
            self.late + later.late,
            self.dead + later.dead,
            self.seconds + later.seconds,
            later.queue,
            later.state_rows,
            later.state_bytes,
        )


def sum_counts(pieces: Iterable[Counts]) -> Counts:
    """Sum the counters of parallel pieces."""
    rows = [asdict(piece) for piece in pieces]
    return Counts(*(sum(column) for column in zip(*(row.values() for row in rows), strict=True)))


@dataclass(frozen=True)
class BoxTotals:
    """Totals of a box since the start, and of its pieces since the layout last changed."""

    whole: Counts = Counts()
    pieces: tuple[Counts, ...] = ()

    def then(self, pieces: tuple[Counts, ...]) -> BoxTotals:
        """Add the counters of its pieces in an epoch."""
        pairs = zip_longest(self.pieces, pieces, fillvalue=Counts())
        added = tuple(before.then(later) for before, later in pairs)
        return BoxTotals(self.whole.then(sum_counts(pieces)), added)


@dataclass(frozen=True)
class Totals:
    """Totals of all inputs and boxes since the start, and the tuples of each output.

    ``worth`` is the sum of the utilities of the tuples of each output that has a QoS graph of
    values. ``dead`` has the reasons of the dead letters that no box reads.
    """

    boxes: Mapping[str, BoxTotals] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)
    worth: Mapping[str, float] = field(default_factory=dict)
    dead: DeadReasons = field(default_factory=dict)

    def then(
        self,
        boxes: Mapping[str, tuple[Counts, ...]],
        rows: Mapping[str, int],
        worth: Mapping[str, float],
        dead: DeadReasons,
    ) -> Totals:
        """Add the results of an epoch."""
        added = {name: self.boxes.get(name, BoxTotals()).then(new) for name, new in boxes.items()}
        outputs = {name: self.outputs.get(name, 0) + number for name, number in rows.items()}
        valued = {name: self.worth.get(name, 0.0) + more for name, more in worth.items()}
        return Totals(
            {**self.boxes, **added},
            {**self.outputs, **outputs},
            {**self.worth, **valued},
            add_reasons([self.dead, dead]),
        )

    def lost(self, read: Collection[Arc]) -> dict[str, dict[str, int]]:
        """Number of late tuples and dead letters of each input, box and output that lost any.

        Tuples that leave by an arc in ``read`` are not lost.
        """
        found = {}
        for name, box in self.boxes.items():
            late = 0 if Arc(name, LATE) in read else box.whole.late
            dead = sum(reason.letters for reason in self.dead.get(name, {}).values())
            if late or dead:
                found[name] = {"late": late, "dead": dead}
        for name in (
            self.dead.keys() - self.boxes.keys()
        ):  # rows that the sink of an output can't store
            dead = sum(reason.letters for reason in self.dead[name].values())
            found[name] = {"late": 0, "dead": dead}
        return found

    def without_pieces(self) -> Totals:
        """The totals without those of pieces, for a run whose layout has changed."""
        return replace(self, boxes={n: BoxTotals(box.whole) for n, box in self.boxes.items()})


def read_totals(plain: Any) -> Totals:
    """Read the totals of a manifest."""
    boxes = {
        name: BoxTotals(Counts(**box["whole"]), tuple(Counts(**own) for own in box["pieces"]))
        for name, box in plain["boxes"].items()
    }
    return Totals(boxes, plain["outputs"], plain["worth"], read_reasons(plain.get("dead", {})))


def worth(outputs: Mapping[str, Output], trains: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Sum of the utilities of the tuples of each output that has a QoS graph of values."""
    found = {}
    for name, train in trains.items():
        qos = outputs[name].qos
        if qos is not None and qos.value_field is not None:
            values = train[qos.value_field].cast(pl.Float64)
            found[name] = float(qos.worth(values.to_numpy()).sum())
    return found


def count(
    stepper: Stepper, names: Iterable[str], states: Mapping[str, State]
) -> dict[str, dict[str, Any]]:
    """Counters of inputs and boxes in an epoch, as plain data."""
    found = {}
    for name in names:
        did, state = stepper.stats[name], states.get(name, {})
        counts = Counts(
            did.tuples_in,
            did.total_out,
            did.late,
            did.dead,
            did.seconds,
            _queue(stepper, name, state),
            sum(frame.height for frame in state.values()),
            sum(int(frame.estimated_size()) for frame in state.values()),
        )
        found[name] = asdict(counts)
    return found


def _queue(stepper: Stepper, name: str, state: State) -> int:
    """Number of tuples in a state that wait for the frontier or slack."""
    if name in stepper.net.inputs:
        return state[WAITING].height if state else 0
    box = stepper.net.boxes[name].box
    waiting = box.waiting if isinstance(box, Stateful) else ()
    return sum(frame.height for part, frame in state.items() if part.startswith(waiting))
