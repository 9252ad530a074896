"""The cost of size: stored keys, buckets, and instances.

The StreamCloud aggregate (60/10 by caller). Keys: all of them are in the state before the measured
epochs, each of which has 200,000 calls, so only the size of the state differs.
"""

from functools import partial

import numpy as np
import polars as pl
from _beside import Bench, bench, frames
from _calls import calls, input_of
from _shown import keep, panel

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
    """Windows that stay open: each caller's last two calls, so a key with one call is stored."""
    net = bx.Network("kept")
    pairs = input_of(net).aggregate(bx.tuples(2, 1), by="caller", before="first(time)")
    net.output("out", pairs)
    return net


def filled(keys: int, number: int) -> pl.DataFrame:
    """All keys in the first files, then active ones."""
    first = -(-keys // ROWS)
    frame = calls(ROWS, BUSY, number)
    if number >= first:
        return frame
    names = np.arange(number * ROWS, (number + 1) * ROWS).astype(str)
    return frame.with_columns(caller=pl.Series(names))


def by_keys(b: Bench) -> dict[str, float]:
    """Tuples per second, by the number of stored keys."""
    print("  stored keys   tuples/s, epochs of 200,000 calls   time relative to 1 M keys")
    found: dict[str, float] = {}
    for keys in KEYS:
        number = -(-keys // ROWS) + 12
        files = b.write(f"keys-{keys}", frames(number, partial(filled, keys)))
        seconds = float(np.median(b.times(kept(), {"calls": files}, ROWS)[-10:]))
        found[f"{keys // 1_000_000} M"] = ROWS / seconds
        ratio = next(iter(found.values())) * seconds / ROWS
        print(f"  {keys:11,} {ROWS / seconds:20,.0f} {ratio:28.2f}", flush=True)
    return found


def by_option(b: Bench, option: str, numbers: list[int]) -> dict[str, float]:
    """Tuples per second, by the number of buckets or instances."""
    files = b.write(option, frames(FILES, partial(calls, ROWS, BUSY)))
    found = {}
    for number in numbers:
        options = {"instances": min(number, 2), option: number}
        found[str(number)] = ROWS / b.ours(network(), {"calls": files}, ROWS, **options)
        print(f"  {option} {number:4} {found[str(number)]:13,.0f} tuples/s", flush=True)
    return found


def main() -> None:
    with bench() as b:
        found = {
            "keys kept": by_keys(b),
            "buckets": by_option(b, "buckets", BUCKETS),
            "instances": by_option(b, "instances", INSTANCES),
        }
    rows = [{"by": name, **speeds} for name, speeds in found.items()]
    panels = [panel(name, speeds) for name, speeds in found.items()]
    note = "Epochs of 200,000 calls on two cores."
    keep("sizes", rows, panels, "What size costs, tuples a second (log scale)", note)


if __name__ == "__main__":
    main()
