"""The SVG canvas of the drawings in the docs: a few shapes, with light and dark colours."""

from __future__ import annotations

from typing import Literal

from boxcars.draw.svg import escape

Tone = Literal["left", "right", "window", "result", "late", "stateless", "stateful"]
Anchor = Literal["start", "middle", "end"]

_PAD = 20.0
_FONT = 'ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif'
_MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'
_SIZES = {"name": 13.0, "ink": 12.5, "soft": 12.0, "cell": 12.0, "head": 11.5, "on": 11.0}
_SIZES |= {"icon": 16.0, "small": 11.0}
_WIDE = {"cell": 0.605, "head": 0.605}
_LIGHT = {
    "paper": "#ffffff",
    "edge": "#e2e8f0",
    "ink": "#0f172a",
    "soft": "#475569",
    "line": "#94a3b8",
    "faint": "#e2e8f0",
    "on": "#ffffff",
}
_DARK = {
    "paper": "#111827",
    "edge": "#1f2937",
    "ink": "#f1f5f9",
    "soft": "#b6c2d1",
    "line": "#64748b",
    "faint": "#273244",
    "on": "#0b1220",
}
_TONES: dict[Tone, tuple[tuple[str, str], tuple[str, str]]] = {
    "left": (("#0f766e", "#ecfdf8"), ("#2dd4bf", "#0d2f2f")),
    "right": (("#1d4ed8", "#f2f6ff"), ("#7db0ff", "#142443")),
    "window": (("#6d28d9", "#f3efff"), ("#b79bff", "#251d42")),
    "result": (("#b45309", "#fff8eb"), ("#fbbf24", "#33260d")),
    "late": (("#be123c", "#fff1f3"), ("#fb7185", "#3a1620")),
    "stateless": (("#334155", "#f8fafc"), ("#a9b7c9", "#1b2433")),
    "stateful": (("#6d28d9", "#f7f4ff"), ("#b79bff", "#251d42")),
}


def _rules(inks: dict[str, str], dark: int) -> str:
    lines = [
        f".paper {{ fill: {inks['paper']}; stroke: {inks['edge']} }}",
        f".halo {{ stroke: {inks['paper']} }}",
        f".ink, .name, .cell {{ fill: {inks['ink']} }}",
        f".soft, .head, .small {{ fill: {inks['soft']} }}",
        f".on, .icon {{ fill: {inks['on']} }}",
        f".line {{ stroke: {inks['line']} }} .tip {{ fill: {inks['line']} }}",
        f".faint {{ stroke: {inks['faint']} }}",
    ]
    for tone, pair in _TONES.items():
        strong, weak = pair[dark]
        lines.append(
            f".{tone} {{ fill: {strong}; stroke: {strong} }} "
            f".{tone}-in {{ fill: {weak}; stroke: {strong} }} .{tone}-text {{ fill: {strong} }}"
        )
    return "\n".join(f"    {line}" for line in lines)


def _style() -> str:
    fonts = [f".{name} {{ font-size: {size:g}px }}" for name, size in _SIZES.items()]
    return "\n".join(
        [
            f"    text {{ font-family: {_FONT} }}",
            f"    .cell, .head {{ font-family: {_MONO} }}",
            "    .name { font-weight: 600 } .on { font-weight: 600 }",
            "    " + " ".join(fonts),
            "    .line, .faint { fill: none; stroke-width: 1.4 } .faint { stroke-width: 1 }",
            "    .dash { stroke-dasharray: 4 4 } .halo { paint-order: stroke; stroke-width: 6px }",
            _rules(_LIGHT, 0),
            "    @media (prefers-color-scheme: dark) {",
            _rules(_DARK, 1),
            "    }",
        ]
    )


def text_width(text: str, style: str = "ink") -> float:
    """Estimate the width of a text, rather too wide than too narrow."""
    if style in _WIDE:
        return len(text) * _SIZES[style] * _WIDE[style]
    return sum(1.25 if letter.isupper() else 1.0 for letter in text) * _SIZES[style] * 0.58


class Canvas:
    """Shapes in drawing order; the size grows with them."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = []
        self._right = self._bottom = 0.0

    def _extend(self, x: float, y: float) -> None:
        self._right, self._bottom = max(self._right, x), max(self._bottom, y)

    def text(
        self, x: float, y: float, text: str, style: str = "ink", anchor: Anchor = "start"
    ) -> None:
        """Draw a text; ``style`` is a size, optionally followed by the text colour of a tone."""
        reach = text_width(text, style.split(maxsplit=1)[0])
        self._extend(x + {"start": reach, "middle": reach / 2, "end": 0}[anchor], y + 4)
        put = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f'<text class="{style}" x="{x:g}" y="{y:g}"{put}>{escape(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "line") -> None:
        """Draw a straight line."""
        self._extend(max(x1, x2), max(y1, y2))
        self._parts.append(f'<path class="{style}" d="M{x1:g} {y1:g} L{x2:g} {y2:g}"/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a curved arrow from left to right."""
        half = max((x2 - x1) / 2, 12)
        self._parts.append(
            f'<path class="line" marker-end="url(#tip)" '
            f'd="M{x1:g} {y1:g} C{x1 + half:g} {y1:g} {x2 - half:g} {y2:g} {x2:g} {y2:g}"/>'
        )

    def path(self, d: str, style: str) -> None:
        """Draw a path, which does not extend the canvas."""
        self._parts.append(f'<path class="{style}" d="{d}"/>')

    def rect(
        self, x: float, y: float, width: float, height: float, style: str, round_: float = 5
    ) -> None:
        """Draw a rectangle with rounded corners."""
        self._extend(x + width, y + height)
        self._parts.append(
            f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="{round_:g}" stroke-width="1.2"/>'
        )

    def dot(self, x: float, y: float, tone: str, text: str = "", radius: float = 10) -> None:
        """Draw a tuple: a dot, with its name in it."""
        self._extend(x + radius, y + radius)
        self._parts.append(f'<circle class="{tone}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>')
        if text:
            style = f"on {tone.removesuffix('-in')}-text" if tone.endswith("-in") else "on"
            self.text(x, y + 4, text, style, "middle")

    def pin(self, x: float, y: float, tone: str = "result") -> None:
        """Draw a pin that points down at the time at which a result is emitted."""
        self._extend(x + 6, y)
        self._parts.append(f'<path class="{tone}" d="M{x:g} {y:g} l-5.5 -8.5 h11 z"/>')

    def svg(self) -> str:
        """Return the drawing as an SVG document."""
        width, height = round(self._right + _PAD), round(self._bottom + _PAD)
        body = "\n".join(f"  {part}" for part in self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">\n'
            f"  <title>{escape(self.title)}</title>\n  <style>\n{_style()}\n  </style>\n"
            '  <defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            'markerHeight="7" orient="auto"><path class="tip" d="M0 0 L10 5 L0 10 z"/>'
            "</marker></defs>\n"
            f'  <rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" '
            f'rx="10"/>\n{body}\n</svg>\n'
        )
