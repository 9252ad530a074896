"""The Spark job of an epoch: levels of pieces, and the trains that move between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import polars as pl
from pyspark import RDD
from pyspark.sql import SparkSession

from boxcars.engine.epoch.messages import Arrival, Done, EpochTask, Outcome
from boxcars.engine.epoch.piece_runner import run_here, run_piece
from boxcars.engine.epoch.table_transaction import run_written
from boxcars.engine.exec.compile_progress import noting_compiling
from boxcars.engine.exec.spark_errors import explain
from boxcars.engine.exec.worker import at_work
from boxcars.engine.layout.pieces import Layout, Piece, make_layout
from boxcars.engine.measure.arc_samples import join_peeked
from boxcars.engine.measure.bucket_load import add_loads
from boxcars.engine.measure.counters import Counts
from boxcars.engine.measure.dead_letter_reasons import add_reasons, read_reasons
from boxcars.kernels.contract import Frontier
from boxcars.model.problem import BoxcarsError
from boxcars.own_code.loading import load_bundle

ALONE = 20_000
"""So many rows are not worth a shuffle: one task runs all pieces of an epoch with no more."""

Parcel = tuple[int, Any]
"""A partition of the next level, and what goes there: a train, a report, or what went wrong."""


@dataclass(frozen=True)
class Packed:
    """An arrival on its way to a piece; its train as Arrow bytes."""

    target: int
    edge: int
    sender: int
    frontier: Frontier
    data: bytes

    @classmethod
    def of(cls, target: int, arrival: Arrival) -> Packed:
        """Pack an arrival."""
        stream = BytesIO()
        arrival.train.write_ipc_stream(stream)
        return cls(target, arrival.edge, arrival.sender, arrival.frontier, stream.getvalue())

    def unpack(self) -> Arrival:
        """The arrival again."""
        return Arrival(self.edge, self.sender, pl.read_ipc_stream(self.data), self.frontier)


def run_job(spark: SparkSession, task: EpochTask) -> Outcome:
    """Run an epoch on Spark; what went wrong is said in a sentence."""
    layout = make_layout(task.network, task.shape)
    try:
        if not worth_a_shuffle(spark, task, layout):
            found = spark.sparkContext.parallelize([task], 1).mapPartitions(_run_alone).collect()
        else:
            found = _levels(spark, task, layout).collect()
    except Exception as error:
        what = explain(error, spark.sparkContext.pythonExec)
        raise BoxcarsError(f"epoch {task.plan.epoch} failed on Spark: {what}") from error
    for done in found:
        if isinstance(done, str):
            raise BoxcarsError(done)
    return _outcome([done for done in found if isinstance(done, Done)])


def worth_a_shuffle(spark: SparkSession, task: EpochTask, layout: Layout) -> bool:
    """Whether the pieces of a level had better run in tasks of their own.

    Where all of Spark is one process they run as threads of one task: trains stay where they are.
    """
    several = len(layout.pieces) > len(layout.levels) and not layout.writes
    return several and task.rows > ALONE and not str(spark.sparkContext.master).startswith("local")


def _outcome(found: Sequence[Done]) -> Outcome:
    """What all pieces did together."""
    ordered = sorted(found, key=lambda done: done.piece)
    stats: dict[str, tuple[Counts, ...]] = {}
    for done in ordered:
        for name, counts in done.stats.items():
            stats[name] = (*stats.get(name, ()), Counts(**counts))
    rows = {name: number for done in ordered for name, number in done.rows.items()}
    heads = {name: head for done in ordered for name, head in done.heads.items()}
    worth = {name: sum_ for done in ordered for name, sum_ in done.worth.items()}
    files = tuple(entry for done in ordered for entry in done.state)
    loads = add_loads(done.loads for done in ordered)
    peeked = join_peeked(done.peeked for done in ordered)
    dead = add_reasons(read_reasons(done.dead) for done in ordered)
    letters = tuple(done.letters for done in ordered if done.letters)
    return Outcome(files, stats, rows, heads, worth, loads, peeked, dead, letters)


def _run_alone(tasks: Iterable[EpochTask]) -> Iterator[Done | str]:
    """Run a whole epoch in one task on an executor."""
    for task in tasks:
        with at_work(), noting_compiling(task.folder):
            try:
                load_bundle(task.code)
                layout = make_layout(task.network, task.shape)
                if layout.writes:
                    yield run_written(task, layout)
                else:
                    yield from run_here(task)
            except BoxcarsError as error:
                yield str(error)


def _levels(spark: SparkSession, task: EpochTask, layout: Layout) -> RDD[Any]:
    """One linear job: each level is a shuffle of trains and a task for each of its pieces."""
    first = len(layout.levels[0])
    rdd: RDD[Any] = spark.sparkContext.parallelize(range(first), first).map(lambda n: (n, None))
    for level in range(len(layout.levels)):
        if level:
            rdd = rdd.partitionBy(len(layout.levels[level]), _itself)
        rdd = rdd.mapPartitionsWithIndex(_runner(task, level))
    return rdd.values()


def _itself(partition: int) -> int:
    return partition


def _runner(task: EpochTask, level: int) -> Callable[[int, Iterable[Parcel]], Iterator[Parcel]]:
    """What the tasks of a level do."""

    def run(partition: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
        with at_work(), noting_compiling(task.folder):
            load_bundle(task.code)
            yield from _run_partition(task, level, partition, parcels)

    return run


def _run_partition(
    task: EpochTask, level: int, partition: int, parcels: Iterable[Parcel]
) -> Iterator[Parcel]:
    """Run one piece with what came for it; all else is passed on to the next level.

    Once a piece has failed, nobody behind it runs: what it says goes to all of them.
    """
    layout = make_layout(task.network, task.shape)
    piece = layout.levels[level][partition]
    onward = layout.levels[level + 1] if level + 1 < len(layout.levels) else ()
    arrivals, failed = [], ""
    for _, content in parcels:
        if isinstance(content, str):
            failed = content
        elif isinstance(content, Packed) and content.target == piece.number:
            arrivals.append(content.unpack())
        elif content is not None:
            yield _place(content, onward, partition), content
    if not failed:
        try:
            sent, done = run_piece(task, piece, arrivals)
            for target, arrival in sent:
                packed = Packed.of(target.number, arrival)
                yield _place(packed, onward, partition), packed
            yield _place(done, onward, partition), done
        except BoxcarsError as error:
            failed = str(error)
    if failed:
        for place in range(max(len(onward), 1)):
            yield place, failed


def _place(content: Packed | Done, onward: Sequence[Piece], partition: int) -> int:
    """The partition of the next level for a train; what goes further may pass through any."""
    if isinstance(content, Packed):
        for place, piece in enumerate(onward):
            if piece.number == content.target:
                return place
    return partition % max(len(onward), 1)
