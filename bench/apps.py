"""Throughput and results of every application over a million tuples on Spark.

``python bench/apps.py [NAME ...]`` runs some of them. The target is 200,000 tuples per second, for
restrict-usage and the feed monitor 100,000. The figures are of whole runs without the start of
Spark: the first run starts Python workers and loads code, the others are warm.
"""

import io
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from boxcars.apps import App, apps, find_app
from boxcars.apps.show import Outcome, run_app
from boxcars.engine.exec.session import make_session

ROWS, RUNS = 1_000_000, 3
"""Tuples per run, and number of warm runs."""
TARGETS = {"restrict-usage": 100_000, "feed-monitor": 100_000}


def run_once(app: App) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as folder:
        return run_app(app, Path(folder), Console(file=io.StringIO()), rows=ROWS)


def found(outcome: Outcome) -> str:
    verdicts = outcome.verdicts.values()
    hit, missed = sum(v.found.height for v in verdicts), sum(v.missed.height for v in verdicts)
    false = sum(verdict.false.height for verdict in verdicts)
    return f"{hit:,} of {hit + missed:,} cases, {false:,} false"


def main() -> None:
    make_session("local[2]", quick=False)
    chosen = [find_app(name) for name in sys.argv[1:]] or list(apps().values())
    print(f"{ROWS:,} tuples, local[2]; first run and median of {RUNS} more, tuples/s")
    for app in chosen:
        outcomes = [run_once(app) for _ in range(RUNS + 1)]
        first, *warm = [ROWS / outcome.status.seconds for outcome in outcomes]
        median = statistics.median(warm)
        ratio = median / TARGETS.get(app.name, 200_000)
        print(
            f"  {app.name:20} {first:10,.0f} {median:10,.0f}   {ratio:4.1f} times the target   "
            f"{found(outcomes[-1])}",
            flush=True,
        )


if __name__ == "__main__":
    main()
