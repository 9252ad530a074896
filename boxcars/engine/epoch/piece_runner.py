"""Runs one piece of an epoch, from the trains that it receives to those that it sends.

A replayed epoch reads the same rows and the same states, and so writes the same parts under the
same names: that is why no crash loses or duplicates anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

import polars as pl
import pyarrow as pa

from boxcars.connectors.files import sync_file, write_table, writing
from boxcars.connectors.read.arrivals import stamp
from boxcars.connectors.read.splits import read_split
from boxcars.engine.epoch.dead_letters import reasons_of, stage_letters
from boxcars.engine.epoch.messages import Arrival, Done, EpochTask
from boxcars.engine.epoch.state_loading import load_states, save_states
from boxcars.engine.flow.input_ordering import Turn, take_turn
from boxcars.engine.flow.stepper import Stepper
from boxcars.engine.layout.pieces import Layout, Piece, make_layout
from boxcars.engine.measure.arc_samples import peek
from boxcars.engine.measure.bucket_load import count_loads
from boxcars.engine.measure.counters import count, worth
from boxcars.engine.state.state_files import Origin
from boxcars.kernels.columns.ranks import RANK, merge_trains
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import Frontier, State, earliest
from boxcars.kernels.ordering.sorting import GREATEST
from boxcars.model.arc import Arc
from boxcars.plan.registry import ranges
from boxcars.plan.subquery import Subquery
from boxcars.tables.epoch_transaction import open_tables

Sent = Iterator[tuple[Piece, Arrival]]


def run_piece(task: EpochTask, piece: Piece, arrivals: Sequence[Arrival]) -> tuple[Sent, Done]:
    """Run a piece: merge the arrivals, step the boxes, save the states, send the results."""
    layout = make_layout(task.network, task.shape)
    if piece.sink:
        return iter(()), _run_sink(task, layout, piece, arrivals)
    with open_tables(layout.checked.network.tables, task.tables, task.folder) as store:
        return _run_boxes(task, layout, piece, arrivals, Stepper(layout.checked, store, task.peeks))


def _run_boxes(
    task: EpochTask, layout: Layout, piece: Piece, arrivals: Sequence[Arrival], stepper: Stepper
) -> tuple[Sent, Done]:
    subquery = layout.plan[piece.name]
    loaded = load_states(task, layout, piece)
    states = loaded.states
    stepper.states = {name: states[name] for name in subquery.boxes if name in states}
    after: dict[str, State] = {}
    if subquery.source is not None:
        turn, after[subquery.source] = read_turn(
            stepper, task, subquery.source, states, ranked=layout.ranked
        )
        stepper.enter({subquery.source: turn})
    for number, edge in enumerate(subquery.inputs):
        train, frontier = _merge([a for a in arrivals if a.edge == number], layout, edge.arc)
        stepper.arrive(edge.consumer, edge.port, train, frontier)
    stepper.run(layout.stages[piece.name])
    after |= stepper.states
    refs = save_states(task, _origin(task, subquery, piece), after, loaded)
    counted = count(stepper, subquery.nodes, after)
    heads = read_heads(after, [subquery.source] if subquery.source is not None else [])
    loads = count_loads(layout, subquery, stepper)
    done = Done(piece.number, refs, counted, heads=heads, loads=loads, peeked=peek(stepper))
    return _send(layout, piece, stepper), with_letters(done, task, stepper)


def _origin(task: EpochTask, subquery: Subquery, piece: Piece) -> Origin:
    """What the state file of a piece says of itself."""
    buckets = () if subquery.source is not None else ranges(subquery.registry, piece.instance)
    return Origin(task.plan.epoch, task.term, piece.name, piece.instance, buckets)


def _merge(arrivals: Sequence[Arrival], layout: Layout, arc: Arc) -> tuple[pl.DataFrame, Frontier]:
    """The input merger: one ordered train of all senders, and the least of their frontiers."""
    ordered = sorted(arrivals, key=lambda arrival: arrival.sender)
    train = merge_trains([arrival.train for arrival in ordered], layout.order_of(arc))
    return train, earliest(tuple(arrival.frontier for arrival in ordered))


def _send(layout: Layout, piece: Piece, stepper: Stepper) -> Sent:
    """Send the output trains to all their consumers."""
    for arc in layout.plan[piece.name].outputs:
        train, frontier = stepper.frames[arc], stepper.frontiers[arc.source]
        for consumer in layout.consumers.get(arc, ()):
            for target, part in layout.split(train, consumer):
                yield target, Arrival(consumer.edge, piece.number, part, frontier)


def _run_sink(task: EpochTask, layout: Layout, piece: Piece, arrivals: Sequence[Arrival]) -> Done:
    """Write the rows of an output as the part of this epoch."""
    outputs = layout.checked.network.outputs
    train, _ = _merge(arrivals, layout, outputs[piece.name].source)
    write_output(task, layout, piece.name, train)
    found = {piece.name: train}
    return Done(piece.number, rows={piece.name: train.height}, worth=worth(outputs, found))


def write_output(task: EpochTask, layout: Layout, name: str, train: pl.DataFrame) -> None:
    """Write the part of this epoch, if the output has a sink."""
    if name in task.sinks and train.height:
        arc = layout.checked.network.outputs[name].source
        fields = list(layout.checked.schemas[arc].fields)
        path = _write(train.select(fields), Path(task.sinks[name]), f"{task.plan.epoch:08d}")
        if task.durable:
            sync_file(path)


def with_letters(done: Done, task: EpochTask, stepper: Stepper) -> Done:
    """Stage the dead letters of a piece, and add them to its report."""
    letters = stage_letters(task.folder, task.plan.epoch, done.piece, stepper.dead)
    reasons = reasons_of(stepper.dead)
    plain = {s: {why: asdict(r) for why, r in found.items()} for s, found in reasons.items()}
    return replace(done, dead=plain, letters=letters)


_TURN = 0.0005
"""Seconds between switches of Python threads; Python's default is ten times as long."""


