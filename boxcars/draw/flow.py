"""Drawings of the effect of a box: small tables of its inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass

from boxcars.draw.canvas import Canvas, Tone, text_width

_LEFT, _TOP, _LINE, _PAD, _GAP, _ACROSS = 20.0, 24.0, 20.0, 10.0, 26.0, 56.0
_BOX_HEIGHT, _NAME = 68.0, 24.0


@dataclass(frozen=True)
class Sheet:
    """A small table: its name, its columns and its formatted rows."""

    name: str
    tone: Tone
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """A note next to the name."""

    @property
    def widths(self) -> tuple[float, ...]:
        """The width of each column."""
        cells = [self.columns, *self.rows]
        return tuple(
            max(text_width(row[i], "cell") for row in cells) + 14 for i in range(len(self.columns))
        )

    @property
    def width(self) -> float:
        """The width of the table."""
        title = text_width(f"{self.name}  {self.note}", "name")
        return max(sum(self.widths), title - 2 * _PAD) + 2 * _PAD - 14

    @property
    def height(self) -> float:
        """The height of the table, including its name."""
        return _NAME + _LINE * (1 + max(len(self.rows), 1)) + 12


@dataclass(frozen=True)
class Flow:
    """A box between the tables of its inputs and outputs, with stored tables below."""

    title: str
    icon: str
    name: str
    says: tuple[str, ...]
    stateful: bool
    inputs: tuple[Sheet, ...]
    outputs: tuple[Sheet, ...]
    stored: tuple[Sheet, ...] = ()


def draw_flow(flow: Flow) -> str:
    """Draw a flow as SVG: tables and box centred on one line, stored tables below the box."""
    canvas = Canvas(flow.title)
    left, right = _column_height(flow.inputs), _column_height(flow.outputs)
    center = _TOP + max((left + _NAME) / 2, (right + _NAME) / 2, _BOX_HEIGHT / 2)
    box_x = _LEFT + max(sheet.width for sheet in flow.inputs) + _ACROSS
    stored = sum(sheet.width for sheet in flow.stored) + _ACROSS * max(len(flow.stored) - 1, 0)
    width = max(_box_width(flow), stored)
    out_x = box_x + width + _ACROSS
    top = center - _BOX_HEIGHT / 2
    in_at = _stack(canvas, flow.inputs, _LEFT, center - (left + _NAME) / 2)
    out_at = _stack(canvas, flow.outputs, out_x, center - (right + _NAME) / 2)
    for number, (sheet, y) in enumerate(zip(flow.inputs, in_at, strict=True)):
        to = top + _BOX_HEIGHT * (number + 1) / (len(in_at) + 1)
        canvas.arrow(_LEFT + sheet.width + 4, y, box_x - 2, to)
    for number, y in enumerate(out_at):
        start = top + _BOX_HEIGHT * (number + 1) / (len(out_at) + 1)
        canvas.arrow(box_x + width, start, out_x - 4, y)
    if flow.stored:
        below = top + _BOX_HEIGHT
        middle = box_x + width / 2
        canvas.line(middle, below, middle, below + _GAP, "line dash")
        _row(canvas, flow.stored, middle - stored / 2, below + _GAP)
    _box(canvas, flow, box_x, top, center, width)
    return canvas.svg()


def _row(canvas: Canvas, sheets: tuple[Sheet, ...], x: float, y: float) -> None:
    """Draw stored tables side by side, with arrows from the old to the new content."""
    level = y + _NAME + (min(sheet.height for sheet in sheets) - _NAME) / 2
    for number, sheet in enumerate(sheets):
        _sheet(canvas, sheet, x, y)
        if number + 1 < len(sheets):
            canvas.arrow(x + sheet.width + 4, level, x + sheet.width + _ACROSS - 4, level)
        x += sheet.width + _ACROSS


def _column_height(sheets: tuple[Sheet, ...]) -> float:
    return sum(sheet.height for sheet in sheets) + _GAP * max(len(sheets) - 1, 0)


def _box_width(flow: Flow) -> float:
    texts = [text_width(flow.name, "name"), *(text_width(t, "small") for t in flow.says)]
    return max(150.0, 52 + max(texts) + 16)


def _stack(canvas: Canvas, sheets: tuple[Sheet, ...], x: float, y: float) -> list[float]:
    """Draw tables below each other; returns the y coordinate of each table's arrow."""
    at = []
    for sheet in sheets:
        _sheet(canvas, sheet, x, y)
        at.append(y + (_NAME + sheet.height) / 2)
        y += sheet.height + _GAP
    return at


def _sheet(canvas: Canvas, sheet: Sheet, x: float, y: float) -> None:
    canvas.text(x, y + 14, sheet.name, f"name {sheet.tone}-text")
    if sheet.note:
        canvas.text(x + text_width(sheet.name, "name") + 9, y + 14, sheet.note, "soft")
    canvas.rect(x, y + _NAME, sheet.width, sheet.height - _NAME, f"{sheet.tone}-in", 7)
    left = x + _PAD
    for number, (column, width) in enumerate(zip(sheet.columns, sheet.widths, strict=True)):
        canvas.text(left, y + _NAME + 19, column, "head")
        for row, cells in enumerate(sheet.rows):
            canvas.text(left, y + _NAME + 19 + _LINE * (row + 1) + 2, cells[number], "cell")
        left += width
    canvas.line(x + _PAD, y + 50, x + sheet.width - _PAD, y + 50, "faint")
    if not sheet.rows:
        canvas.text(x + _PAD, y + _NAME + 19 + _LINE + 2, "nothing", "soft")


def _box(canvas: Canvas, flow: Flow, x: float, y: float, center: float, width: float) -> None:
    tone: Tone = "stateful" if flow.stateful else "stateless"
    canvas.rect(x, y, width, _BOX_HEIGHT, f"{tone}-in", 9)
    canvas.dot(x + 26, center, tone, radius=15)
    canvas.text(x + 26, center + 5.5, flow.icon, "icon", "middle")
    lines = [(flow.name, "name"), *((text, "small") for text in flow.says)]
    top = center + 4.5 - 8 * (len(lines) - 1)
    for number, (text, style) in enumerate(lines):
        canvas.text(x + 50, top + 16 * number, text, style)
