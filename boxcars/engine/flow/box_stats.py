"""Counters of each input and box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class BoxStats:
    """Tuples in and out of an input or box, and the time it took.

    The time of a pipeline of fused boxes is booked on its last box, which the others name in
    ``fused_into``.
    """

    name: str
    type: str
    tuples_in: int = 0
    tuples_out: dict[str, int] = field(default_factory=dict)
    trains: int = 0
    seconds: float = 0.0
    fused_into: str = ""
    late: int = 0
    dead: int = 0

    @property
    def total_out(self) -> int:
        """Tuples that left, over all outputs."""
        return sum(self.tuples_out.values())

    @property
    def selectivity(self) -> float | None:
        """Tuples out for each tuple in, or None if none came in."""
        return self.total_out / self.tuples_in if self.tuples_in else None

    def count(self, tuples_in: int, tuples_out: dict[str, int]) -> None:
        """Count a train."""
        self.trains += 1
        self.tuples_in += tuples_in
        for port, number in tuples_out.items():
            self.tuples_out[port] = self.tuples_out.get(port, 0) + number


def stats_table(stats: Iterable[BoxStats]) -> str:
    """The statistics as text, one line for each box.

    >>> box = BoxStats("cheap", "filter", tuples_in=10, tuples_out={"0": 4}, seconds=0.002)
    >>> print(stats_table([box]))
    box    type    in  out  selectivity     ms
    cheap  filter  10    4         0.40  2.000
    """
    rows = [("box", "type", "in", "out", "selectivity", "ms")]
    for box in stats:
        share = "" if box.selectivity is None else f"{box.selectivity:.2f}"
        cost = f"in {box.fused_into}" if box.fused_into else f"{box.seconds * 1000:.3f}"
        rows.append((box.name, box.type, f"{box.tuples_in:,}", f"{box.total_out:,}", share, cost))
    return aligned(rows, 2)


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Format rows as aligned columns: the first ``left`` to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
