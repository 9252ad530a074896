"""The five workloads: their data, their networks, and which of their rows can be compared.

Data and networks are those of bench/engine where they exist. There are two sizes of data. Small
data has few phones, so that windows are full and joins find partners; the results of all engines
over it are compared. Large data has 100,000 phones and is for measuring; its first files are
small, so that a slow engine can have few of them.
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
"""The rows of each file of the small data."""
FIRST = (1_000, 2_000, 5_000, 12_000, 30_000, 50_000)
"""The rows of the first files of the large data."""
REST = 100_000
"""The rows of each other file."""
CROWD = 200
"""The phones of the small data."""
START = 1_700_000_000
"""When the first call was, in seconds; Spark takes what is at zero for late."""
WINDOW = 60
"""The seconds of every window of time."""


@dataclass(frozen=True)
class Workload:
    """A name, a sentence, the data, the network and the fields that it gives.

    ``windows`` says that ``time`` is where a window of 60 s starts. Engines differ in the windows
    that are open at the end of the data, so only those that end before are compared.
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


def placed(rows: int) -> Frames:
    """Calls with their places, and no phone in two of them within a second.

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
            "two calls of a phone in a row, too far apart",
            placed,
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
    """The rows of each file of large data with so many rows in all.

    >>> large_rows(250_000)
    (1000, 2000, 5000, 12000, 30000, 50000, 100000, 50000)
    """
    sizes, left = [], rows
    for size in (*FIRST, *(REST,) * (rows // REST)):
        sizes.append(min(size, left))
        left -= sizes[-1]
    return tuple(size for size in sizes if size)


def small_data(workload: Workload) -> Frames:
    """The rows of a few minutes, so few that the phones in them are busy."""
    step = streamcloud.ROWS // sum(SMALL)
    frames = workload.data(streamcloud.ROWS)
    return {
        name: apart(later(frame.gather_every(step).with_columns(few(frame))))
        for name, frame in frames.items()
    }


def large_data(workload: Workload, rows: int) -> Frames:
    """So many rows, of all inputs together."""
    return {name: apart(later(frame)) for name, frame in workload.data(rows).items()}


def later(frame: pl.DataFrame) -> pl.DataFrame:
    """The calls, moved to where they start."""
    return frame.with_columns(pl.col("time") + START)


def few(frame: pl.DataFrame) -> Iterator[pl.Expr]:
    """The phones of a frame, made few."""
    for name in PHONES:
        if name in frame.columns:
            yield (pl.col(name).cast(pl.Int64) % CROWD).cast(pl.String)


def apart(frame: pl.DataFrame) -> pl.DataFrame:
    """The calls without those in which a phone is, in the same second, for the second time.

    Only where the order of such calls matters, which is where there are places.
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
    """Write frames as files of so many rows of all inputs, in both kinds.

    The files are a second apart, for Spark takes them in the order in which they were changed.
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
