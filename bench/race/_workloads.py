"""The five workloads: their data, their networks, and which of their rows can be compared.

Data and networks are those of bench/engine where they exist. There are two sizes of data. Small
data has few phones, so that windows have many tuples and joins find matches; the results of all
engines over it are compared. Large data has 100,000 phones and is for measurements; its first files
are small, so that a slow engine can process only those.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl
from _contest import ROWS
from _engine import equi_join, map_filter, mobility, streamcloud

import boxcars as bx

Frames = Mapping[str, pl.DataFrame]

SMALL = (500,) * 20
"""Rows per file of the small data."""
FIRST = (1_000, 2_000, 5_000, 12_000, 30_000, 50_000)
"""Rows of the first files of the large data."""
REST = 100_000
"""Rows of each other file."""
CROWD = 200
"""Number of phones in the small data."""
START = 1_700_000_000
"""Time of the first call in seconds; Spark treats rows at zero as late."""
WINDOW = 60
"""Seconds of every time window."""


@dataclass(frozen=True)
class Workload:
    """A name, a description, the data, the network and its output fields.

    ``windows``: ``time`` is the start of a window of 60 s. Engines differ in windows that are open
    at the end of the data, so only those that end before are compared.
    """

    name: str
    sentence: str
    data: Callable[[int], Frames]
    network: Callable[[], bx.Network]
    fields: Sequence[str]
    windows: bool = False


def calls(rows: int) -> Frames:
    """Calls with their prices."""
    return {"calls": map_filter.calls(rows, 0)}


def timed(rows: int) -> Frames:
    """Calls with their durations."""
    number = -(-rows // streamcloud.ROWS)
    return {"calls": pl.concat(map(streamcloud.calls, range(number)))[:rows]}


def located(rows: int) -> Frames:
    """Calls with positions, and no phone in two calls within a second.

    Which of the two is first would be left to the engine.
    """
    return {"calls": mobility.calls(rows, 0)}


def two_sides(rows: int) -> Frames:
    """Calls on the left and on the right, half of the rows each."""
    number = -(-rows // 2 // equi_join.ROWS)
    return {
        side: pl.concat([equi_join.calls(seed, n) for n in range(number)])[: rows // 2]
        for seed, side in enumerate(("left", "right"))
    }


def busiest() -> bx.Network:
    """Of each window of 60 s: how many phones called, and their most and mean calls."""
    net = bx.Network("busiest")
    fields = {"caller": "str", "time": "int", "duration": "int"}
    stream = net.input("calls", ts="time", fields=fields)
    counts = stream.aggregate(bx.time(60, 10), by="caller", n="count()").named("counts")
    most = counts.aggregate(bx.time(10), callers="count()", most="max(n)", mean="avg(n)")
    net.output("out", most.named("most"))
    return net


def high_mobility() -> bx.Network:
    """examples/high-mobility.yaml."""
    return bx.load(mobility.NETWORK)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "map-filter", "map and filter", calls, map_filter.network, ("time", "caller", "cents")
        ),
        Workload(
            "sliding",
            "count and mean by caller, 60 s every 10 s",
            timed,
            streamcloud.network,
            ("time", "caller", "n", "mean"),
            windows=True,
        ),
        Workload(
            "mobility",
            "two consecutive calls of a phone, too far apart",
            located,
            high_mobility,
            ("time", "phone", "speed"),
        ),
        Workload(
            "join",
            "equi-join of two streams, less than 60 s apart",
            two_sides,
            equi_join.network,
            ("left_time", "left_phone", "left_x", "right_time", "right_phone", "right_x"),
        ),
        Workload(
            "aggregates",
            "an aggregate of an aggregate: the busiest callers of each window",
            timed,
            busiest,
            ("time", "callers", "most", "mean"),
            windows=True,
        ),
    )
}
KINDS = ("parquet", "csv")
PHONES = ("caller", "callee", "phone")


def large_rows(rows: int) -> tuple[int, ...]:
    """The rows of each file of large data with ``rows`` rows in total.

    >>> large_rows(250_000)
    (1000, 2000, 5000, 12000, 30000, 50000, 100000, 50000)
    """
    sizes, left = [], rows
    for size in (*FIRST, *(REST,) * (rows // REST)):
        sizes.append(min(size, left))
        left -= sizes[-1]
    return tuple(size for size in sizes if size)


def small_data(workload: Workload) -> Frames:
    """Small data of a few minutes, with few phones."""
    step = streamcloud.ROWS // sum(SMALL)
    frames = workload.data(streamcloud.ROWS)
    return {
        name: apart(later(frame.gather_every(step).with_columns(few(frame))))
        for name, frame in frames.items()
    }


def large_data(workload: Workload, rows: int) -> Frames:
    """The number of rows of all inputs."""
    return {name: apart(later(frame)) for name, frame in workload.data(rows).items()}


def later(frame: pl.DataFrame) -> pl.DataFrame:
    """The calls, shifted to ``START``."""
    return frame.with_columns(pl.col("time") + START)


def few(frame: pl.DataFrame) -> Iterator[pl.Expr]:
    """Map the phones of a frame to few phones."""
    for name in PHONES:
        if name in frame.columns:
            yield (pl.col(name).cast(pl.Int64) % CROWD).cast(pl.String)


def apart(frame: pl.DataFrame) -> pl.DataFrame:
    """The calls without those in which a phone occurs a second time in the same second.

    Only where the order of such calls matters, which is where there are positions.
    """
    if "caller_x" not in frame.columns:
        return frame
    numbered = frame.with_row_index("row")
    seen = pl.concat(
        numbered.select("row", "time", pl.col(who).alias("phone")) for who in ("caller", "callee")
    )
    again = seen.sort("row").filter(~pl.struct("time", "phone").is_first_distinct())
    return numbered.join(again, on="row", how="anti").sort("row").drop("row")


def write(frames: Frames, sizes: Sequence[int], folder: Path) -> None:
    """Write frames as files with ``sizes`` rows over all inputs, as Parquet and CSV.

    Their modification times are a second apart, because Spark reads files in that order.
    """
    cuts = [0, *accumulate(size // len(frames) for size in sizes)]
    rows = [0] * len(sizes)
    for name, frame in frames.items():
        for kind in KINDS:
            (folder / kind / name).mkdir(parents=True)
        for number, (start, end) in enumerate(pairwise(cuts)):
            part = frame[start:end]
            rows[number] += part.height
            paths = [folder / f"{kind}/{name}/part-{number:04d}.{kind}" for kind in KINDS]
            part.write_parquet(paths[0])
            part.write_csv(paths[1])
            for path in paths:
                os.utime(path, (START + number, START + number))
    (folder / ROWS).write_text(json.dumps(rows))
