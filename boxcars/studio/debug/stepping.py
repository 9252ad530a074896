"""Feed a network tuple by tuple, recording the tuples of all arcs and the states of all boxes.

It drives the same stepper as ``boxcars preview``, but one box at a time, so that no box is hidden
in a fused pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.connectors.conform import Conformed
from boxcars.connectors.read.arrivals import stamp_by_number
from boxcars.engine.flow.event_time_lockstep import Lockstep
from boxcars.engine.flow.input_ordering import Turn, take_turn
from boxcars.engine.flow.stepper import Stepper
from boxcars.engine.layout.stages import Stage
from boxcars.expr import Expr
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import State, Stateful
from boxcars.model.arc import MAIN, Arc
from boxcars.model.check import Checked
from boxcars.model.entities import Table
from boxcars.model.problem import Wrong, nearest
from boxcars.model.table_order import shared_tables
from boxcars.studio.debug.state_view import state_tables
from boxcars.studio.edit.json_rows import plain_rows, read_data
from boxcars.studio.wire import run_messages as wire
from boxcars.tables.store import Tables

SHOWN = 100
"""The number of tuples of an arc, and of rows of a state, that are shown."""


@dataclass(frozen=True)
class StopCondition:
    """A breakpoint: any tuple on an arc, or one for which ``where`` holds."""

    arc: Arc
    where: Expr | None


class _Seen:
    """The tuples of an arc: their number, and the last of them."""

    def __init__(self) -> None:
        self.total, self.fresh = 0, 0
        self.last: pl.DataFrame | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Add new tuples."""
        self.total += frame.height
        self.fresh += frame.height
        if frame.height:
            whole = frame if self.last is None else pl.concat([self.last, frame], how="diagonal")
            self.last = whole.tail(max(SHOWN, self.fresh))

    def rows(self) -> wire.ArcRows:
        """Return the last tuples as a message."""
        shown = [] if self.last is None else plain_rows(self.last.tail(SHOWN))
        return wire.ArcRows(total=self.total, rows=shown, fresh=self.fresh)


