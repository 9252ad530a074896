"""The results of a race: a table on the terminal, a JSON file and a plot."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from boxcars.draw.bars import Bar, Panel, plot

WARM = (
    "Medians of warm rounds. A round is a run over as many rows as fit in the time, less one over "
    "the first 1,000: neither the start nor the end of a job counts."
)
NOT_WARM = "One run that may not be warm yet, over little data: to try the race, not to quote it."


@dataclass(frozen=True)
class Entry:
    """One engine in one workload; ``trouble`` says why it has no result, or a wrong one."""

    workload: str
    sentence: str
    contestant: str
    title: str
    rows: int = 0
    seconds: Sequence[float] = ()
    compared: int = 0
    trouble: str | None = None

    @property
    def speed(self) -> float | None:
        """Tuples per second, if the rows were correct and the time was long enough to measure."""
        taken = statistics.median(self.seconds) if self.seconds else 0
        return None if self.trouble or taken <= 0 else self.rows / taken


def report(
    entries: Sequence[Entry],
    promises: dict[str, str],
    measured: str,
    folder: Path,
    console: Console,
) -> None:
    """Print the table, and write race.json and race.svg to a folder.

    ``promises`` has the guarantees of each engine, ``measured`` describes the measurement.
    """
    console.print(table(entries, promises))
    console.print(measured)
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "measured": measured,
        "contestants": promises,
        "entries": [
            {**asdict(entry), "speed": entry.speed, "ratio": ratio(entries, entry)}
            for entry in entries
        ],
    }
    (folder / "race.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (folder / "race.svg").write_text(plot(panels(entries), measured), encoding="utf-8")
    console.print(f"wrote race.json and race.svg to {folder}")


def ours(entries: Sequence[Entry], workload: str) -> float | None:
    """The speed of the first engine in a workload, which is Boxcars."""
    return next((entry.speed for entry in entries if entry.workload == workload), None)


def ratio(entries: Sequence[Entry], entry: Entry) -> float | None:
    """The speed of Boxcars relative to an entry."""
    first = ours(entries, entry.workload)
    return first / entry.speed if first and entry.speed else None


def table(entries: Sequence[Entry], promises: dict[str, str]) -> Table:
    """A row for each engine and workload."""
    drawn = Table(title="the same workloads on five engines", title_justify="left")
    drawn.add_column("workload", no_wrap=True)
    drawn.add_column("engine", no_wrap=True)
    drawn.add_column("rows", justify="right")
    drawn.add_column("tuples/s", justify="right", no_wrap=True)
    drawn.add_column("Boxcars", justify="right", no_wrap=True)
    drawn.add_column("same rows", justify="right")
    last = ""
    for entry in entries:
        if last and entry.workload != last:
            drawn.add_section()
        name, last = ("" if entry.workload == last else entry.workload), entry.workload
        times = ratio(entries, entry)
        drawn.add_row(
            name,
            entry.title,
            f"{entry.rows:,}",
            "" if entry.speed is None else f"{entry.speed:,.0f}",
            "" if times is None or times == 1 else f"{times:,.1f} x",
            entry.trouble or f"{entry.compared:,}",
        )
    drawn.caption = "\n".join(f"{name}: {promise}" for name, promise in promises.items())
    drawn.caption_justify = "left"
    return drawn


def panels(entries: Sequence[Entry]) -> list[Panel]:
    """A panel for each workload, in the order of the race."""
    sentences = {entry.workload: entry.sentence for entry in entries}
    return [
        Panel(
            f"{workload}: {sentence}",
            [Bar(e.title, e.speed, e.trouble or "") for e in entries if e.workload == workload],
        )
        for workload, sentence in sentences.items()
    ]
