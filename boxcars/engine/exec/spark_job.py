"""The Spark job of an epoch: levels of pieces, with a shuffle of trains between levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import polars as pl
from pyspark import RDD
from pyspark.sql import SparkSession

from boxcars.engine.epoch.messages import (
    Arrival,
    Done,
    EpochTask,
    Outcome,
    PieceTask,
    shared_part,
)
from boxcars.engine.epoch.piece_runner import run_piece
from boxcars.engine.epoch.state_loading import piece_task
from boxcars.engine.exec.compile_progress import reporting_compiling
from boxcars.engine.exec.executor import Executor, merge_reports, run_pieces
from boxcars.engine.exec.spark_errors import explain
from boxcars.engine.exec.worker import worker_task
from boxcars.engine.layout.pieces import Layout, Piece, make_layout
from boxcars.kernels.contract import Frontier
from boxcars.model.problem import BoxcarsError
from boxcars.own_code.loading import load_bundle

ONE_TASK_ROWS = 20_000
"""Rows; an epoch with no more than this runs as one task, without a shuffle."""

Parcel = tuple[int, Any]
"""A partition of the next level, and its content: a train, what a piece needs to know, a report,
or an error message."""


@dataclass(frozen=True)
class Packed:
    """A serialized arrival, with its train as Arrow bytes."""

    target: int
    edge: int
    sender: int
    frontier: Frontier
    data: bytes

    @classmethod
    def of(cls, target: int, arrival: Arrival) -> Packed:
        """Serialize an arrival."""
        stream = BytesIO()
        arrival.train.write_ipc_stream(stream)
        return cls(target, arrival.edge, arrival.sender, arrival.frontier, stream.getvalue())

    def unpack(self) -> Arrival:
        """Deserialize the arrival."""
        return Arrival(self.edge, self.sender, pl.read_ipc_stream(self.data), self.frontier)


@dataclass(frozen=True)
class SparkExecutor(Executor):
    """Runs epochs as Spark jobs."""

    spark: SparkSession

    def run(self, task: EpochTask) -> Outcome:
        """Run an epoch on Spark."""
        return run_job(self.spark, task)


def run_job(spark: SparkSession, task: EpochTask) -> Outcome:
    """Run an epoch on Spark; errors are raised as one sentence."""
    layout = make_layout(task.network, task.shape)
    try:
        if not worth_a_shuffle(spark, task, layout):
            found = (
                spark.sparkContext.parallelize([task], 1).mapPartitions(_run_as_one_task).collect()
            )
        else:
            found = _levels(spark, task, layout).collect()
    except Exception as error:
        what = explain(error, spark.sparkContext.pythonExec)
        raise BoxcarsError(f"epoch {task.plan.epoch} failed on Spark: {what}") from error
    for done in found:
        if isinstance(done, str):
            raise BoxcarsError(done)
    return merge_reports([done for done in found if isinstance(done, Done)])


def worth_a_shuffle(spark: SparkSession, task: EpochTask, layout: Layout) -> bool:
    """Whether to run each piece as its own Spark task.

    In local mode pieces run as threads of one task: trains are passed in memory.
    """
    several = len(layout.pieces) > len(layout.levels) and not layout.writes
    return (
        several
        and task.rows > ONE_TASK_ROWS
        and not str(spark.sparkContext.master).startswith("local")
    )


def _run_as_one_task(tasks: Iterable[EpochTask]) -> Iterator[Done | str]:
    """Run a whole epoch in one task on an executor."""
    for task in tasks:
        with worker_task(), reporting_compiling(task.folder):
            try:
                load_bundle(task.code)
                yield from run_pieces(task)
            except BoxcarsError as error:
                yield str(error)


def _levels(spark: SparkSession, task: EpochTask, layout: Layout) -> RDD[Any]:
    """Build one linear job: a shuffle for each level, and a task for each of its pieces."""
    first = len(layout.levels[0])
    own: list[list[Parcel]] = [[] for _ in range(first)]
    for number, piece in enumerate(layout.pieces):  # those of level 0 come first
        own[number % first].append((number % first, piece_task(task, layout, piece)))
    rdd: RDD[Any] = spark.sparkContext.parallelize(own, first).flatMap(_itself)
    shared = shared_part(task)
    for level in range(len(layout.levels)):
        if level:
            rdd = rdd.partitionBy(len(layout.levels[level]), _itself)
        rdd = rdd.mapPartitionsWithIndex(_runner(shared, level))
    return rdd.values()


def _itself(value: Any) -> Any:
    return value


def _runner(task: EpochTask, level: int) -> Callable[[int, Iterable[Parcel]], Iterator[Parcel]]:
    """The function that the tasks of a level run."""

    def run(partition: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
        with worker_task(), reporting_compiling(task.folder):
            load_bundle(task.code)
            yield from _run_partition(task, level, partition, parcels)

    return run


def _run_partition(
    task: EpochTask, level: int, partition: int, parcels: Iterable[Parcel]
) -> Iterator[Parcel]:
    """Run one piece with the parcels addressed to it; forward all others to the next level.

    After a failure no downstream piece runs: the error message is forwarded to all of them.
    """
    layout = make_layout(task.network, task.shape)
    piece = layout.levels[level][partition]
    onward = layout.levels[level + 1] if level + 1 < len(layout.levels) else ()
    arrivals, failed, own = [], "", task
    for _, content in parcels:
        if isinstance(content, str):
            failed = content
        elif isinstance(content, Packed) and content.target == piece.number:
            arrivals.append(content.unpack())
        elif isinstance(content, PieceTask) and content.target == piece.number:
            own = content.added_to(task)
        else:
            yield _partition_for(content, onward, partition), content
    if not failed:
        try:
            sent, done = run_piece(own, piece, arrivals)
            for target, arrival in sent:
                packed = Packed.of(target.number, arrival)
                yield _partition_for(packed, onward, partition), packed
            yield _partition_for(done, onward, partition), done
        except BoxcarsError as error:
            failed = str(error)
    if failed:
        for target_partition in range(max(len(onward), 1)):
            yield target_partition, failed


def _partition_for(
    content: Packed | PieceTask | Done, onward: Sequence[Piece], partition: int
) -> int:
    """The partition of the next level for a parcel; those for later levels may take any."""
    if not isinstance(content, Done):
        for index, piece in enumerate(onward):
            if piece.number == content.target:
                return index
    return partition % max(len(onward), 1)
