"""Pathway, from CSV files to CSV files.

Two threads, no persistence, and static mode: it processes all data in one commit, which is its
fastest mode, and an advantage over a stream. Windows have no behaviour, because in one commit each
has only one result anyway.
"""

import os
from collections.abc import Callable

os.environ["PATHWAY_THREADS"] = "2"

import pathway as pw
from _contest import Run, Task, contest
from pathway.internals.parse_graph import G


class Call(pw.Schema):
    caller: str
    callee: str
    time: int
    price: float


class Timed(pw.Schema):
    caller: str
    time: int
    duration: int


class Placed(pw.Schema):
    caller: str
    callee: str
    time: int
    duration: int
    price: float
    caller_x: float
    caller_y: float
    callee_x: float
    callee_y: float


class Side(pw.Schema):
    time: int
    phone: str
    x: float


def map_filter(calls: pw.Table) -> pw.Table:
    expensive = calls.filter((calls.price > 5) & (calls.caller != calls.callee))
    return expensive.select(
        at=expensive.time, caller=expensive.caller, cents=expensive.price * 100 + 1
    )


def windows(calls: pw.Table) -> pw.Table:
    window = pw.temporal.sliding(hop=10, duration=60)
    return calls.windowby(calls.time, window=window, instance=calls.caller).reduce(
        at=pw.this._pw_window_start,
        caller=pw.this._pw_instance,
        n=pw.reducers.count(),
        mean=pw.reducers.avg(pw.this.duration),
    )


def sliding(calls: pw.Table) -> pw.Table:
    return windows(calls).filter(pw.this.n >= 3)


def aggregates(calls: pw.Table) -> pw.Table:
    counts = windows(calls)
    return counts.groupby(counts.at).reduce(
        at=counts.at,
        callers=pw.reducers.count(),
        most=pw.reducers.max(counts.n),
        mean=pw.reducers.avg(counts.n),
    )


def mobility(calls: pw.Table) -> pw.Table:
    seen = pw.Table.concat_reindex(
        *(
            calls.select(
                phone=calls[who], time=calls.time, x=calls[f"{who}_x"], y=calls[f"{who}_y"]
            )
            for who in ("caller", "callee")
        )
    )
    seen += seen.sort(key=seen.time, instance=seen.phone)
    second = seen.filter(seen.prev.is_not_none())
    first = seen.ix(pw.unwrap(second.prev))
    distance = ((second.x - first.x) ** 2 + (second.y - first.y) ** 2) ** 0.5
    speeds = second.select(
        at=first.time, phone=second.phone, speed=distance / (second.time - first.time)
    )
    return speeds.filter(speeds.speed > 110)


def join(left: pw.Table, right: pw.Table) -> pw.Table:
    near = pw.temporal.interval(-59, 59)
    return left.interval_join(right, left.time, right.time, near, left.phone == right.phone).select(
        left_time=left.time,
        left_phone=left.phone,
        left_x=left.x,
        right_time=right.time,
        right_phone=right.phone,
        right_x=right.x,
    )


FLOWS: dict[str, tuple[Callable[..., pw.Table], type[pw.Schema]]] = {
    "map-filter": (map_filter, Call),
    "sliding": (sliding, Timed),
    "mobility": (mobility, Placed),
    "join": (join, Side),
    "aggregates": (aggregates, Timed),
}
"""The flow of each workload, and the schema of its inputs."""


def job(task: Task) -> Run:
    G.clear()
    flow, schema = FLOWS[task.workload]
    tables = [
        pw.io.csv.read(str(folder), schema=schema, mode="static")
        for folder in task.folders("csv").values()
    ]
    task.results.mkdir(parents=True)
    out = task.results / "out.csv"
    pw.io.csv.write(flow(*tables), str(out))

    def run() -> None:
        pw.run(monitoring_level=pw.MonitoringLevel.NONE)
        if task.small:  # Pathway adds its own time column
            names, rows = out.read_text().split("\n", 1)
            renamed = {"time": "commit", "at": "time"}
            ours = [renamed.get(name, name) for name in names.replace('"', "").split(",")]
            out.write_text(f"{','.join(ours)}\n{rows}")

    return run


if __name__ == "__main__":
    contest(job)
