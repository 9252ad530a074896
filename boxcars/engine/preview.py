"""The in-process runner: a network over finite tables, train by train, without Spark and Java.

It calls the same kernels as a run on Spark; only the transport of trains differs. Tests, previews
and notebooks use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connectors.conform import DEAD_LETTERS, Conformed, as_frame, conform
from boxcars.connectors.files import read_input
from boxcars.connectors.read.arrivals import stamp_by_number
from boxcars.connectors.read.rate import all_rows
from boxcars.connectors.read.sources import Files, Mark, Rate, Script
from boxcars.engine.flow.box_stats import BoxStats
from boxcars.engine.flow.input_ordering import ordered_turns
from boxcars.engine.flow.single_instance import SingleInstance
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.model.check import Checked
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import HIDDEN, Schema
from boxcars.tables.store import Tables


@dataclass(frozen=True)
class Preview(Mapping[str, pa.Table]):
    """The results of a preview: an Arrow table for each output, statistics and dead letters."""

    tables: Mapping[str, pa.Table]
    stats: Mapping[str, BoxStats]
    dead: pa.Table
    """Dead letters that no box reads: (source, record, reason)."""
    stored: Mapping[str, pa.Table] = field(default_factory=dict)
    """Contents of the in-memory stored tables after the run, sorted by value."""

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

    A source is a path or :func:`files`, :func:`rate`, :func:`script`, an Arrow table, a Polars or
    pandas frame, a dict of columns or a list of rows. The input is split into ``trains``; the
    result does not depend on their number. There is no wall clock: ``clock: wall`` has no effect,
    and with ``ts: arrival`` tuple ``n`` arrives ``n`` seconds after 1970-01-01.

    A stored table is given like a source, and is then held in memory, or as a database address:
    ``sqlite:///file.db`` or ``postgresql://user@host/database``, with ``#name`` if the table has
    another name there. It is created if it does not exist. A table that is not given is empty.

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
    """Load the tuples of an input from any kind of source; arrival times are row numbers."""
    if name not in sources:
        raise Wrong(f"input '{name}' has no source: give it data.")
    try:
        return stamp_by_number(_load(sources[name], entity), entity)
    except Wrong as wrong:
        raise Wrong(f"input '{name}': {wrong}") from None


def _load(source: Any, entity: Input) -> Conformed:
    if isinstance(source, Rate):
        return all_rows(source, entity)
    if isinstance(source, Script):
        source = [item for item in source.items if not isinstance(item, Mark)]
    elif isinstance(source, Files):
        source = source.where
    if isinstance(source, str | Path):
        return read_input(source, entity)
    return conform(as_frame(source), entity)


class _Run:
    """One preview: runs the inputs turn by turn and collects the results."""

    def __init__(
        self, checked: Checked, data: Mapping[str, Conformed], trains: int, store: Tables
    ) -> None:
        self.instance = SingleInstance(checked, store)
        self.stepper = self.instance.stepper
        self.store = store
        self.net = checked.network
        self.checked = checked
        self.data = data
        self.trains = trains
        self.results: dict[str, list[pl.DataFrame]] = {name: [] for name in self.net.outputs}

    def run(self) -> Preview:
        inputs = {name: self._turns(name) for name in self.net.inputs}
        for _ in range(self.trains):
            found = self.instance.run_turn({name: next(turns) for name, turns in inputs.items()})
            for name, frame in found.items():
                self.results[name].append(frame)
            self.store.commit()
        return self._preview()

    def _turns(self, name: str) -> Any:
        loaded = self.data[name]
        self.stepper.stats[name].dead = loaded.dead.height
        self.stepper.note_dead(name, loaded.dead)
        tuples = loaded.tuples
        if any(node.box.positioned for node in self.net.boxes.values()):
            tuples = tuples.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(POSITION))
        return ordered_turns(tuples, self.net.inputs[name], self.trains)

    def _preview(self) -> Preview:
        tables = {
            name: _table(frames, self.checked.schemas[self.net.outputs[name].source])
            for name, frames in self.results.items()
        }
        letters = pl.DataFrame(schema={"source": pl.String(), **DEAD_LETTERS})
        dead = to_arrow(pl.concat([letters, *self.stepper.dead]))
        stored = {name: to_arrow(frame) for name, frame in self.store.contents().items()}
        return Preview(tables, self.stepper.stats, dead, stored)


def _table(frames: list[pl.DataFrame], schema: Schema) -> pa.Table:
    rows = pl.concat(frames).select(list(schema.fields))
    assert not any(name.startswith(HIDDEN) for name in rows.columns)
    return to_arrow(rows)


def to_arrow(frame: pl.DataFrame) -> pa.Table:
    """Convert to an Arrow table with types that every Arrow library reads."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
