"""Results of runs: the last tuples of an output, and the final counts.

Both are read from the checkpoint, so they are available after the run has ended.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from boxcars.connectors.write.merge_parts import read_part
from boxcars.engine.layout.pieces import make_layout
from boxcars.engine.measure.counters import Totals
from boxcars.engine.state.checkpoint import Checkpoint, home_of
from boxcars.engine.stats.run_stats import History
from boxcars.model.problem import BoxcarsError
from boxcars.studio.edit.checking import readable
from boxcars.studio.edit.json_rows import plain_rows
from boxcars.studio.wire.messages import Row
from boxcars.studio.wire.run_messages import OutputRows

SHOWN = 200
"""The number of tuples shown per output."""


class Tail:
    """The last tuples of an output whose parts are in a checkpoint."""

    def __init__(self, checkpoint: Path, output: str) -> None:
        self._folder = home_of(checkpoint, "outputs", output) / "parts"
        self._lock = threading.Lock()
        self._rows: deque[tuple[int, Row]] = deque(maxlen=SHOWN)
        self._epoch = self._total = 0

    def rows(self, epoch: int, after: int = 0) -> OutputRows:
        """Return the last tuples up to a committed epoch, from epochs after ``after``."""
        with self._lock:
            self._read(epoch)
            shown = [row for of, row in self._rows if of > after]
            return OutputRows(epoch=self._epoch, rows=shown, total=self._total)

    def _read(self, epoch: int) -> None:
        """Read the new parts."""
        found = [(int(path.stem.removeprefix("part-")), path) for path in self._new()]
        for number, path in sorted(found):
            if self._epoch < number <= epoch:
                try:
                    frame = pl.from_arrow(read_part(path))
                except BoxcarsError:
                    continue  # the run has removed it by its retention
                assert isinstance(frame, pl.DataFrame)
                self._total += frame.height
                self._rows.extend((number, row) for row in plain_rows(frame.tail(SHOWN)))
                self._epoch = number

    def _new(self) -> list[Path]:
        last = f"part-{self._epoch:08d}.parquet"
        return [path for path in self._folder.glob("part-*.parquet") if path.name > last]


@dataclass(frozen=True)
class FinalCounts:
    """The counts of a run when it ended."""

    epoch: int
    read: dict[str, int]
    stats: dict[str, Any]
    finished: bool


def final_counts(checkpoint: Path, seconds: float, code: bool) -> FinalCounts | None:
    """Read the final counts of a run, with average rates over ``seconds``; None if unavailable.

    They are also unavailable if the network in the checkpoint needs ``code`` that is not allowed.
    """
    if not checkpoint.exists():
        return None
    try:
        ledger = Checkpoint.at(checkpoint)
        manifest = ledger.last()
        if manifest is None:
            return None
        history = History(Totals(), 0.0)
        history.note(0.0, max(seconds, 0.001), manifest.stats, {}, {})
        network = ledger.network_of(manifest)
        readable(json.loads(network), code)
        layout = make_layout(network, manifest.shape)
        read = {name: place.position for name, place in manifest.places.items()}
        stats = history.stats(layout).to_plain()
        for box in stats["boxes"].values():
            for part in (box, *box["pieces"]):
                part["latency"] = None  # needs the counts of each epoch; here is only their sum
        return FinalCounts(manifest.epoch, read, stats, manifest.final)
    except BoxcarsError:
        return None


def heads_of(checkpoint: Path) -> dict[str, int | float]:
    """Return the greatest order value that a run has read from each input, as numbers."""
    if not checkpoint.exists():
        return {}
    try:
        manifest = Checkpoint.at(checkpoint).last()
    except (BoxcarsError, OSError):
        return {}
    return {} if manifest is None else dict(manifest.heads)


def with_last_rates(last: dict[str, Any] | None, final: dict[str, Any]) -> dict[str, Any]:
    """Return the final counts with the rates and latencies last measured during the run."""
    if last is None:
        return final
    return {
        part: {name: _merged(last[part].get(name), each) for name, each in final[part].items()}
        for part in ("boxes", "outputs")
    }


def _merged(last: dict[str, Any] | None, final: dict[str, Any]) -> dict[str, Any]:
    """Return the final counts of a box, a piece or an output, with its last rates."""
    if last is None:
        return final
    names = ("in_rate", "out_rate", "rate", "cpu", "share", "latency", "buckets")
    pieces = zip_longest(last.get("pieces", ()), final.get("pieces", ()))
    kept = {name: last[name] for name in names if name in last}
    whole = {"pieces": [_merged(*pair) for pair in pieces if pair[1]]} if "pieces" in final else {}
    return {**final, **kept, **whole}
