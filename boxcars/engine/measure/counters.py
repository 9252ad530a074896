"""What the pieces of a run count, and how that adds up from epoch to epoch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from typing import Any

import polars as pl

from boxcars.engine.flow.stepper import Stepper
from boxcars.engine.measure.dead_letter_reasons import Dead, add_reasons, read_reasons
from boxcars.kernels.contract import State, Stateful
from boxcars.kernels.ordering.sorting import WAITING
from boxcars.model.arc import LATE, Arc
from boxcars.model.entities import Output


@dataclass(frozen=True)
class Counts:
    """What an input or a box did, and what it holds now.

    A tuple that goes to several pieces of a box counts in each of them. ``seconds`` are those of
    the clock on the wall, in each piece. ``queue`` has the tuples that wait for the frontier (for
    an input: for its slack), before anything was done with them. The state has those too, and all
    else that is kept for the next epoch; its bytes are those of its columns in memory.
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
        """Both, one behind the other: what was done adds up, and what is held is the later."""
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


def side_by_side(pieces: Iterable[Counts]) -> Counts:
    """What pieces did together, and what they hold together."""
    rows = [asdict(piece) for piece in pieces]
    return Counts(*(sum(column) for column in zip(*(row.values() for row in rows), strict=True)))


@dataclass(frozen=True)
class BoxTotals:
    """What a box did since the beginning, and each of its pieces since they are laid out so."""

    whole: Counts = Counts()
    pieces: tuple[Counts, ...] = ()

    def then(self, pieces: tuple[Counts, ...]) -> BoxTotals:
        """With what its pieces did in an epoch."""
        pairs = zip_longest(self.pieces, pieces, fillvalue=Counts())
        added = tuple(before.then(later) for before, later in pairs)
        return BoxTotals(self.whole.then(side_by_side(pieces)), added)


@dataclass(frozen=True)
class Totals:
    """What all inputs and boxes did since the beginning, and the tuples of each output.

    ``worth`` has the sum of the utilities of the tuples, of outputs that have such a utility, and
    ``dead`` why records became no tuples that anybody reads.
    """

    boxes: Mapping[str, BoxTotals] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)
    worth: Mapping[str, float] = field(default_factory=dict)
    dead: Dead = field(default_factory=dict)

    def then(
        self,
        boxes: Mapping[str, tuple[Counts, ...]],
        rows: Mapping[str, int],
        worth: Mapping[str, float],
        dead: Dead,
    ) -> Totals:
        """With what an epoch did."""
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
        """Of each input, box and output that lost tuples: how many were late, and dead letters.

        What leaves by an arc that somebody reads is not lost.
        """
        found = {}
        for name, box in self.boxes.items():
            late = 0 if Arc(name, LATE) in read else box.whole.late
            dead = sum(reason.letters for reason in self.dead.get(name, {}).values())
            if late or dead:
                found[name] = {"late": late, "dead": dead}
        for name in self.dead.keys() - self.boxes.keys():  # what sinks of outputs can't hold
            dead = sum(reason.letters for reason in self.dead[name].values())
            found[name] = {"late": 0, "dead": dead}
        return found

    def without_pieces(self) -> Totals:
        """For a run that is laid out anew: its pieces are others."""
        return replace(self, boxes={n: BoxTotals(box.whole) for n, box in self.boxes.items()})


def read_totals(plain: Any) -> Totals:
    """The totals from a manifest."""
    boxes = {
        name: BoxTotals(Counts(**box["whole"]), tuple(Counts(**own) for own in box["pieces"]))
        for name, box in plain["boxes"].items()
    }
    return Totals(boxes, plain["outputs"], plain["worth"], read_reasons(plain.get("dead", {})))


def worth(outputs: Mapping[str, Output], trains: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """What the tuples of outputs are worth, of those that have utilities of values."""
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
    """What inputs and boxes did in an epoch, as plain data, and what they keep for the next."""
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
    """How many tuples of a state wait."""
    if name in stepper.net.inputs:
        return state[WAITING].height if state else 0
    box = stepper.net.boxes[name].box
    waiting = box.waiting if isinstance(box, Stateful) else ()
    return sum(frame.height for part, frame in state.items() if part.startswith(waiting))
