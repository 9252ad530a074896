"""Drawings as SVG, with the schema of each arc as a tooltip."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from statistics import fmean

from boxcars.draw.layers import find_layers, is_bend, spread
from boxcars.draw.picture import Arrow, Item, Picture

Point = tuple[float, float]
WIDTH, HEIGHT = 192.0, 54.0
_ACROSS, _DOWN, _MARGIN, _GRID = 64.0, 26.0, 28.0, 10.0
_NAME, _SUMMARY = 17, 23
_COLOURS: Mapping[str, tuple[str, str]] = {
    "input": ("#0f766e", "#ecfdf8"),
    "output": ("#b45309", "#fff8eb"),
    "stateless": ("#334155", "#f8fafc"),
    "stateful": ("#6d28d9", "#f7f4ff"),
    "superbox": ("#1d4ed8", "#f2f6ff"),
}
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLE = """
    text { font-family: ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif }
    .name { font-size: 13px; font-weight: 600; fill: #0f172a }
    .summary { font-size: 11px; fill: #64748b }
    .icon { font-size: 15px; text-anchor: middle; fill: #fff }
    .arrow { fill: none; stroke: #94a3b8; stroke-width: 1.6 }
    .label { font-size: 10.5px; fill: #475569; paint-order: stroke;
             stroke: #fff; stroke-width: 4px }
"""


def to_svg(picture: Picture, positions: Mapping[str, Point] | None = None) -> str:
    """Draw the picture as SVG; ``positions`` override the automatic layout."""
    layers = find_layers(picture)
    gap = {
        key: (_DOWN if is_bend(key) else HEIGHT + _DOWN)
        for column in layers.columns
        for key in column
    }
    heights = spread(layers, gap)
    at: dict[str, Point] = {
        key: (_MARGIN + number * (WIDTH + _ACROSS), _MARGIN + _GRID * round(heights[key] / _GRID))
        for number, column in enumerate(layers.columns)
        for key in column
    }
    at |= dict(positions or {})
    moved = set(positions or {})
    exits = _exits(picture, at)
    lines = [defs(picture.name)]
    for arrow in picture.arrows:
        route = layers.routes[arrow.source, arrow.target]
        if moved & {arrow.source, arrow.target}:
            route = (arrow.source, arrow.target)
        lines.append(_arrow(arrow, route, at, exits[arrow.source, arrow.label]))
    lines += [item_svg(item, at[key]) for key, item in picture.items.items()]
    right = max((x for x, _ in at.values()), default=0) + WIDTH + _MARGIN
    bottom = max((y for _, y in at.values()), default=0) + HEIGHT + _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right:g} {bottom:g}" '
        f'width="{right:g}" height="{bottom:g}" role="img">'
    )
    return "\n".join([head, *lines, "</svg>"]) + "\n"


def defs(name: str) -> str:
    """Return the head of a drawing: title, style and arrow marker."""
    return (
        f"  <title>{escape(name)}</title>\n  <style>{_STYLE}  </style>\n"
        '  <defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#94a3b8"/>'
        "</marker></defs>\n"
        '  <rect width="100%" height="100%" fill="#ffffff"/>'
    )


def _exits(picture: Picture, at: Mapping[str, Point]) -> dict[tuple[str, str], float]:
    """Return the y offset of each output on its item, sorted by the heights of the targets."""
    targets: dict[str, dict[str, list[float]]] = {}
    for arrow in picture.arrows:
        heights = targets.setdefault(arrow.source, {}).setdefault(arrow.label, [])
        heights.append(at[arrow.target][1])
    return {
        (source, label): HEIGHT * (number + 1) / (len(labels) + 1)
        for source, labels in targets.items()
        for number, label in enumerate(sorted(labels, key=lambda name: fmean(labels[name])))
    }


def _arrow(arrow: Arrow, route: tuple[str, ...], at: Mapping[str, Point], exit_: float) -> str:
    """Draw a smooth line from the right side of the source through its bends to the target."""
    x, y = at[route[0]][0] + WIDTH, at[route[0]][1] + exit_
    start, path = (x, y), f"M{x:g} {y:g}"
    for key in route[1:]:
        to_x, to_y = at[key]
        to_y += 0 if is_bend(key) else HEIGHT / 2
        half = max((to_x - x) / 2, 24)
        path += f" C{x + half:g} {y:g} {to_x - half:g} {to_y:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
        if is_bend(key):
            path += f" H{x + WIDTH:g}"
            x += WIDTH
    parts = [f"    <title>{escape(arrow.tooltip)}</title>"]
    parts.append(f'    <path class="arrow" d="{path}" marker-end="url(#tip)"/>')
    if arrow.label:
        parts.append(
            f'    <text class="label" x="{start[0] + 5:g}" y="{start[1] - 3:g}">'
            f"{escape(arrow.label)}</text>"
        )
    if arrow.keeps:
        parts.append(
            f'    <path d="M{start[0] + 12:g} {start[1]:g} l6 -6 l6 6 l-6 6 z" fill="#0f766e"/>'
            f'<text class="label" x="{start[0] + 10:g}" y="{start[1] + 20:g}">'
            f"{escape(arrow.keeps)}</text>"
        )
    return "  <g>\n" + "\n".join(parts) + "\n  </g>"


def item_svg(item: Item, at: Point) -> str:
    """Draw an item at a position."""
    x, y = at
    line, fill = _COLOURS[item.kind]
    round_ = HEIGHT / 2 if item.kind in ("input", "output") else 9
    parts = [f"    <title>{escape(item.tooltip or item.name)}</title>"]
    parts.append(
        f'    <rect x="{x:g}" y="{y:g}" width="{WIDTH:g}" height="{HEIGHT:g}" rx="{round_:g}" '
        f'fill="{fill}" stroke="{line}" stroke-width="1.4"/>'
    )
    if item.kind == "superbox":
        parts.append(
            f'    <rect x="{x + 3:g}" y="{y + 3:g}" width="{WIDTH - 6:g}" height="{HEIGHT - 6:g}" '
            f'rx="7" fill="none" stroke="{line}" stroke-width="0.8"/>'
        )
    parts.append(f'    <circle cx="{x + 26:g}" cy="{y + HEIGHT / 2:g}" r="14" fill="{line}"/>')
    parts.append(
        f'    <text class="icon" x="{x + 26:g}" y="{y + HEIGHT / 2 + 5.4:g}">'
        f"{escape(item.icon)}</text>"
    )
    for style, offset, text in (
        ("name", 24, shorten(item.name, _NAME)),
        ("summary", 40, shorten(item.summary, _SUMMARY)),
    ):
        parts.append(
            f'    <text class="{style}" x="{x + 48:g}" y="{y + offset:g}">{escape(text)}</text>'
        )
    return "  <g>\n" + "\n".join(parts) + "\n  </g>"


def escape(text: str) -> str:
    """Escape a text for XML, replacing characters that XML can't contain."""
    return html.escape(_FORBIDDEN.sub("\ufffd", text))


def shorten(text: str, most: int) -> str:
    """Truncate a text to ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
