"""What size costs: keys that are kept, buckets, and instances.

The StreamCloud aggregate (60/10 by caller). Keys: all of them are in the state before the measured
epochs, each of which has 200,000 calls, so what grows is only what is kept.
"""

from functools import partial

import numpy as np
import polars as pl
from _beside import Bench, bench, frames
from _calls import calls, input_of

import boxcars as bx

ROWS, FILES = 200_000, 8
KEYS = [2**n * 1_000_000 for n in range(6)]
BUCKETS = [1, 4, 16, 64]
INSTANCES = [1, 2, 4, 8]
BUSY = 100_000


def network() -> bx.Network:
    net = bx.Network("aggregate")
    window = bx.time(60, 10)
    net.output("out", input_of(net).aggregate(window, by="caller", n="count()"))
    return net


def kept() -> bx.Network:
    """Windows that stay open: each caller's last two calls, so a key that came once is kept."""
    net = bx.Network("kept")
    pairs = input_of(net).aggregate(bx.tuples(2, 1), by="caller", before="first(time)")
    net.output("out", pairs)
    return net


def filled(keys: int, number: int) -> pl.DataFrame:
    """All keys in the first files, then busy ones."""
    first = -(-keys // ROWS)
    frame = calls(ROWS, BUSY, number)
    if number >= first:
        return frame
    names = np.arange(number * ROWS, (number + 1) * ROWS).astype(str)
    return frame.with_columns(caller=pl.Series(names))


def by_keys(b: Bench) -> None:
    print("  keys kept     an epoch of 200,000 calls, ms      against 1 M keys")
    first = 0.0
    for keys in KEYS:
        number = -(-keys // ROWS) + 12
        files = b.write(f"keys-{keys}", frames(number, partial(filled, keys)))
        times = b.times(kept(), {"calls": files}, ROWS)
        seconds = float(np.median(times[-10:]))
        first = first or seconds
        print(f"  {keys:11,} {1000 * seconds:20,.0f} {seconds / first:28.2f}", flush=True)


def main() -> None:
    with bench() as b:
        by_keys(b)
        files = b.write("calls", frames(FILES, partial(calls, ROWS, BUSY)))
        print("  buckets      tuples/s (2 instances)")
        for buckets in BUCKETS:
            instances = min(2, buckets)
            took = b.ours(network(), {"calls": files}, ROWS, buckets=buckets, instances=instances)
            print(f"  {buckets:7} {ROWS / took:13,.0f}", flush=True)
        print("  instances    tuples/s (64 buckets)")
        for instances in INSTANCES:
            took = b.ours(network(), {"calls": files}, ROWS, instances=instances)
            print(f"  {instances:9} {ROWS / took:11,.0f}", flush=True)


if __name__ == "__main__":
    main()
