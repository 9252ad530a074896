"""Drawings with frames: each frame contains items that belong together; frames form columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from boxcars.draw.layers import Layers, find_layers, is_bend, spread
from boxcars.draw.mermaid import mermaid_text, shape
from boxcars.draw.picture import Arrow, Item, Picture
from boxcars.draw.svg import HEIGHT, WIDTH, Point, defs, escape, item_svg, shorten

_MARGIN, _ACROSS, _DOWN, _PAD, _HEAD, _TOP = 28.0, 44.0, 22.0, 20.0, 50.0, 40.0
_GUTTER, _LETTER, _LABEL = 84.0, 6.2, 30
_STYLE = """<style>
    .frame { fill: #fbfcfe; stroke: #cbd5e1; stroke-width: 1.2 }
    .column { font-size: 12px; font-weight: 600; fill: #64748b; letter-spacing: 0.06em }
    .note { font-size: 11px; fill: #64748b }
    .words { font-size: 11.5px; font-weight: 600; fill: #6d28d9; text-anchor: end;
             paint-order: stroke; stroke: #fff; stroke-width: 4px }
  </style>"""


@dataclass(frozen=True)
class Frame:
    """Items that belong together, with a title and a note."""

    key: str
    title: str
    note: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """An arrow between items of different frames, labelled with ``words`` at its end."""

    source: str
    target: str
    port: int
    label: str = ""
    """The output port, if the source has several."""
    words: str = ""
    tooltip: str = ""

    @property
    def exit(self) -> str:
        """The door where it leaves its frame; all arrows of an output share one."""
        return f"out {self.label} {self.source}"

    @property
    def entrance(self) -> str:
        """The door where it enters the other frame."""
        return f"in {self.port} {self.target}"


@dataclass(frozen=True)
class _Inside:
    """The layout inside a frame: positions, routes and size."""

    at: Mapping[str, Point]
    arrows: tuple[tuple[Arrow, tuple[str, ...]], ...]
    width: float
    height: float


def to_framed_svg(
    picture: Picture, frames: Sequence[Frame], links: Sequence[Link], columns: str = "level"
) -> str:
    """Draw the picture as SVG: each frame is right of the frames that it reads."""
    inside = {frame.key: _lay_out(picture, frame, links) for frame in frames}
    outer, layers = _outer(picture, frames, links)
    widths = [
        max((inside[key].width for key in column if not is_bend(key)), default=0.0)
        for column in layers.columns
    ]
    lefts = _lefts(layers, widths, outer, links)
    gap = {
        key: _DOWN if is_bend(key) else inside[key].height + 2 * _DOWN
        for column in layers.columns
        for key in column
    }
    heights = spread(layers, gap)
    at: dict[str, Point] = {
        key: (lefts[number], _MARGIN + _TOP + round(heights[key]))
        for number, column in enumerate(layers.columns)
        for key in column
    }
    lines = [defs(picture.name), f"  {_STYLE}"]
    lines += [
        f'  <text class="column" x="{left:g}" y="{_MARGIN + 12:g}">{columns} {number}</text>'
        for number, left in enumerate(lefts)
    ]
    lines += [_frame(frame, inside[frame.key], at[frame.key]) for frame in frames]
    lines += [_link(link, outer, layers, inside, at, widths) for link in links]
    lines += [_content(picture, frame, inside[frame.key], at[frame.key]) for frame in frames]
    right = lefts[-1] + widths[-1] + _MARGIN
    bottom = max(at[f.key][1] + inside[f.key].height for f in frames) + _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right:g} {bottom:g}" '
        f'width="{right:g}" height="{bottom:g}" role="img">'
    )
    return "\n".join([head, *lines, "</svg>"]) + "\n"


def _outer(
    picture: Picture, frames: Sequence[Frame], links: Sequence[Link]
) -> tuple[Mapping[str, str], Layers]:
    """Return the frame of each item, and the columns of frames."""
    home = {item: frame.key for frame in frames for item in frame.items}
    items = {f.key: Item(f.key, "superbox", "", f.title, "", "") for f in frames}
    arrows = tuple(Arrow(home[link.source], home[link.target], "", "") for link in links)
    return home, find_layers(Picture(picture.name, items, arrows))


def _lefts(
    layers: Layers, widths: Sequence[float], home: Mapping[str, str], links: Sequence[Link]
) -> list[float]:
    """Return the x coordinate of each column, leaving room for the labels of its arrows."""
    room = [0.0] * len(widths)
    for number, column in enumerate(layers.columns):
        words = [len(_words(link)) for link in links if home[link.target] in column]
        room[number] = _GUTTER + _LETTER * max(words, default=0)
    lefts = [_MARGIN]
    for number in range(1, len(widths)):
        lefts.append(lefts[-1] + widths[number - 1] + room[number])
    return lefts


def _lay_out(picture: Picture, frame: Frame, links: Sequence[Link]) -> _Inside:
    """Lay out the items of a frame from left to right, with doors for arrows in and out."""
    arrows = [a for a in picture.arrows if {a.source, a.target} <= set(frame.items)]
    enter = {link.entrance: link.target for link in links if link.target in frame.items}
    leave = {link.exit: link.source for link in links if link.source in frame.items}
    doors = {key: Item(key, "input", "", "", "", "") for key in [*enter, *leave]}
    steps = [*arrows, *(Arrow(door, item, "", "") for door, item in enter.items())]
    items = {key: picture.items[key] for key in frame.items} | doors
    known = {key: item for key, item in items.items() if key not in leave}
    last = find_layers(Picture("", known, tuple(steps))).columns[-1]
    rightmost = next(key for key in last if not is_bend(key))
    steps += [Arrow(item, door, "", "") for door, item in leave.items()]
    # Invisible arrows that put the doors right of all items.
    steps += [Arrow(rightmost, door, "", "") for door in leave]
    layers = find_layers(Picture("", items, tuple(steps)))
    small = {key for column in layers.columns for key in column if is_bend(key) or key in doors}
    gap = {k: _DOWN if k in small else HEIGHT + _DOWN for column in layers.columns for k in column}
    heights = spread(layers, gap)
    at: dict[str, Point] = {}
    left = _PAD if not enter else 0.0
    for column in layers.columns:
        for key in column:
            middle = HEIGHT / 2 if key in small else 0.0
            at[key] = (left, _HEAD + round(heights[key] + middle))
        real = any(key not in small for key in column)
        left += (WIDTH if real else 0.0) + _ACROSS
    bottom = max(at[key][1] + (0 if key in small else HEIGHT) for key in at) + _PAD
    width = left - _ACROSS + (0.0 if leave else _PAD)
    at |= {door: (width, at[door][1]) for door in leave}
    drawn = [*arrows, *(Arrow(door, item, "", "") for door, item in enter.items())]
    drawn += [Arrow(item, door, _label(links, door), "") for door, item in leave.items()]
    routes = tuple((arrow, layers.routes[arrow.source, arrow.target]) for arrow in drawn)
    room = _LETTER * (len(frame.title) + len(frame.note) + 6) + 2 * _PAD
    return _Inside(at, routes, max(width, room if not leave else width), bottom)


def _label(links: Sequence[Link], door: str) -> str:
    return next(link.label for link in links if link.exit == door)


def _words(link: Link) -> str:
    return shorten(link.words, _LABEL)


def _frame(frame: Frame, inside: _Inside, at: Point) -> str:
    x, y = at
    return (
        f'  <g class="frame-of"><rect class="frame" x="{x:g}" y="{y:g}" '
        f'width="{inside.width:g}" height="{inside.height:g}" rx="14"/>'
        f'<text class="name" x="{x + _PAD:g}" y="{y + 22:g}">{escape(frame.title)}</text>'
        f'<text class="note" x="{x + _PAD:g}" y="{y + 37:g}">{escape(frame.note)}</text></g>'
    )


def _content(picture: Picture, frame: Frame, inside: _Inside, corner: Point) -> str:
    """Draw the items of a frame and the arrows between them."""
    at = {key: (x + corner[0], y + corner[1]) for key, (x, y) in inside.at.items()}
    items = set(frame.items)
    lines = []
    for arrow, route in inside.arrows:
        points = [at[route[0]] if route[0] not in items else _side(at[route[0]])]
        for key in route[1:]:
            x, y = at[key]
            points.append((x, y + HEIGHT / 2) if key in items else (x, y))
            if is_bend(key):
                points.append((x + WIDTH, y))
        tip = arrow.target in items
        lines.append(_line(points, tip, arrow.tooltip))
        if arrow.label:
            x, y = points[0]
            lines.append(
                f'  <text class="label" x="{x + 5:g}" y="{y - 4:g}">{escape(arrow.label)}</text>'
            )
    lines += [item_svg(picture.items[key], at[key]) for key in frame.items]
    return "\n".join(lines)


def _side(corner: Point) -> Point:
    """Return the middle of the right side of an item."""
    return corner[0] + WIDTH, corner[1] + HEIGHT / 2


def _link(
    link: Link,
    home: Mapping[str, str],
    layers: Layers,
    inside: Mapping[str, _Inside],
    at: Mapping[str, Point],
    widths: Sequence[float],
) -> str:
    """Draw an arrow between two frames, through the bends of the columns between them."""
    source, target = home[link.source], home[link.target]
    column = {key: number for number, keys in enumerate(layers.columns) for key in keys}

    def door(frame: str, key: str) -> Point:
        x, y = inside[frame].at[key]
        return at[frame][0] + x, at[frame][1] + y

    points = [door(source, link.exit)]
    for bend in layers.routes[source, target][1:-1]:
        x, y = at[bend]
        points += [(x, y), (x + widths[column[bend]], y)]
    points.append(door(target, link.entrance))
    x, y = points[-1]
    words = f'  <text class="words" x="{x - 10:g}" y="{y - 6:g}">{escape(_words(link))}</text>'
    return _line(points, False, link.tooltip) + ("\n" + words if link.words else "")


def _line(points: Sequence[Point], tip: bool, tooltip: str) -> str:
    """Draw a smooth line through points; between the two points of a bend it is straight."""
    x, y = points[0]
    path = f"M{x:g} {y:g}"
    for to_x, to_y in points[1:]:
        half = (to_x - x) / 2
        path += f" C{x + half:g} {y:g} {to_x - half:g} {to_y:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    end = ' marker-end="url(#tip)"' if tip else ""
    title = f"<title>{escape(tooltip)}</title>" if tooltip else ""
    return f'  <g>{title}<path class="arrow" d="{path}"{end}/></g>'


def to_framed_mermaid(picture: Picture, frames: Sequence[Frame], links: Sequence[Link]) -> str:
    """Write the picture as a Mermaid flowchart, with a subgraph for each frame."""
    ids = {key: f"n{number}" for number, key in enumerate(picture.items)}
    home = {item: frame.key for frame in frames for item in frame.items}
    lines = ["flowchart LR"]
    for number, frame in enumerate(frames):
        lines.append(f'    subgraph s{number}["{mermaid_text(f"{frame.title}: {frame.note}")}"]')
        lines += [f"        {ids[key]}{shape(picture.items[key])}" for key in frame.items]
        lines.append("    end")
    for arrow in picture.arrows:
        if home[arrow.source] == home[arrow.target]:
            label = f'|"{mermaid_text(arrow.label)}"|' if arrow.label else ""
            lines.append(f"    {ids[arrow.source]} -->{label} {ids[arrow.target]}")
    for link in links:
        words = mermaid_text(" ".join(filter(None, [link.label, link.words])))
        lines.append(f'    {ids[link.source]} ==>|"{words}"| {ids[link.target]}')
    return "\n".join(lines) + "\n"
