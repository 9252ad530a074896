"""The in-process runner: a network over tables, train by train, without Spark and Java.

It calls the same kernels as the engine; only the moving of trains differs. Tests, previews and
notebooks use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connect.conform import DEAD_LETTERS, Conformed, as_frame, conform
from boxcars.connect.files import read_input
from boxcars.connect.tables import Tables
from boxcars.engine.feed import Turn, feed
from boxcars.engine.lockstep import Lockstep
from boxcars.engine.stages import Stage, find_stages, split_stages
from boxcars.engine.stats import BoxStats
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.kernel import Eager, Frontier, Lazy, Stateful, Tabled
from boxcars.model.arc import DEAD, LATE, MAIN, Arc
from boxcars.model.check import Checked
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import HIDDEN, Schema
from boxcars.model.turns import shared_tables


@dataclass(frozen=True)
class Preview(Mapping[str, pa.Table]):
    """The results of a preview: an Arrow table for each output, statistics and dead letters."""

    tables: Mapping[str, pa.Table]
    stats: Mapping[str, BoxStats]
    dead: pa.Table
    """Records that became no tuple and that no box asked for: (source, record, reason)."""
    stored: Mapping[str, pa.Table] = field(default_factory=dict)
    """What the stored tables in memory hold after the run, in the order of their values."""

    def __getitem__(self, output: str) -> pa.Table:
        return self.tables[output]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)


def preview(
    net: Network,
    sources: Mapping[str, Any],
    *,
    trains: int = 1,
    tables: Mapping[str, Any] | None = None,
) -> Preview:
    """Run a network in this process over finite inputs.

    A source is a path, an Arrow table, a Polars or pandas frame, a dict of columns or a list of
    rows. The input is cut into ``trains``; the result does not depend on their number.

    A stored table is given like a source, and is then in memory, or as the address of a database:
    ``sqlite:///file.db`` or ``postgresql://user@host/database``, with ``#name`` if the table has
    another name there. It is created if it is not there. A table that is not given is empty.

    >>> net = Network("cheap")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "price": "float"})
    >>> net.output("cheap", calls.filter("price < 1"))
    >>> preview(net, {"calls": {"time": [1, 2], "price": [0.5, 3.0]}})["cheap"].to_pylist()
    [{'time': 1, 'price': 0.5}]
    """
    if trains < 1:
        raise Wrong(f"expected at least one train, got {trains}.")
    checked = net.check().or_raise()
    for name in sources:
        if name not in net.inputs:
            raise Wrong(f"there is no input '{name}'.{nearest(name, net.inputs)}")
    data = {name: load_source(name, entity, sources) for name, entity in net.inputs.items()}
    store = Tables(net.tables, tables or {})
    try:
        return _Run(checked, data, trains, store).run()
    finally:
        store.close()


def load_source(name: str, entity: Input, sources: Mapping[str, Any]) -> Conformed:
    """The tuples of an input, from wherever they are."""
    if name not in sources:
        raise Wrong(f"input '{name}' has no source: give it data.")
    source = sources[name]
    try:
        if isinstance(source, str | Path):
            return read_input(source, entity)
        return conform(as_frame(source), entity)
    except Wrong as wrong:
        raise Wrong(f"input '{name}': {wrong}") from None


class _Run:
    """One preview: frames and frontiers of the arcs in this turn, states of the boxes."""

    def __init__(
        self, checked: Checked, data: Mapping[str, Conformed], trains: int, store: Tables
    ) -> None:
        self.store = store
        self.net = checked.network
        self.checked = checked
        self.data = data
        self.trains = trains
        shared = shared_tables(self.net)
        self.lockstep = Lockstep(self.net.inputs) if shared else None
        self.stepped, self.stages = split_stages(
            find_stages(checked), {box for boxes in shared.values() for box in boxes}
        )
        self.handed_on = self._arcs_handed_on()
        self.read = self._arcs_read()
        self.frames: dict[Arc, pl.DataFrame] = {}
        self.frontiers: dict[str, Frontier] = {}
        self.states: dict[str, Any] = {}
        self.results: dict[str, list[pl.DataFrame]] = {name: [] for name in self.net.outputs}
        self.dead: list[pl.DataFrame] = []
        self.stats = {name: BoxStats(name, "input") for name in self.net.inputs}
        self.stats |= {
            name: BoxStats(name, self.net.boxes[name].box.type) for name in checked.order
        }

    def _arcs_handed_on(self) -> frozenset[Arc]:
        """What comes from the inputs and the stages that run in steps, and is read behind them."""
        behind = {name for stage in self.stages for name in stage.names}
        arcs = {arc for stage in self.stages for arc in stage.inputs}
        arcs |= {output.source for output in self.net.outputs.values()}
        return frozenset(arc for arc in arcs if arc.source not in behind)

    def _arcs_read(self) -> frozenset[Arc]:
        arcs = {arc for node in self.net.boxes.values() for arc in node.inputs}
        return frozenset(arcs | {output.source for output in self.net.outputs.values()})

    def run(self) -> Preview:
        feeds = {name: self._feed(name) for name in self.net.inputs}
        for _ in range(self.trains):
            self._run_turn({name: next(turns) for name, turns in feeds.items()})
            self.store.commit()
        return self._preview()

    def _run_turn(self, turns: Mapping[str, Turn]) -> None:
        """Move what the inputs give through all boxes, the first of them perhaps in steps."""
        handed: dict[Arc, list[pl.DataFrame]] = {}
        for step in self.lockstep.steps(turns) if self.lockstep else [turns]:
            self._enter(step)
            for stage in self.stepped:
                self._run_stage(stage)
            for arc in self.handed_on:
                handed.setdefault(arc, []).append(self.frames[arc])
        if not handed:
            return
        self.frames |= {arc: pl.concat(frames) for arc, frames in handed.items()}
        for stage in self.stages:
            self._run_stage(stage)
        for name, output in self.net.outputs.items():
            self.results[name].append(self.frames[output.source])

    def _enter(self, turns: Mapping[str, Turn]) -> None:
        for name, turn in turns.items():
            self.frames |= {Arc(name): turn.train, Arc(name, LATE): turn.late}
            self.frontiers[name] = turn.frontier
            self.stats[name].count(turn.train.height + turn.late.height, {MAIN: turn.train.height})
            self.stats[name].late += turn.late.height

    def _feed(self, name: str) -> Any:
        loaded = self.data[name]
        self.stats[name].dead = loaded.dead.height
        self._note_dead(name, loaded.dead)
        tuples = loaded.tuples
        if any(node.box.type == "drop" for node in self.net.boxes.values()):
            tuples = tuples.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(POSITION))
        return feed(tuples, self.net.inputs[name], self.trains)

    def _note_dead(self, name: str, letters: pl.DataFrame) -> None:
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
        except pl.exceptions.PolarsError as error:
            first = str(error).splitlines()[0]
            raise BoxcarsError(f"box '{stage.last}' failed: {first}") from error
        except BoxcarsError as error:
            raise BoxcarsError(f"box '{stage.last}' failed: {error}") from error
        self.stats[stage.last].seconds += perf_counter() - start

    def _run_chain(self, stage: Stage) -> None:
        """Run a chain of lazy boxes as one Polars query."""
        train = self.frames[stage.inputs[0]]
        frontier = self.frontiers[stage.inputs[0].source]
        lazy: Mapping[str, pl.LazyFrame] = {MAIN: train.lazy()}
        inner: dict[str, pl.LazyFrame] = {}
        for name in stage.names:
            box = self.net.boxes[name].box
            assert isinstance(box, Lazy)
            schema = self.checked.inputs_of(name)[0]
            lazy = box.pipeline(lazy[MAIN], schema)
            frontier = box.move_frontier(frontier, schema)
            self.frontiers[name] = frontier
            if name != stage.last:
                inner[name] = lazy[MAIN]
        groups = self._groups(stage)
        asked = {g: n for n, g in reversed(groups.items()) if g not in (0, groups[stage.last])}
        counts = [inner[name].select(pl.len()) for name in asked.values()]
        frames = pl.collect_all([*lazy.values(), *counts])
        self.frames |= {Arc(stage.last, p): f for p, f in zip(lazy, frames, strict=False)}
        sizes = {g: int(f.item()) for g, f in zip(asked, frames[len(lazy) :], strict=True)}
        self._count_chain(stage, groups, {0: train.height} | sizes)

    def _groups(self, stage: Stage) -> dict[str, int]:
        """Number the boxes of a chain so that those with equally many tuples behind them agree."""
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
        train = self.frames[arc]
        frames = dict(box.run(train, self.checked.schemas[arc]))
        self.frontiers[name] = self.frontiers[arc.source]
        self._leave(name, train.height, frames)

    def _run_stateful(self, name: str, box: Stateful) -> None:
        arcs = self.net.boxes[name].inputs
        schemas = self.checked.inputs_of(name)
        if name not in self.states:
            self.states[name] = box.start(schemas)
        trains = tuple(self.frames[arc] for arc in arcs)
        frontiers = tuple(self.frontiers[arc.source] for arc in arcs)
        step = box.step(self.states[name], trains, frontiers, schemas)
        self.states[name] = step.state
        self.frontiers[name] = step.frontier
        self._leave(name, sum(train.height for train in trains), dict(step.trains))

    def _run_tabled(self, name: str, box: Tabled) -> None:
        arc = self.net.boxes[name].inputs[0]
        train = self.frames[arc]
        frames = dict(box.run(train, self.checked.schemas[arc], self.store))
        self.frontiers[name] = self.frontiers[arc.source]
        self._leave(name, train.height, frames)

    def _leave(self, name: str, entering: int, frames: dict[str, pl.DataFrame]) -> None:
        ports = self.net.boxes[name].box.ports
        self.frames |= {Arc(name, port): frame for port, frame in frames.items()}
        self.stats[name].count(entering, {port: frames[port].height for port in ports})
        if LATE in frames:
            self.stats[name].late += frames[LATE].height
        if DEAD in frames:
            self.stats[name].dead += frames[DEAD].height
            if Arc(name, DEAD) not in self.read:
                self._note_dead(name, frames[DEAD])

    def _preview(self) -> Preview:
        tables = {
            name: _table(frames, self.checked.schemas[self.net.outputs[name].source])
            for name, frames in self.results.items()
        }
        letters = pl.DataFrame(schema={"source": pl.String(), **DEAD_LETTERS})
        dead = to_arrow(pl.concat([letters, *self.dead]))
        stored = {name: to_arrow(frame) for name, frame in self.store.contents().items()}
        return Preview(tables, self.stats, dead, stored)


def _table(frames: list[pl.DataFrame], schema: Schema) -> pa.Table:
    whole = pl.concat(frames).select(list(schema.fields))
    assert not any(name.startswith(HIDDEN) for name in whole.columns)
    return to_arrow(whole)


def to_arrow(frame: pl.DataFrame) -> pa.Table:
    """An Arrow table that every Arrow library reads."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
