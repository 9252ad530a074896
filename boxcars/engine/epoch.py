"""An epoch: what each piece of a network does, from the trains that it gets to those it sends on.

Whoever repeats an epoch reads the same rows and the same states, and so writes the same parts under
the same names: that is why nothing is lost or doubled, wherever a process ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connect.conform import Conformed
from boxcars.connect.files import write_table
from boxcars.connect.splits import read_split
from boxcars.engine.feed import Turn
from boxcars.engine.layout import Layout, Piece, make_layout
from boxcars.engine.states import load_states, save_states
from boxcars.engine.stepper import Stepper
from boxcars.engine.task import Arrival, Done, Task
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.kernel import Frontier, State, earliest
from boxcars.kernels.ranks import RANK, merge_trains
from boxcars.kernels.reorder import Slack
from boxcars.model.arc import Arc
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError

Sent = Iterator[tuple[Piece, Arrival]]


def run_piece(task: Task, piece: Piece, arrivals: Sequence[Arrival]) -> tuple[Sent, Done]:
    """Run a piece: merge what came, step the boxes, keep the states, send on what leaves."""
    layout = make_layout(task.network, task.shape)
    if piece.sink:
        return iter(()), _run_sink(task, layout, piece, arrivals)
    subquery = layout.plan[piece.name]
    stepper = Stepper(layout.checked, _NoTables())
    states, known = load_states(task, layout, piece)
    stepper.states = {name: states[name] for name in subquery.boxes if name in states}
    after: dict[str, State] = {}
    if subquery.source is not None:
        after[subquery.source] = _read(stepper, task, layout, subquery.source, states)
    for number, feed in enumerate(subquery.inputs):
        train, frontier = _merge([a for a in arrivals if a.feed == number], layout, feed.arc)
        stepper.arrive(feed.consumer, feed.port, train, frontier)
    stepper.run(layout.stages[piece.name])
    if stepper.dead:
        dead = Path(task.folder) / "dead"
        _write(pl.concat(stepper.dead), dead, f"{task.plan.epoch:08d}-{piece.number:04d}")
    files = save_states(task, piece, after | stepper.states, known)
    return _send(layout, piece, stepper), Done(piece.number, files, _stats(stepper, layout, piece))


def _merge(arrivals: Sequence[Arrival], layout: Layout, arc: Arc) -> tuple[pl.DataFrame, Frontier]:
    """The input merger: the trains of an arc as one in order, up to what all senders promise."""
    ordered = sorted(arrivals, key=lambda arrival: arrival.sender)
    train = merge_trains([arrival.train for arrival in ordered], layout.order_of(arc))
    return train, earliest(tuple(arrival.frontier for arrival in ordered))


def _send(layout: Layout, piece: Piece, stepper: Stepper) -> Sent:
    """What leaves, to all that read it."""
    for arc in layout.plan[piece.name].outputs:
        train, frontier = stepper.frames[arc], stepper.frontiers[arc.source]
        for reader in layout.readers.get(arc, ()):
            for target, part in layout.split(train, reader):
                yield target, Arrival(reader.feed, piece.number, part, frontier)


def _run_sink(task: Task, layout: Layout, piece: Piece, arrivals: Sequence[Arrival]) -> Done:
    """Write what comes to an output as the part of this epoch."""
    arc = layout.checked.network.outputs[piece.name].source
    train, _ = _merge(arrivals, layout, arc)
    if piece.name in task.sinks and train.height:
        fields = list(layout.checked.schemas[arc].fields)
        folder = Path(task.sinks[piece.name])
        _write(train.select(fields), folder, f"{task.plan.epoch:08d}")
    return Done(piece.number, rows={piece.name: train.height})


def run_here(task: Task) -> list[Done]:
    """Run all pieces of an epoch in this process, those of a level side by side."""
    layout = make_layout(task.network, task.shape)
    waiting: dict[int, list[Arrival]] = {piece.number: [] for piece in layout.pieces}
    found = []

    def run(piece: Piece) -> tuple[list[tuple[Piece, Arrival]], Done]:
        sent, done = run_piece(task, piece, waiting[piece.number])
        return list(sent), done

    with ThreadPoolExecutor(min(task.shape.instances, os.cpu_count() or 1)) as pool:
        for level in layout.levels:
            for sent, done in pool.map(run, level):
                found.append(done)
                for target, arrival in sent:
                    waiting[target.number].append(arrival)
    return found


class _NoTables:
    """A run has no stored tables yet; the driver refuses networks that have."""

    tables: Mapping[str, Any] = {}

    def run(self, *_: Any) -> pl.DataFrame:
        raise BoxcarsError("stored tables can't be used in a run yet.")


def _read(
    stepper: Stepper, task: Task, layout: Layout, name: str, states: Mapping[str, State]
) -> State:
    """Read what an input gives in this epoch, put it in order; gives what waits for the next."""
    entity = layout.checked.network.inputs[name]
    read = [read_split(split, entity) for split in task.plan.splits[name]]
    train = _tuples(entity, read, task.plan.splits[name], layout)
    slack = Slack.of(entity.ts, entity.fields[entity.ts], entity.slack)
    state = states.get(name) or slack.start(train.clear())
    ordered = slack.order(state, train, task.plan.final[name])
    late = train.filter(ordered.late)
    stepper.enter({name: Turn(ordered.train, late, late[entity.ts], ordered.frontier)})
    for part in read:
        stepper.note_dead(name, part.dead)
        stepper.stats[name].dead += part.dead.height
    return ordered.state


def _tuples(
    entity: Input, read: Sequence[Conformed], splits: Sequence[Any], layout: Layout
) -> pl.DataFrame:
    """The tuples with their place in the input, as far as anybody asks for it."""
    train = pl.concat([part.tuples for part in read]) if read else entity.schema.empty()
    first = splits[0].position if splits else 0
    place = pl.int_range(first, first + pl.len(), dtype=pl.Int64)
    boxes = layout.checked.network.boxes.values()
    names = [POSITION] if any(node.box.type == "drop" for node in boxes) else []
    names += [f"{RANK}0"] if layout.ranked else []
    return train.with_columns(place.alias(name) for name in names)


def _stats(stepper: Stepper, layout: Layout, piece: Piece) -> Mapping[str, Any]:
    """What the boxes of a piece counted."""
    subquery = layout.plan[piece.name]
    names = [*([subquery.source] if subquery.source is not None else []), *subquery.boxes]
    return {
        name: {"in": box.tuples_in, "out": box.total_out, "late": box.late, "dead": box.dead}
        for name in names
        for box in (stepper.stats[name],)
    }


def _write(frame: pl.DataFrame, folder: Path, name: str) -> None:
    """Write rows as a part of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    assert isinstance(table, pa.Table)
    write_table(table, folder / f"part-{name}.parquet")
