"""The tiny network of the driver's simulation: running counts by key, without Spark or kernels.

The driver, the checkpoint, the state files and the placement of buckets are the real ones; only
the work of the tasks is simulated, so that an epoch takes less than a millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random

import polars as pl

from boxcars.connectors.read.base import Offset, Portion, Reader
from boxcars.connectors.read.splits import FileSplit
from boxcars.connectors.write.base import SinkWriter
from boxcars.engine.epoch.dead_letters import DeadLetters
from boxcars.engine.epoch.messages import EpochTask, Outcome
from boxcars.engine.exec.executor import Executor
from boxcars.engine.layout.network_text import write_text
from boxcars.engine.layout.pieces import make_layout
from boxcars.engine.state.state_files import Origin, StateRef, read_frame, write_state
from boxcars.engine.state.storage import Storage
from boxcars.model.network import Network
from boxcars.model.window import tuples

BUCKETS = 6
COUNTS = "counts"
"""The stateful box, and the subquery that it is in."""
ROWS = 40
"""Rows of the input; the key of row ``n`` is ``n % 7``."""
KEYS = 7

Row = list[int]
"""A result: the number of the input row, and how many rows of its key there were so far."""


@cache
def network_text() -> str:
    """The network; only its layout is used."""
    net = Network("simulated")
    rows = net.input("rows", ts="t", fields={"t": "int", "k": "int"})
    net.output("out", rows.aggregate(tuples(1), by="k", n="count()").named(COUNTS))
    return write_text(net, {})


def undisturbed() -> list[Row]:
    """The output of an undisturbed run."""
    return [[row, row // KEYS + 1] for row in range(ROWS)]


class Numbers(Reader):
    """An input of numbered rows, of which a random number has arrived when it is asked."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan the next rows."""
        stop = min(offset.position + self._chance.randint(0, rows), ROWS)
        split = FileSplit("numbers", offset.position, stop, offset.position)
        return Portion((split,), Offset(stop, ended=stop == ROWS))


class TinyExecutor(Executor):
    """Counts rows by key; the counts of a key are in the state of the instance that owns it."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick

    def run(self, task: EpochTask) -> Outcome:
        """Run an epoch, with a state file for each instance, and stage its output."""
        subquery = make_layout(task.network, task.shape).plan[COUNTS]
        owners = subquery.registry.owners.tolist()
        before = self._load(task)
        rows: list[Row] = []
        (split,) = task.plan.splits["rows"]
        assert isinstance(split, FileSplit)
        for row in range(split.start, split.stop):
            owner = owners[row % KEYS % BUCKETS]
            before[owner][row % KEYS] = before[owner].get(row % KEYS, 0) + 1
            rows.append([row, before[owner][row % KEYS]])
        refs: list[StateRef] = []
        for instance, counts in before.items():
            self._tick()
            origin = Origin(task.plan.epoch, task.term, COUNTS, instance)
            frame = pl.DataFrame({"k": list(counts), "n": list(counts.values())})
            refs += write_state(task.storage, origin, [(COUNTS, "counts", frame)])
        staged = f"{_STAGED}/{task.plan.epoch:08d}"
        task.storage.put(staged, json.dumps(rows).encode())
        task.storage.sync([staged])
        self._tick()
        return Outcome(tuple(refs), {}, {"out": len(rows)}, {}, {}, {}, {}, {}, ())

    def _load(self, task: EpochTask) -> dict[int, dict[int, int]]:
        """The counts of each instance; after a resize they are handed to the new owners."""
        subquery = make_layout(task.network, task.shape).plan[COUNTS]
        previous = make_layout(task.network, task.previous_shape or task.shape).plan[COUNTS]
        found: dict[int, dict[int, int]] = {i: {} for i in range(subquery.instances)}
        owners = subquery.registry.owners.tolist()
        moved = previous.owner_of != subquery.owner_of
        for ref in task.state:
            frame = read_frame(task.storage, ref)
            for key, number in frame.iter_rows():
                found[owners[key % BUCKETS] if moved else ref.instance][key] = number
        return found


_STAGED, _PUBLISHED = "staged", "published"


class Published(SinkWriter):
    """A sink in the simulated storage: a part is staged, and published after the commit."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(Path(_STAGED), Path(_PUBLISHED))
        self._storage = storage

    def deliver(self, epoch: int) -> None:
        """Publish the part of an epoch, once; it may have been published before a crash."""
        name = f"{epoch:08d}"
        if f"{_STAGED}/{name}" not in self._storage.list(_STAGED):
            return
        self._storage.put(f"{_PUBLISHED}/{name}", self._storage.get(f"{_STAGED}/{name}"))
        self._storage.sync([f"{_PUBLISHED}/{name}"])
        self._storage.delete([f"{_STAGED}/{name}"])


def published_rows(storage: Storage) -> Mapping[int, list[Row]]:
    """The rows that a reader of the sink sees, by epoch."""
    names = storage.list(_PUBLISHED)
    return {int(name.rpartition("/")[2]): json.loads(storage.get(name)) for name in names}


class NoLetters(DeadLetters):
    """There are no dead letters here."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"), SinkWriter(Path(), Path()), "")

    def deliver(self, epoch: int, names: object, inputs: object) -> None:
        """There is nothing to deliver."""

    def forget(self, epoch: int) -> None:
        """There is nothing to forget."""
