"""Bytewax, from Parquet files, read with Arrow, to CSV files.

Two processes with one worker each, because workers in one process share Python's GIL. No recovery:
state in memory is lost when it stops. Bytewax has a clock per key, but none for a whole stream. So
an aggregate of an aggregate cannot know when all callers have closed a window, and is computed at
the end of the input; and it has window joins but no interval joins, so the join is custom code.
"""

import multiprocessing
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as win
import pyarrow.parquet as pq
from _contest import Run, Task, contest, name_columns
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import KeyedStream, Stream
from bytewax.testing import cluster_main

WORKERS = 2
BATCH = 1_000
EPOCH = datetime.fromtimestamp(0, UTC)
CLOCK = win.EventClock(
    ts_getter=lambda call: datetime.fromtimestamp(call[0], UTC),
    wait_for_system_duration=timedelta(seconds=10),
)
WINDOWER = win.SlidingWindower(
    length=timedelta(seconds=60), offset=timedelta(seconds=10), align_to=EPOCH
)
Row = tuple[Any, ...]


class Reader(StatefulSourcePartition[Row, None]):
    """Yield the rows of files, as tuples of some columns."""

    def __init__(self, files: list[str], columns: list[str]) -> None:
        self.batches = self._read(files, columns)

    @staticmethod
    def _read(files: list[str], columns: list[str]) -> Iterator[list[Row]]:
        for path in files:
            for batch in pq.ParquetFile(path).iter_batches(BATCH, columns=columns):
                by_name = batch.to_pydict()
                yield list(zip(*(by_name[name] for name in columns), strict=True))

    def next_batch(self) -> Iterable[Row]:
        return next(self.batches)

    def snapshot(self) -> None:
        return None


class Files(FixedPartitionedSource[Row, None]):
    """Parquet files, in several partitions."""

    def __init__(self, files: list[Path], columns: str, partitions: int = 1) -> None:
        self.files = [str(path) for path in files]
        self.columns = columns.split()
        self.partitions = partitions

    def list_parts(self) -> list[str]:
        return [str(number) for number in range(self.partitions)]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> Reader:
        return Reader(self.files[int(for_part) :: self.partitions], self.columns)


Flow = Callable[[Dataflow, dict[str, list[Path]]], KeyedStream[str]]


def map_filter(flow: Dataflow, files: dict[str, list[Path]]) -> KeyedStream[str]:
    calls = op.input("calls", flow, Files(files["calls"], "time caller callee price", WORKERS))
    expensive = op.filter("expensive", calls, lambda call: call[3] > 5 and call[1] != call[2])
    return op.map(
        "cents", expensive, lambda call: (call[1], f"{call[0]},{call[1]},{call[3] * 100 + 1}")
    )


def windows(flow: Dataflow, files: dict[str, list[Path]]) -> KeyedStream[tuple[int, Row]]:
    """Count and sum of durations per caller and window."""
    calls = op.input("calls", flow, Files(files["calls"], "time caller duration"))
    keyed = op.map("by-caller", calls, lambda call: (call[1], (call[0], call[2])))
    folded = win.fold_window(
        "counts",
        keyed,
        CLOCK,
        WINDOWER,
        builder=lambda: (0, 0),
        folder=lambda sums, call: (sums[0] + 1, sums[1] + call[1]),
        merger=lambda a, b: (a[0] + b[0], a[1] + b[1]),
        ordered=False,
    )
    return folded.down


def sliding(flow: Dataflow, files: dict[str, list[Path]]) -> KeyedStream[str]:
    busy = op.filter("busy", windows(flow, files), lambda found: found[1][1][0] >= 3)

    def line(found: tuple[str, tuple[int, Row]]) -> tuple[str, str]:
        caller, (window, (n, total)) = found
        return caller, f"{10 * window},{caller},{n},{total / n}"

    return op.map("line", busy, line)


def aggregates(flow: Dataflow, files: dict[str, list[Path]]) -> KeyedStream[str]:
    counts = op.map(
        "by-window", windows(flow, files), lambda found: (str(found[1][0]), found[1][1][0])
    )
    most = op.fold_final(
        "most",
        counts,
        lambda: (0, 0, 0),
        lambda so_far, n: (so_far[0] + 1, max(so_far[1], n), so_far[2] + n),
    )

    def line(found: tuple[str, Row]) -> tuple[str, str]:
        window, (callers, highest, total) = found
        return window, f"{10 * int(window)},{callers},{highest},{total / callers}"

    return op.map("line", most, line)


