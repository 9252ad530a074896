"""The cost of monitoring: the StreamCloud aggregate with and without metrics.

Monitored means: a service whose /metrics is scraped every second, and a file of statistics. A run
is monitored for some epochs, then not, and so on: the machine is noisy, but consecutive turns are
comparable. Also measures a single scrape.
"""

import statistics
import tempfile
import threading
import urllib.request
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

from _beside import Bench, bench, frames
from _calls import calls, input_of

import boxcars as bx
from boxcars.service.logs import Metrics
from boxcars.service.security import Access
from boxcars.service.server import Server

ROWS, FILES, KEYS = 200_000, 60, 100_000
TURN, ROUNDS, LOOKS = 10, 12, 50
"""Epochs per turn, runs, and scrapes that are measured separately."""


def network() -> bx.Network:
    net = bx.Network("aggregate")
    counts = input_of(net).aggregate(bx.time(60, 10), by="caller", n="count()")
    net.output("out", counts)
    return net


class Turns:
    """Monitor a run in every second turn, and measure the time of each turn."""

    def __init__(self, metrics: Path) -> None:
        self.seconds: list[float] = []
        self.address = ""
        self.run: bx.Run | None = None
        self._metrics, self._watching = metrics, ExitStack()
        self._epochs, self._since = 0, perf_counter()

    def tell(self, _: bx.Status) -> None:
        """An epoch is over."""
        self._epochs += 1
        if self._epochs % TURN == 0 and self.run is not None:
            self.seconds.append(perf_counter() - self._since)
            self._watching.close()
            if len(self.seconds) % 2:
                self._watch(self.run)
            self._since = perf_counter()

    def _watch(self, run: bx.Run) -> None:
        over = threading.Event()
        self._watching.enter_context(Metrics(run, self._metrics))
        self._watching.callback(over.set)
        threading.Thread(target=self._scrape, args=(over,), daemon=True).start()

    def _scrape(self, over: threading.Event) -> None:
        while not over.wait(1.0):
            look(self.address)

    def ratios(self) -> list[float]:
        """Ratios of monitored to unmonitored consecutive turns, without the first two."""
        kept = self.seconds[2:]
        return [watched / plain for plain, watched in zip(kept[::2], kept[1::2], strict=False)]


def look(address: str) -> None:
    with urllib.request.urlopen(f"{address}/metrics") as answer:
        answer.read()


def measure(b: Bench, files: Path) -> tuple[list[float], float]:
    """The ratios of turns, and the CPU seconds of a scrape."""
    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as folder, ExitStack() as closing:
        turns = Turns(Path(folder) / "metrics.jsonl")
        turns.run = bx.run(
            network(),
            {"calls": files},
            {"out": Path(folder) / "out"},
            checkpoint=Path(folder) / "check",
            epoch_rows=ROWS,
            spark=b.spark,
            tell=turns.tell,
        )
        server = closing.enter_context(Server(turns.run, Access(port=0)))
        turns.address = server.access.url
        turns.run.wait()
        start = process_time()
        for _ in range(LOOKS):
            look(turns.address)
            with Metrics(turns.run, Path(folder) / "looks.jsonl"):
                pass
        return turns.ratios(), (process_time() - start) / LOOKS


def main() -> None:
    with bench() as b:
        files = b.write("calls", frames(FILES, partial(calls, ROWS, KEYS)))
        found = [measure(b, files) for _ in range(ROUNDS)]
    ratios = sorted(ratio for turns, _ in found for ratio in turns)
    low, middle, high = statistics.quantiles(ratios, n=4)
    seconds = statistics.median(seconds for _, seconds in found)
    print(
        f"  monitored, {len(ratios)} turns vs. the previous one: {100 * (middle - 1):+.1f} % time"
    )
    print(f"  half of the turns are between {100 * (low - 1):+.1f} % and {100 * (high - 1):+.1f} %")
    print(f"  one scrape takes {1000 * seconds:.1f} ms of one core, every second")


if __name__ == "__main__":
    main()
