"""Drawings in box-drawing characters, for terminals."""

from __future__ import annotations

from collections.abc import Mapping

from boxcars.draw.layers import Layers, find_layers, is_bend, spread
from boxcars.draw.picture import Item, Picture

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
_HEIGHT = 4
_SUMMARIES = (34, 24, 16, 8)
"""Maximum widths of summaries, in characters; the first that makes the drawing fit is used."""


class _Canvas:
    """Cells that hold a character, or the directions in which a line leaves them."""

    def __init__(self) -> None:
        self.lines: dict[tuple[int, int], int] = {}
        self.texts: dict[tuple[int, int], str] = {}

    def across(self, row: int, start: int, end: int) -> None:
        for column in range(start, end + 1):
            self._join(row, column, (column > start) * LEFT | (column < end) * RIGHT)

    def down(self, column: int, start: int, end: int) -> None:
        for row in range(min(start, end), max(start, end) + 1):
            above, below = row > min(start, end), row < max(start, end)
            self._join(row, column, above * UP | below * DOWN)

    def _join(self, row: int, column: int, directions: int) -> None:
        self.lines[row, column] = self.lines.get((row, column), 0) | directions

    def write(self, row: int, column: int, text: str) -> None:
        for offset, character in enumerate(text):
            self.texts[row, column + offset] = character

    def __str__(self) -> str:
        cells = {cell: _LINES[mask] for cell, mask in self.lines.items()} | self.texts
        rows = []
        for row in range(max((cell[0] for cell in cells), default=-1) + 1):
            columns = [column for at, column in cells if at == row]
            rows.append(
                "".join(cells.get((row, c), " ") for c in range(max(columns, default=-1) + 1))
            )
        return "\n".join(line.rstrip() for line in rows) + "\n"


def to_text(picture: Picture, width: int | None = None) -> str:
    """Draw the picture in box-drawing characters, from left to right.

    Lines leave an item in its upper row and enter it in its lower one, so that lines of different
    arrows never overlap. A drawing that does not fit into ``width`` becomes a list.
    """
    words = legend(picture)
    for widest in _SUMMARIES:
        text = _render(picture, widest)
        if width is None or max(map(len, text.splitlines()), default=0) <= width:
            return text + (f"\n{words}\n" if words else "")
    return _listing(picture)


def _listing(picture: Picture) -> str:
    """List the items, one per line with their consumers: for terminals that are too narrow."""
    names = max(len(item.name) for item in picture.items.values())
    lines = []
    for key, item in picture.items.items():
        arrows = [arrow for arrow in picture.arrows if arrow.source == key]
        targets = [f"{picture.items[a.target].name}{a.label and f' ({a.label})'}" for a in arrows]
        follows = f"  -> {', '.join(targets)}" if targets else ""
        lines.append(f"{item.icon} {item.name.ljust(names)}  {item.summary}{follows}")
    return "\n".join(lines) + "\n"


def _render(picture: Picture, widest: int) -> str:
    layers = find_layers(picture)
    gap = {key: (2 if is_bend(key) else _HEIGHT) for column in layers.columns for key in column}
    rows = {key: _even(height) for key, height in spread(layers, gap).items()}
    _settle(layers, rows, gap)
    canvas = _Canvas()
    left = 0
    for number, column in enumerate(layers.columns):
        width = max((_width(picture.items[k], widest) for k in column if not is_bend(k)), default=1)
        for key in column:
            if is_bend(key):
                _draw_bend(canvas, rows[key], left, left + width)
            else:
                _draw_item(canvas, picture.items[key], rows[key], left, width)
        lanes = _lanes(layers, number)
        if lanes:
            right = left + width + 2 * len(lanes) + 3
            _draw_links(canvas, layers, rows, lanes, left + width, right)
            left = right
    return str(canvas)


def _even(height: float) -> int:
    return 2 * round(height / 2)


def _settle(layers: Layers, rows: dict[str, int], gap: Mapping[str, float]) -> None:
    """Move down items that rounding brought too close together."""
    for column in layers.columns:
        free = 0
        for key in column:
            rows[key] = max(rows[key], free)
            free = rows[key] + int(gap[key])


def _width(item: Item, widest: int) -> int:
    return max(len(f"{item.icon} {item.name}"), min(len(item.summary), widest)) + 4


def _draw_item(canvas: _Canvas, item: Item, row: int, left: int, width: int) -> None:
    corners = "╔═╗║╚═╝" if item.kind == "superbox" else "┌─┐│└─┘"
    if item.kind in ("input", "output"):
        corners = "╭─╮│╰─╯"
    room = width - 4
    summary = item.summary if len(item.summary) <= room else item.summary[: room - 1] + "…"
    canvas.write(row, left, corners[0] + corners[1] * (width - 2) + corners[2])
    for offset, text in ((1, f"{item.icon} {item.name}"), (2, summary)):
        canvas.write(row + offset, left, f"{corners[3]} {text.ljust(width - 4)} {corners[3]}")
    canvas.write(row + 3, left, corners[4] + corners[5] * (width - 2) + corners[6])


def _draw_bend(canvas: _Canvas, row: int, left: int, right: int) -> None:
    canvas.across(row + 2, left, left + 1)
    canvas.down(left + 1, row + 1, row + 2)
    canvas.across(row + 1, left + 1, right - 1)


def _lanes(layers: Layers, number: int) -> list[str]:
    """Return the keys of a column from which lines leave; each has its own lane."""
    sources = dict.fromkeys(source for source, _ in layers.links)
    return [key for key in layers.columns[number] if key in sources]


def _draw_links(
    canvas: _Canvas,
    layers: Layers,
    rows: Mapping[str, int],
    lanes: list[str],
    left: int,
    right: int,
) -> None:
    for source, target in layers.links:
        if source not in lanes:
            continue
        lane = left + 1 + 2 * lanes.index(source)
        leave, enter = rows[source] + 1, rows[target] + 2
        canvas.across(leave, left, lane)
        canvas.across(leave, left - 1, left)
        canvas.down(lane, leave, enter)
        canvas.across(enter, lane, right - (not is_bend(target)))
        if not is_bend(target):
            canvas.write(enter, right - 1, "▶")


def legend(picture: Picture) -> str:
    """List what the lines can't show: output ports of arrows, and connection points."""
    lines = []
    for arrow in picture.arrows:
        words = [f"by '{arrow.label}'"] if arrow.label else []
        words += [f"kept as '{arrow.keeps}'"] if arrow.keeps else []
        if words:
            target = arrow.target.removeprefix("-> ")
            lines.append(f"  {arrow.source} -> {target}: {', '.join(words)}")
    return "\n".join(lines)