def run_in_process(task: EpochTask) -> list[Done]:
    """Run all pieces of an epoch in this process, the pieces of a level in parallel."""
    layout = make_layout(task.network, task.shape)
    waiting: dict[int, list[Arrival]] = {piece.number: [] for piece in layout.pieces}
    found = []

    def run(piece: Piece) -> tuple[list[tuple[Piece, Arrival]], Done]:
        sent, done = run_piece(task, piece, waiting[piece.number])
        return list(sent), done

    pool = _pool(min(task.shape.instances, os.cpu_count() or 1))
    for level in layout.levels:
        for sent, done in pool.map(run, level):
            found.append(done)
            for target, arrival in sent:
                waiting[target.number].append(arrival)
    return found


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    """A thread pool that outlives an epoch, with the database connections of its threads.

    Small pieces spend most of their time under the GIL. A shorter switch interval keeps a piece
    that could start a kernel from waiting for another one.
    """
    sys.setswitchinterval(_TURN)
    return ThreadPoolExecutor(threads, "boxcars-piece")


def read_turn(
    stepper: Stepper, task: EpochTask, name: str, states: Mapping[str, State], ranked: bool
) -> tuple[Turn, State]:
    """Read an input for this epoch; return its ordered tuples and its new state."""
    start = perf_counter()
    entity = stepper.net.inputs[name]
    read = [read_split(split, entity) for split in task.plan.splits[name]]
    train = pl.concat([part.tuples for part in read]) if read else entity.data_schema.empty()
    train = stamp(train, entity, task.plan.arrivals.get(name))
    first = task.plan.splits[name][0].position if read else 0
    names = [f"{RANK}0"] if ranked else []
    names += [POSITION] if any(n.box.positioned for n in stepper.net.boxes.values()) else []
    position = pl.int_range(first, first + pl.len(), dtype=pl.Int64)
    train = train.with_columns(position.alias(column) for column in names)
    for part in read:
        stepper.note_dead(name, part.dead)
        stepper.stats[name].dead += part.dead.height
    ahead = task.plan.ahead.get(name)
    turn = take_turn(train, entity, states.get(name), task.plan.final[name], ahead)
    stepper.stats[name].seconds += perf_counter() - start
    return turn


def read_heads(states: Mapping[str, State], inputs: Iterable[str]) -> dict[str, int | float]:
    """The greatest order value that each input has seen, as a number."""
    seen = {name: states[name][GREATEST].to_series().to_physical() for name in inputs}
    return {name: values[0] for name, values in seen.items() if len(values)}


def _write(frame: pl.DataFrame, folder: Path, name: str) -> Path:
    """Write rows as a part file; return its path."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    assert isinstance(table, pa.Table)
    path = folder / f"part-{name}.parquet"
    write_table(table, path)
    return path
