"""What it costs to be watched: the StreamCloud aggregate with and without its metrics.

Watched means: a service whose /metrics is scraped every second, and a file of statistics.
"""

import statistics
import tempfile
import threading
import urllib.request
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import perf_counter

from _beside import WARM, Bench, bench, frames
from _calls import calls, input_of

import boxcars as bx
from boxcars.service.logs import Metrics
from boxcars.service.security import Access
from boxcars.service.server import Server

ROWS, FILES, KEYS, ROUNDS = 200_000, 30, 100_000, 3


def network() -> bx.Network:
    net = bx.Network("aggregate")
    counts = input_of(net).aggregate(bx.time(60, 10), by="caller", n="count()")
    net.output("out", counts)
    return net


def run(b: Bench, files: Path, watched: bool) -> float:
    """The median seconds of an epoch."""
    times, last = [], [perf_counter()]

    def tell(_: bx.Status) -> None:
        times.append(perf_counter() - last[0])
        last[0] = perf_counter()

    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as folder, ExitStack() as closing:
        running = bx.run(
            network(),
            {"calls": files},
            {"out": Path(folder) / "out"},
            checkpoint=Path(folder) / "check",
            epoch_rows=ROWS,
            spark=b.spark,
            tell=tell,
        )
        if watched:
            server = closing.enter_context(Server(running, Access(port=0)))
            closing.enter_context(Metrics(running, Path(folder) / "metrics.jsonl"))
            over = threading.Event()
            closing.callback(over.set)
            threading.Thread(target=_scrape, args=(server.access.url, over), daemon=True).start()
        running.wait()
    return statistics.median(times[WARM:])


def _scrape(address: str, over: threading.Event) -> None:
    while not over.wait(1.0):
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            answer.read()


def main() -> None:
    with bench() as b:
        files = b.write("calls", frames(FILES, partial(calls, ROWS, KEYS)))
        run(b, files, watched=False)
        found = [(run(b, files, False), run(b, files, True)) for _ in range(ROUNDS)]
        plain, watched = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"  not watched {ROWS / plain:12,.0f} tuples/s")
        more = 100 * (watched / plain - 1)
        print(f"  watched     {ROWS / watched:12,.0f} tuples/s, {more:+.1f} % of the time")


if __name__ == "__main__":
    main()