class Stepping:
    """A network being stepped; ``position`` of ``total`` tuples have been fed."""

    def __init__(
        self,
        checked: Checked,
        data: Mapping[str, wire.InputData],
        tables: Mapping[str, wire.InputData],
        uses: Mapping[str, Arc],
    ) -> None:
        net = checked.network
        _check_names("input", data, net.inputs)
        _check_names("table", tables, net.tables)
        self._checked, self._net, self._uses = checked, net, uses
        self._loaded = {
            name: stamp_by_number(read_data(data.get(name, wire.InputData()), entity), entity)
            for name, entity in net.inputs.items()
        }
        self._store = Tables(net.tables, _records(tables, net.tables))
        self._stepper = Stepper(checked, self._store)
        self._stages = [Stage((name,), net.boxes[name].inputs) for name in checked.order]
        self._lockstep = Lockstep(net.inputs) if shared_tables(net) else None
        self._tuples = {name: self._numbered(found) for name, found in self._loaded.items()}
        self._reached = {name: _reached(checked, name, t) for name, t in self._tuples.items()}
        self._who = _order_of_entry(self._reached)
        self._states: dict[str, State | None] = dict.fromkeys(net.inputs)
        self._seen: dict[Arc, _Seen] = {}
        self.position, self.total = 0, len(self._who)
        self.finished = False
        for name, found in self._loaded.items():
            self._stepper.stats[name].dead = found.dead.height
            self._stepper.note_dead(name, found.dead)

    def _numbered(self, found: Conformed) -> pl.DataFrame:
        """Return the tuples, with their row numbers if a box drops tuples by them."""
        if any(node.box.positioned for node in self._net.boxes.values()):
            return found.tuples.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(POSITION))
        return found.tuples

    def go(self, end: int) -> None:
        """Feed tuples up to a position; the last ones also end the inputs."""
        for seen in self._seen.values():
            seen.fresh = 0
        if self.finished:
            return
        entering, looking = self._turns(min(end, self.total))
        self.position = min(end, self.total)
        self.finished = self.position == self.total
        for turns in [entering] if self.finished else [entering, looking]:
            self._run(turns)
        self._store.commit()

    def _run(self, turns: Mapping[str, Turn]) -> None:
        for step in self._lockstep.steps(turns) if self._lockstep else [turns]:
            self._stepper.enter(step)
            self._stepper.run(self._stages)
            for arc, frame in self._stepper.frames.items():
                self._seen.setdefault(arc, _Seen()).add(frame)

    def _turns(self, end: int) -> tuple[dict[str, Turn], dict[str, Turn]]:
        """Return the tuples up to a position, and a second turn that only advances the frontier.

        A preview knows whether the next tuple has the same time, so no result has to wait for it.
        """
        entering, looking = {}, {}
        for number, (name, tuples) in enumerate(self._tuples.items()):
            start, stop = (int((self._who[:to] == number).sum()) for to in (self.position, end))
            entity, final = self._net.inputs[name], stop == tuples.height
            entering[name], state = take_turn(tuples[start:stop], entity, self._states[name], final)
            ahead = _ahead(self._reached[name], stop) if stop > 0 and not final else None
            looking[name], self._states[name] = take_turn(
                tuples.clear(), entity, state, final, ahead
            )
        return entering, looking

    def met(self, condition: StopCondition) -> bool:
        """Whether the last step met the condition of a breakpoint."""
        seen = self._seen.get(condition.arc)
        if seen is None or not seen.fresh or seen.last is None:
            return False
        if condition.where is None:
            return True
        holds = condition.where.compile(self._checked.schemas[condition.arc])
        return bool(seen.last.tail(seen.fresh).filter(holds).height)

    def to_message(self, id: str, stopped_at: str | None) -> wire.Preview:
        """Return the state as a message."""
        arcs = {str(arc): self._seen[arc].rows() for arc in self._shown()}
        named = {name: arcs[str(arc)] for name, arc in self._uses.items() if str(arc) in arcs}
        nothing = wire.ArcRows(total=0, rows=[], fresh=0)
        outputs = self._net.outputs.items()
        return wire.Preview(
            id=id,
            position=self.position,
            total=self.total,
            finished=self.finished,
            stopped_at=stopped_at,
            arcs=arcs | named,
            boxes={name: self._box(name) for name in self._stepper.stats},
            outputs={name: arcs.get(str(output.source), nothing) for name, output in outputs},
            tables={n: plain_rows(t[:SHOWN]) for n, t in self._store.contents().items()},
            dead=self._dead(),
        )

    def _shown(self) -> Iterable[Arc]:
        """Return the main arcs, and the side arcs that have tuples."""
        return [a for a, seen in self._seen.items() if seen.total or a.port == MAIN]

    def _box(self, name: str) -> wire.PreviewBox:
        counted = self._stepper.stats[name]
        return wire.PreviewBox(
            state=self._held(name),
            stats=wire.BoxCounts(
                tuples_in=counted.tuples_in,
                tuples_out=counted.total_out,
                late=counted.late,
                dead=counted.dead,
                seconds=counted.seconds,
            ),
        )

    def _held(self, name: str) -> list[wire.StateTable]:
        state = self._stepper.states.get(name)
        if state is None:
            return []
        box = self._net.boxes[name].box
        if isinstance(box, Stateful):
            state = box.shown(state, self._checked.inputs_of(name))
        return state_tables(box, state, SHOWN)

    def _dead(self) -> list[wire.DeadLetter]:
        letters = [row for frame in self._stepper.dead for row in frame.iter_rows(named=True)]
        return [
            wire.DeadLetter(
                source=row["source"],
                record=row["record"].decode("utf-8", "replace"),
                reason=row["reason"],
            )
            for row in letters[:SHOWN]
        ]

    def close(self) -> None:
        """Close the tables."""
        self._store.close()


def _check_names(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in set(known):
            raise Wrong(f"there is no {kind} '{name}'.{nearest(name, known)}")


def _records(
    given: Mapping[str, wire.InputData], tables: Mapping[str, Table]
) -> dict[str, pl.DataFrame]:
    """Return the records of stored tables; raises if one does not fit."""
    found = {}
    for name, data in given.items():
        read = read_data(data, tables[name])
        if read.dead.height:
            raise Wrong(f"table '{name}': a record can't be read: {read.dead['reason'][0]}.")
        found[name] = read.tuples
    return found


def _reached(checked: Checked, name: str, tuples: pl.DataFrame) -> pl.Series:
    """Return the running maximum of the order attribute of an input, as numbers."""
    return tuples[checked.network.inputs[name].ts].cum_max().to_physical()


def _ahead(reached: pl.Series, stop: int) -> int | float:
    """Return the least order value after the last tuple; its own, if the next tuple has the same.

    >>> _ahead(pl.Series([1, 5, 5, 9]), 1), _ahead(pl.Series([1, 5, 5, 9]), 2)
    (2, 5)
    """
    last, following = reached[stop - 1], reached[stop]
    if reached.dtype.is_float():
        return float(min(following, np.nextafter(last, np.inf)))
    return int(min(following, last + 1))


def _order_of_entry(reached: Mapping[str, pl.Series]) -> np.ndarray:
    """Return for each tuple, in feeding order, the index of its input.

    The tuples of one input keep their order, even if some are late.
    """
    if not reached:
        return np.empty(0, dtype=np.int64)
    keys = [numbers.cast(pl.Float64).to_numpy() for numbers in reached.values()]
    who = [np.full(len(key), number) for number, key in enumerate(keys)]
    order = np.argsort(np.concatenate(keys), kind="stable")
    found: np.ndarray = np.concatenate(who)[order]
    return found
