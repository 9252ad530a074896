"""Charts of throughput: horizontal bars on a log scale, in panels, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LEFT, RIGHT = 860, 100, 70
BAR, GAP, TITLE, BETWEEN, TOP, BOTTOM = 18, 6, 26, 20, 56, 50
OURS, THEIRS, INK, SOFT, GRID = "#d9480f", "#8fa3b8", "#1f2933", "#616e7c", "#e4e7eb"
FONT = "font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'"


@dataclass(frozen=True)
class Bar:
    """A name and its speed; or ``trouble``, why there is no speed."""

    name: str
    speed: float | None
    trouble: str = ""


@dataclass(frozen=True)
class Panel:
    """The bars of a workload; the first is that of Boxcars."""

    title: str
    bars: Sequence[Bar]

    @property
    def height(self) -> int:
        """The height including the title and the space below."""
        return TITLE + len(self.bars) * (BAR + GAP) + BETWEEN


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale; ``low`` and ``high`` are powers of ten."""

    low: int
    high: int

    @classmethod
    def of(cls, speeds: Sequence[float]) -> Scale:
        """Return the scale that covers some speeds."""
        low = math.floor(math.log10(min(speeds, default=1)))
        return cls(low, max(math.ceil(math.log10(max(speeds, default=10))), low + 1))

    def x(self, speed: float) -> float:
        """Return the x coordinate of a speed."""
        share = (math.log10(speed) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)


def short(speed: float) -> str:
    """Abbreviate a speed.

    >>> [short(n) for n in (437, 1_000, 7_123, 60_400, 1_600_000)]
    ['437', '1 k', '7.1 k', '60 k', '1.6 M']
    """
    for size, sign in ((1e6, " M"), (1e3, " k"), (1, "")):
        if speed >= size:
            number = speed / size
            digits = f"{number:.1f}".removesuffix(".0") if number < 10 else f"{number:.0f}"
            return digits + sign
    return f"{speed:.1g}"


def plot(
    panels: Sequence[Panel], note: str, title: str = "Tuples per second, on two cores (log scale)"
) -> str:
    """Draw the chart as SVG."""
    speeds = [bar.speed for panel in panels for bar in panel.bars if bar.speed]
    scale = Scale.of(speeds)
    height = TOP + sum(panel.height for panel in panels) + BOTTOM
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' {FONT}>",
        f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>",
        _text(20, 28, title, INK, 16, "600"),
        *_grid(scale, height),
    ]
    top = TOP
    for panel in panels:
        lines += _panel(panel, scale, top)
        top += panel.height
    lines += [_text(20, height - 30 + 14 * n, line, SOFT, 10) for n, line in enumerate(_wrap(note))]
    return "\n".join([*lines, "</svg>", ""])


def _grid(scale: Scale, height: int) -> Iterator[str]:
    for power in range(scale.low, scale.high + 1):
        x = scale.x(10**power)
        yield (
            f"<line x1='{x:.1f}' y1='{TOP - 4}' x2='{x:.1f}' y2='{height - BOTTOM}' "
            f"stroke='{GRID}'/>"
        )
        yield _text(x, TOP - 10, short(10**power), SOFT, 11, anchor="middle")


def _panel(panel: Panel, scale: Scale, top: int) -> Iterator[str]:
    yield _text(20, top + 16, panel.title, INK, 13, "600", background=True)
    for number, bar in enumerate(panel.bars):
        y = top + TITLE + number * (BAR + GAP)
        ours = number == 0
        yield _text(LEFT - 8, y + 13, bar.name, INK, 12, "600" if ours else "400", anchor="end")
        if bar.speed is None:
            yield _text(LEFT + 6, y + 13, bar.trouble[:90] or "not measured", SOFT, 11)
            continue
        end = scale.x(bar.speed)
        yield (
            f"<rect x='{LEFT}' y='{y}' width='{max(end - LEFT, 1):.1f}' height='{BAR}' rx='2' "
            f"fill='{OURS if ours else THEIRS}'/>"
        )
        yield _text(end + 6, y + 13, short(bar.speed), INK, 12, "600" if ours else "400")


def _text(
    x: float,
    y: float,
    text: str,
    fill: str,
    size: int,
    weight: str = "400",
    *,
    anchor: str = "start",
    background: bool = False,
) -> str:
    halo = " stroke='#ffffff' stroke-width='4' paint-order='stroke'" if background else ""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' fill='{fill}' font-size='{size}' font-weight='{weight}' "
        f"text-anchor='{anchor}'{halo}>{escape(text)}</text>"
    )


def _wrap(note: str, width: int = 150) -> list[str]:
    lines = [""]
    for word in note.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