def mobility(flow: Dataflow, files: dict[str, list[Path]]) -> KeyedStream[str]:
    columns = "time caller callee caller_x caller_y callee_x callee_y"
    calls = op.input("calls", flow, Files(files["calls"], columns))

    def signs(call: Row) -> list[tuple[str, Row]]:
        time, caller, callee, x1, y1, x2, y2 = call
        return [(caller, (time, x1, y1)), (callee, (time, x2, y2))]

    def pair(last: Row | None, sign: Row) -> tuple[Row, Row | None]:
        return sign, None if last is None else (*last, *sign)

    def fast(found: tuple[str, Row | None]) -> tuple[str, str] | None:
        phone, both = found
        if both is None:
            return None
        t1, x1, y1, t2, x2, y2 = both
        speed = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 / (t2 - t1)
        return (phone, f"{t1},{phone},{speed}") if speed > 110 else None

    seen = op.flat_map("signs", calls, signs)
    return op.filter_map("fast", op.stateful_map("pairs", seen, pair), fast)


Kept = tuple[deque[Row], deque[Row]]


def join(flow: Dataflow, files: dict[str, list[Path]]) -> KeyedStream[str]:
    sides: list[Stream[Any]] = []
    for number, name in enumerate(("left", "right")):
        calls = op.input(name, flow, Files(files[name], "phone time x"))
        sides.append(op.map(f"{name}-key", calls, partial(tag, number)))
    return op.stateful_flat_map("join", op.merge("both", *sides), meet)


def tag(side: int, call: Row) -> tuple[str, Row]:
    return call[0], (side, *call)


def meet(kept: Kept | None, call: Row) -> tuple[Kept, list[str]]:
    """Calls of the other side less than 60 s away; older ones of this side are removed."""
    kept = kept or (deque(), deque())
    side, phone, time, x = call
    others = kept[1 - side]
    while others and others[0][0] <= time - 60:
        others.popleft()
    kept[side].append((time, x))
    found = []
    for other, y in others:
        if other >= time + 60:
            break
        (t1, x1), (t2, x2) = ((time, x), (other, y))[:: 1 if side == 0 else -1]
        found.append(f"{t1},{phone},{x1},{t2},{phone},{x2}")
    return kept, found


FLOWS: dict[str, tuple[Flow, str]] = {
    "map-filter": (map_filter, "time,caller,cents"),
    "sliding": (sliding, "time,caller,n,mean"),
    "mobility": (mobility, "time,phone,speed"),
    "join": (join, "left_time,left_phone,left_x,right_time,right_phone,right_x"),
    "aggregates": (aggregates, "time,callers,most,mean"),
}
"""The flow of each workload, and the names of its output fields."""


def build(task: Task) -> Dataflow:
    flow = Dataflow(task.workload)
    lines = FLOWS[task.workload][0](flow, task.files("parquet"))
    op.output("out", lines, DirSink(task.results, WORKERS))
    return flow


def free_ports() -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(WORKERS)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def work(task: Task, addresses: list[str], number: int, ready: Barrier) -> None:
    flow = build(task)
    ready.wait()
    cluster_main(flow, addresses, number)


def job(task: Task) -> Run:
    """Two processes that have built the flow; the run starts them, and ends when both have."""
    task.results.mkdir(parents=True)
    spawn = multiprocessing.get_context("spawn")
    addresses = [f"127.0.0.1:{port}" for port in free_ports()]
    built, ready = spawn.Barrier(WORKERS + 1), spawn.Barrier(WORKERS + 1)
    workers = [
        spawn.Process(target=wait_and_work, args=(task, addresses, number, built, ready))
        for number in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    built.wait()

    def run() -> None:
        ready.wait()
        for worker in workers:
            worker.join()
        if any(worker.exitcode for worker in workers):
            raise SystemExit("a worker of Bytewax failed.")
        if task.small:
            name_columns(task.results, FLOWS[task.workload][1])

    return run


def wait_and_work(
    task: Task, addresses: list[str], number: int, built: Barrier, ready: Barrier
) -> None:
    built.wait()
    work(task, addresses, number, ready)


if __name__ == "__main__":
    contest(job)
