"""The history of a run: measurements, about one per second, stored in a file.

When there are too many, every other measurement is dropped and the interval doubles, so that the
history always covers the whole run.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from boxcars.connectors.files import replacing
from boxcars.studio.wire.run_messages import HistoryAnswer

MOST = 3600
"""The largest number of measurements stored."""
_BOX = (
    *("in_rate", "out_rate", "cost", "selectivity", "latency"),
    *("queue", "cpu", "state_rows", "state_bytes"),
)
_COUNTS = ("tuples_in", "tuples_out")
Values = dict[str, float | None]


class History:
    """The measurements of a run, in order."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        self._path, self._most, self._lock = path, most, threading.Lock()
        self._samples: list[tuple[float, Values]] = list(_read(path))
        self._every = 1.0

    def note(self, time: float, values: Values) -> None:
        """Store a measurement, unless the last one is too recent."""
        with self._lock:
            if self._samples and time - self._samples[-1][0] < self._every * 0.9:
                return
            self._samples.append((time, values))
            if len(self._samples) > self._most:
                self._samples = self._samples[::2]
                self._every *= 2
                self._rewrite()
            else:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(_line(time, values))

    @property
    def times(self) -> list[float]:
        """The times of the measurements."""
        return [moment for moment, _ in self._samples]

    def _rewrite(self) -> None:
        with replacing(self._path) as part:
            part.write_text("".join(_line(*sample) for sample in self._samples), encoding="utf-8")

    def since(self, time: float) -> HistoryAnswer:
        """Return the measurements after a time."""
        with self._lock:
            samples = [sample for sample in self._samples if sample[0] > time]
        names = dict.fromkeys(name for _, values in samples for name in values)
        return HistoryAnswer(
            times=[moment for moment, _ in samples],
            series={name: [values.get(name) for _, values in samples] for name in names},
        )


def _line(time: float, values: Values) -> str:
    return json.dumps([round(time, 3), values], separators=(",", ":")) + "\n"


def _read(path: Path) -> Iterator[tuple[float, Values]]:
    """Read the stored measurements, skipping a truncated line."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            with suppress(ValueError, TypeError):
                time, values = json.loads(line)
                yield float(time), dict(values)


def measured(stats: Mapping[str, Any], cpu: float | None, memory: int | None) -> Values:
    """Return the values in the statistics of a run, by series name."""
    found: Values = {"run/cpu": _rounded(cpu), "run/memory": memory}
    boxes: Mapping[str, Any] = stats["boxes"]
    outputs: Mapping[str, Any] = stats["outputs"]
    inputs = [box for box in boxes.values() if box["type"] == "input"]
    found["run/in_rate"] = _rounded(sum(box["in_rate"] for box in inputs))
    found["run/out_rate"] = _rounded(sum(output["rate"] for output in outputs.values()))
    latencies = [output["latency"]["p95"] for output in outputs.values() if output["latency"]]
    found["run/p95"] = _rounded(max(latencies, default=None))
    for name, box in boxes.items():
        found |= _numbers(f"box/{name}", box, (*_BOX, *_COUNTS))
        found[f"box/{name}/instances"] = len(box["pieces"])
        for number, piece in enumerate(box["pieces"]):
            found |= _numbers(f"instance/{name}/{number}", piece, _BOX)
    for name, output in outputs.items():
        found |= _numbers(f"output/{name}", output, ("rate", "tuples", "utility"))
        found |= _numbers(f"output/{name}", output["latency"] or {}, ("p50", "p95", "p99"))
    return found


def _numbers(head: str, stats: Mapping[str, Any], names: tuple[str, ...]) -> Values:
    return {f"{head}/{name}": _rounded(stats[name]) for name in names if name in stats}


def _rounded(number: float | None) -> float | None:
    """Round to six digits, which is enough for a chart.

    >>> _rounded(123456.789), _rounded(0.000123456789)
    (123457.0, 0.000123457)
    """
    return number if number is None or isinstance(number, int) else float(f"{number:.6g}")
