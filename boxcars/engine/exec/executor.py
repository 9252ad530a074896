"""Executors run the pieces of an epoch, and report on it.

The driver only knows this interface; Spark, this process and the simulator implement it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from boxcars.engine.epoch.messages import Done, EpochTask, Outcome
from boxcars.engine.epoch.piece_runner import run_in_process
from boxcars.engine.epoch.table_transaction import run_table_transaction
from boxcars.engine.layout.pieces import make_layout
from boxcars.engine.measure.arc_samples import join_peeked
from boxcars.engine.measure.bucket_load import add_loads
from boxcars.engine.measure.counters import Counts
from boxcars.engine.measure.dead_letter_reasons import add_reasons, read_reasons


class Executor(ABC):
    """Runs epochs."""

    @abstractmethod
    def run(self, task: EpochTask) -> Outcome:
        """Run an epoch: its output parts and state files exist when this returns.

        It may be called again for the same epoch, and then does the same.
        """


class InProcessExecutor(Executor):
    """Runs epochs in this process, without Spark."""

    def run(self, task: EpochTask) -> Outcome:
        """Run all pieces here, those of a level in parallel."""
        return merge_reports(run_pieces(task))


def run_pieces(task: EpochTask) -> Sequence[Done]:
    """Run a whole epoch in this process."""
    layout = make_layout(task.network, task.shape)
    return [run_table_transaction(task, layout)] if layout.writes else run_in_process(task)


def merge_reports(found: Sequence[Done]) -> Outcome:
    """Merge the reports of all pieces."""
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
