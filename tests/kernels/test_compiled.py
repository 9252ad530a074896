"""Compilation is cached on disk: a second process compiles nothing."""

import os
import subprocess
import sys
from pathlib import Path

WORK = """
import boxcars as bx

net = bx.Network("n")
i = net.input("i", ts="t", fields={"t": "int", "k": "str", "x": "float"})
all_functions = {
    "s": "sum(x)", "a": "avg(x)", "m": "min(x)", "v": "variance(x)", "q": "median(x)",
    "u": "count_distinct(k)", "f": "first(k)",
}
windows = [
    bx.time(10, 5), bx.time(10, 0), bx.tuples(2, 1, timeout=3), bx.value("t", 5, 2),
    bx.runs(flush=True), bx.landmark(emit="change"), bx.time(9, 3, emit={"every": 2}),
]
for number, window in enumerate(windows):
    net.output(f"o{number}", i.aggregate(window, by="k", fields=all_functions).named(f"a{number}"))
net.output("j", i.join(i, on="left.k = right.k", window=bx.time(2)).named("join"))
net.output("w", i.wsort(by=["x"], timeout=2).named("wsort"))
net.output("b", i.map(t="t + 1", x="x").bsort(tuples=3).named("bsort"))
rows = [{"t": t, "k": "ab"[t % 2], "x": t / 3} for t in range(40)]
bx.preview(net, {"i": rows}, trains=3)
"""


def saved(cache: Path) -> int:
    """Number of times numba wrote compiled code in a process."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DEBUG_CACHE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WORK], env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.count("data saved to")


def test_compilation_is_paid_once(tmp_path: Path) -> None:
    assert saved(tmp_path) > 10
    assert saved(tmp_path) == 0
