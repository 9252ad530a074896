"""Moves trains through the boxes of a network, stage by stage; shared by previews and runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from time import perf_counter

import polars as pl

from boxcars.connectors.conform import DATA_ERRORS, DEAD_LETTERS, first_line, letters_of
from boxcars.engine.flow.box_stats import BoxStats
from boxcars.engine.flow.input_ordering import Turn
from boxcars.engine.flow.ranking import (
    box_state,
    keeps_order,
    rank_leaving,
    ranked_by_time,
    with_tie_breaker,
)
from boxcars.engine.layout.stages import Stage
from boxcars.kernels.columns.ranks import RANK, rank_names
from boxcars.kernels.contract import Eager, Frontier, Lazy, State, Stateful, Tabled
from boxcars.model.arc import DEAD, LATE, MAIN, Arc
from boxcars.model.check import Checked
from boxcars.model.network import Network
from boxcars.model.order import in_words
from boxcars.model.problem import BoxcarsError
from boxcars.sql.store import Store


def arcs_read(net: Network) -> frozenset[Arc]:
    """The arcs that a box or an output reads."""
    arcs = {arc for node in net.boxes.values() for arc in node.inputs}
    return frozenset(arcs | {output.source for output in net.outputs.values()})


class Stepper:
    """Runs boxes: holds the frames and frontiers of arcs in this turn, and the states of boxes.

    ``peeks`` are arcs to sample, also inside a chain of fused boxes.

    ``states`` are by box name; the caller may save them and restore them later.
    """

    def __init__(self, checked: Checked, store: Store, peeks: frozenset[Arc] = frozenset()) -> None:
        self.net = checked.network
        self.checked = checked
        self.store = store
        self.peeks = peeks
        self.read = arcs_read(self.net)
        self.frames: dict[Arc, pl.DataFrame] = {}
        self.entering: dict[tuple[str, int], pl.DataFrame] = {}
        """Trains from other pieces, by box and port; all others are in ``frames``."""
        self.frontiers: dict[str, Frontier] = {}
        self.states: dict[str, State] = {}
        self.dead: list[pl.DataFrame] = []
        self.stats = {name: BoxStats(name, "input") for name in self.net.inputs}
        self.stats |= {
            name: BoxStats(name, self.net.boxes[name].box.type) for name in checked.order
        }

    def enter(self, turns: Mapping[str, Turn]) -> None:
        """Put a turn of the inputs on their arcs."""
        for name, turn in turns.items():
            self.frames |= {Arc(name): turn.train, Arc(name, LATE): turn.late}
            self.frontiers[name] = turn.frontier
            self.stats[name].count(turn.train.height + turn.late.height, {MAIN: turn.train.height})
            self.stats[name].late += turn.late.height

    def arrive(self, name: str, port: int, train: pl.DataFrame, frontier: Frontier) -> None:
        """Put a train from another piece on a port of a box."""
        self.entering[name, port] = train
        self.frontiers[self.net.boxes[name].inputs[port].source] = frontier

    def train(self, name: str, port: int = 0) -> pl.DataFrame:
        """The train that enters a box."""
        if (name, port) in self.entering:
            return self.entering[name, port]
        return self.frames[self.net.boxes[name].inputs[port]]

    def run(self, stages: Iterable[Stage]) -> None:
        """Run stages, given in topological order."""
        for stage in stages:
            self._run_stage(stage)

    def note_dead(self, name: str, letters: pl.DataFrame) -> None:
        """Collect dead letters."""
        if letters.height:
            columns = [pl.lit(name).alias("source"), *map(pl.col, DEAD_LETTERS)]
            self.dead.append(letters.select(columns))

    def _run_stage(self, stage: Stage) -> None:
        box = self.net.boxes[stage.last].box
        start = perf_counter()
        try:
            if isinstance(box, Lazy):
                self._run_chain(stage)
            elif isinstance(box, Eager):
                self._run_eager(stage.last, box)
            elif isinstance(box, Stateful):
                self._run_stateful(stage.last, box)
            elif isinstance(box, Tabled):
                self._run_tabled(stage.last, box)
        except DATA_ERRORS as error:
            raise BoxcarsError(f"box '{stage.last}' failed: {first_line(error)}") from error
        except BoxcarsError as error:
            raise BoxcarsError(f"box '{stage.last}' failed: {error}") from error
        self.stats[stage.last].seconds += perf_counter() - start

    def _run_chain(self, stage: Stage) -> None:
        """Run a chain of lazy boxes as one Polars query."""
        train = self.train(stage.names[0])
        frontier = self.frontiers[stage.inputs[0].source]
        ranks = rank_names(train.columns)
        lazy: Mapping[str, pl.LazyFrame] = {MAIN: train.lazy()}
        inner: dict[str, pl.LazyFrame] = {}
        for name in stage.names:
            box = self.net.boxes[name].box
            assert isinstance(box, Lazy)
            schema = self.checked.inputs_of(name)[0]
            entering = lazy[MAIN]
            if ranks and not keeps_order(box, schema, self.checked.schemas[Arc(name)]):
                entering = entering.with_columns(ranked_by_time(ranks, schema.ts))
                ranks = rank_names([*ranks, f"{RANK}{len(ranks)}"])
            lazy = box.pipeline(entering, schema)
            frontier = box.move_frontier(frontier, schema)
            self.frontiers[name] = frontier
            if name != stage.last:
                inner[name] = lazy[MAIN]
        groups = self._groups(stage)
        asked = {g: n for n, g in reversed(groups.items()) if g not in (0, groups[stage.last])}
        counts = [inner[name].select(pl.len()) for name in asked.values()]
        seen = {Arc(name): rows for name, rows in inner.items() if Arc(name) in self.peeks}
        frames = pl.collect_all([*lazy.values(), *seen.values(), *counts])
        arcs = [*(Arc(stage.last, port) for port in lazy), *seen]
        self.frames |= dict(zip(arcs, frames, strict=False))
        sizes = {g: int(f.item()) for g, f in zip(asked, frames[len(arcs) :], strict=True)}
        self._count_chain(stage, groups, {0: train.height} | sizes)
        self._drop_out_of_range(stage.last, train)

    def _drop_out_of_range(self, name: str, train: pl.DataFrame) -> None:
        """Drop tuples whose newly computed order value is out of range: they are dead letters."""
        box, schema = self.net.boxes[name].box, self.checked.inputs_of(name)[0]
        if not (isinstance(box, Lazy) and train.height and box.computes_order(schema)):
            return
        placed = box.in_range(train[schema.ts], schema)
        if placed.all():
            return
        after = self.checked.schemas[Arc(name)]
        lost = train.filter(~placed).select(list(schema.fields))
        why = f"{after.ts}: the order attribute is not between {in_words(after[after.ts])}"
        self.frames[Arc(name)] = self.frames[Arc(name)].filter(placed)
        self.stats[name].tuples_out[MAIN] -= lost.height
        self.stats[name].dead += lost.height
        self.note_dead(name, letters_of(lost, why))

    def _groups(self, stage: Stage) -> dict[str, int]:
        """Assign boxes of a chain to groups; all boxes of a group emit equally many tuples."""
        changes = [int(not self._keeps_rows(name)) for name in stage.names]
        return dict(zip(stage.names, accumulate(changes), strict=True))

    def _keeps_rows(self, name: str) -> bool:
        box = self.net.boxes[name].box
        return isinstance(box, Lazy) and box.keeps_rows

    def _count_chain(self, stage: Stage, groups: dict[str, int], sizes: dict[int, int]) -> None:
        ports = self.net.boxes[stage.last].box.ports
        leaving = {port: self.frames[Arc(stage.last, port)].height for port in ports}
        sizes.setdefault(groups[stage.last], leaving.get(MAIN, 0))
        entering = sizes[0]
        for name in stage.names[:-1]:
            self.stats[name].count(entering, {MAIN: sizes[groups[name]]})
            self.stats[name].fused_into = stage.last
            entering = sizes[groups[name]]
        self.stats[stage.last].count(entering, leaving)

    def _run_eager(self, name: str, box: Eager) -> None:
        arc = self.net.boxes[name].inputs[0]
        train, schema = self.train(name), self.checked.schemas[arc]
        if not keeps_order(box, schema, self.checked.schemas[Arc(name)]):
            ranks = rank_names(train.columns)
            train = train.with_columns(ranked_by_time(ranks, schema.ts))
        frames = dict(box.run(train, schema))
        self.frontiers[name] = self.frontiers[arc.source]
        self._leave(name, train.height, frames)

    def _run_stateful(self, name: str, box: Stateful) -> None:
        arcs = self.net.boxes[name].inputs
        schemas = self.checked.inputs_of(name)
        if name not in self.states:
            self.states[name] = box.start(schemas)
        trains = tuple(self.train(name, port) for port in range(len(arcs)))
        frontiers = tuple(self.frontiers[arc.source] for arc in arcs)
        before = self.states[name]
        step = box.step(box_state(before), trains, frontiers, schemas)
        leaving, numbers = rank_leaving(box, before, trains, step.trains, schemas)
        self.states[name] = {**step.state, **numbers}
        self.frontiers[name] = step.frontier
        self._leave(name, sum(train.height for train in trains), leaving)

    def _run_tabled(self, name: str, box: Tabled) -> None:
        arc = self.net.boxes[name].inputs[0]
        train = self.train(name)
        frames = dict(box.run(train, self.checked.schemas[arc], self.store))
        self.frontiers[name] = self.frontiers[arc.source]
        self._leave(name, train.height, frames)

    def _leave(self, name: str, entering: int, frames: dict[str, pl.DataFrame]) -> None:
        box = self.net.boxes[name].box
        if box.gives_several():
            frames = {port: with_tie_breaker(frame) for port, frame in frames.items()}
        self.frames |= {Arc(name, port): frame for port, frame in frames.items()}
        self.stats[name].count(entering, {port: frames[port].height for port in box.ports})
        if LATE in frames:
            self.stats[name].late += frames[LATE].height
        if DEAD in frames:
            self.stats[name].dead += frames[DEAD].height
            if Arc(name, DEAD) not in self.read:
                self.note_dead(name, frames[DEAD])
