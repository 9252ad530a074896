"""A user-defined aggregate compared with the built-in one: compiled, and as plain Python.

The mean of a sliding time window, built-in and as four classes: with and without ``combine``,
compiled and not. Windows of 6 and of 600 tuples show the effect of ``combine``. The time is that of
the box on one core, without compilation; plain Python gets fewer tuples.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
import sys

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.engine.exec.memory import keep_memory

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
KEYS, ROUNDS, LESS = 100, 3, 10
FIELDS = {"caller": "int", "time": "int", "duration": "float"}


class Mean:
    @staticmethod
    def start() -> tuple[float, int]:
        return 0.0, 0

    @staticmethod
    def add(state: tuple[float, int], x: float) -> tuple[float, int]:
        return state[0] + x, state[1] + 1

    @staticmethod
    def finish(state: tuple[float, int]) -> float:
        return state[0] / state[1]


class MeanOfParts(Mean):
    @staticmethod
    def combine(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
        return a[0] + b[0], a[1] + b[1]


WAYS = {
    "compiled, combine": ("parts", MeanOfParts, True),
    "compiled": ("alone", Mean, True),
    "Python, combine": ("slow_parts", MeanOfParts, False),
    "Python": ("slow_alone", Mean, False),
}


def calls(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "caller": rng.integers(0, KEYS, rows),
            "time": np.sort(rng.integers(0, rows // 100, rows)),
            "duration": rng.random(rows) * 600,
        }
    )


def network(function: str, ratio: int) -> bx.Network:
    net = bx.Network("own")
    stream = net.input("calls", ts="time", fields=FIELDS)
    window = bx.time(ratio, advance=1)
    drawn = stream.aggregate(window, by="caller", m=f"{function}(duration)").named("windows")
    net.output("out", drawn)
    return net


def seconds(names: list[str], ratio: int, rows: int) -> dict[str, float]:
    """The time of the box for each function, interleaved."""
    data, nets = calls(rows), {name: network(name, ratio) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS + 1):
        for name, net in nets.items():
            times[name].append(bx.preview(net, {"calls": data}).stats["windows"].seconds)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def main() -> None:
    keep_memory()
    for name, cls, compiled in WAYS.values():
        bx.aggregate(name=name, compile=compiled)(cls)
    print(f"the mean over sliding windows, {KEYS} keys, one core, medians of {ROUNDS}, interleaved")
    for ratio in (6, 600):
        for compiled, rows in ((True, ROWS), (False, ROWS // LESS)):
            ways = {way: name for way, (name, _, c) in WAYS.items() if c is compiled}
            found = seconds(["avg", *ways.values()], ratio, rows)
            print(f"  {rows:,} tuples, {ratio} in a window: avg {found['avg']:.3f} s")
            for way, name in ways.items():
                times = found[name] / found["avg"]
                print(f"    own, {way:18} {found[name]:7.3f} s, {times:7.2f} times that of avg")


if __name__ == "__main__":
    main()
