"""Timelines of tuples: lanes of dots, and below them windows, waits and results as bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from boxcars.draw.canvas import Canvas, Tone, text_width

_LEFT, _TOP, _LANE, _ROW, _PLOT = 20.0, 30.0, 40.0, 30.0, 520.0
_GAP = 22.0


@dataclass(frozen=True)
class Dot:
    """A tuple on the axis; a hollow one was not passed on."""

    at: float
    text: str
    tone: Tone = "left"
    hollow: bool = False
    height: float = 0.0
    """From 0, on the line of its lane, to 1."""


@dataclass(frozen=True)
class Lane:
    """The tuples of one stream; ``curve`` connects them in a lane of height ``tall``."""

    name: str
    dots: tuple[Dot, ...]
    curve: tuple[tuple[float, float], ...] = ()
    tall: float = 0.0


@dataclass(frozen=True)
class Bar:
    """A window or a wait, its tuples, the time of its result (``mark``), and texts."""

    name: str
    start: float
    end: float
    dots: tuple[Dot, ...] = ()
    mark: float | None = None
    says: tuple[str, ...] = ()
    tone: Tone = "window"
    around: tuple[bool, bool] = (False, False)
    """Whether it extends a little beyond the tuples at its start and its end."""


@dataclass(frozen=True)
class Heading:
    """A line between bars."""

    text: str


@dataclass(frozen=True)
class Link:
    """A line between two dots: for each end the lane number and the axis position."""

    start: tuple[int, float]
    end: tuple[int, float]


@dataclass(frozen=True)
class Chart:
    """A timeline; ``low`` and ``high`` are the ends of the axis, ``step`` the tick distance."""

    title: str
    axis: str
    low: float
    high: float
    step: float
    lanes: tuple[Lane, ...]
    rows: tuple[Bar | Heading, ...] = ()
    columns: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    moments: tuple[float, ...] = ()
    band: tuple[float, float] | None = None
    """A marked range of the axis, in the first two lanes."""
    axis_labels: tuple[str, ...] = ()


class _Drawing:
    """The coordinates of a chart, and its drawing."""

    def __init__(self, chart: Chart) -> None:
        self.chart, self.canvas = chart, Canvas(chart.title)
        names = [lane.name for lane in chart.lanes] + [chart.axis, "window"]
        names += [row.name for row in chart.rows if isinstance(row, Bar)]
        self.plot = _LEFT + max(text_width(name) for name in names) + _GAP
        self.unit = _PLOT / (chart.high - chart.low)
        self.lanes: list[float] = []
        y = _TOP + 6
        for lane in chart.lanes:
            y += _LANE + lane.tall
            self.lanes.append(y)
        self.top = self.lanes[0] - chart.lanes[0].tall - 18
        self.axis = y + 34
        self.rows = self.axis + (36 if chart.rows else 0)
        self.bottom = self.rows + _ROW * len(chart.rows) - (12 if chart.rows else 20)

    def x(self, at: float) -> float:
        return self.plot + (at - self.chart.low) * self.unit

    def draw(self) -> str:
        self._ground()
        for number, lane in enumerate(self.chart.lanes):
            self._lane(lane, self.lanes[number])
        columns = self._columns()
        for number, row in enumerate(self.chart.rows):
            y = self.rows + 8 + _ROW * number
            if isinstance(row, Heading):
                self.canvas.text(_LEFT, y + 5, row.text, "name window-text halo")
            else:
                self._bar(row, y, columns)
        return self.canvas.svg()

    def _ground(self) -> None:
        """Draw the title, the band, the grid with its numbers, and the links."""
        chart, canvas = self.chart, self.canvas
        canvas.text(_LEFT, _TOP + 2, chart.title, "name")
        if chart.band:
            left, right = (self.x(at) for at in chart.band)
            top, bottom = self.top, self.lanes[1] + 18
            canvas.rect(left, top, right - left, bottom - top, "window-in dash", 8)
        number = int((chart.high - chart.low) / chart.step + 1e-9)
        for i in range(number + 1):
            at = chart.low + i * chart.step
            canvas.line(self.x(at), self.top, self.x(at), self.axis - 14, "faint")
            if chart.rows:
                canvas.line(self.x(at), self.rows - 12, self.x(at), self.bottom, "faint")
            label = chart.axis_labels[i] if i < len(chart.axis_labels) else number_text(at)
            if not chart.axis_labels or i < len(chart.axis_labels):
                canvas.text(self.x(at), self.axis, label, "soft", "middle")
        canvas.text(self.plot - _GAP, self.axis, chart.axis, "soft", "end")
        for at in chart.moments:
            canvas.line(self.x(at), self.top, self.x(at), self.axis - 16, "result dash")
            canvas.line(self.x(at), self.rows - 12, self.x(at), self.bottom, "result dash")
        for link in chart.links:
            (one, at), (other, to) = link.start, link.end
            canvas.line(self.x(at), self.lanes[one], self.x(to), self.lanes[other], "line")

    def _lane(self, lane: Lane, y: float) -> None:
        canvas, chart = self.canvas, self.chart
        canvas.text(self.plot - _GAP, y + 4, lane.name, "ink", "end")
        canvas.line(self.x(chart.low), y, self.x(chart.high), y)
        if lane.curve:
            points = [f"{self.x(at):g} {y - h * lane.tall:g}" for at, h in lane.curve]
            canvas.path("M" + " L".join(points), "line dash")
        together = Counter(dot.at for dot in lane.dots)
        seen: Counter[float] = Counter()
        for dot in lane.dots:
            index, number = seen[dot.at], together[dot.at]
            seen[dot.at] += 1
            x = self.x(dot.at) + (index - (number - 1) / 2) * 21
            tone = f"{dot.tone}-in" if dot.hollow else dot.tone
            if dot.height:
                canvas.line(x, y, x, y - dot.height * lane.tall, "faint")
            canvas.dot(x, y - dot.height * lane.tall, tone, dot.text, 10 if dot.text else 6)

    def _columns(self) -> list[float]:
        """Draw the headings of the columns right of the bars; returns their x coordinates."""
        lefts, x = [], self.x(self.chart.high) + 34
        bars = [row for row in self.chart.rows if isinstance(row, Bar)]
        for number, name in enumerate(self.chart.columns):
            self.canvas.text(x, self.axis, name, "soft")
            lefts.append(x)
            said = [bar.says[number] for bar in bars if number < len(bar.says)]
            x += max(text_width(text) for text in [name, *said]) + 18
        return lefts

    def _bar(self, bar: Bar, y: float, columns: Sequence[float]) -> None:
        canvas = self.canvas
        canvas.text(self.plot - _GAP, y + 4, bar.name, "ink", "end")
        left = self.x(bar.start) - 9 * bar.around[0]
        right = self.x(bar.end) + 9 * bar.around[1]
        if right - left < 20:
            left, right = (left + right) / 2 - 10, (left + right) / 2 + 10
        canvas.rect(left, y - 9, right - left, 18, f"{bar.tone}-in")
        for dot in bar.dots:
            canvas.dot(self.x(dot.at), y, dot.tone, radius=4.5)
        if bar.mark is not None and self.x(bar.mark) > right + 6:
            canvas.line(right, y - 7, self.x(bar.mark), y - 7, "line dash")
        if bar.mark is not None:
            canvas.pin(self.x(bar.mark), y - 7, "late" if bar.tone == "late" else "result")
        for x, text in zip(columns, bar.says, strict=False):
            canvas.text(x, y + 4, text, "ink")


def number_text(number: float) -> str:
    """Format a number.

    >>> number_text(-2.0)
    '−2'
    """
    return f"{number:g}".replace("-", "−")


def draw_chart(chart: Chart) -> str:
    """Draw a timeline as SVG."""
    return _Drawing(chart).draw()
