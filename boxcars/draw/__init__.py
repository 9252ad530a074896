"""Drawings of a network: SVG, Mermaid, or text for terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from boxcars.draw.mermaid import to_mermaid
from boxcars.draw.picture import picture_of
from boxcars.draw.svg import to_svg
from boxcars.draw.text import to_text
from boxcars.model.network import Network

Positions = Mapping[str, tuple[float, float]]

FORMATS: Mapping[str, Callable[[Network], str]] = {
    "svg": lambda net: to_svg(picture_of(net)),
    "mermaid": lambda net: to_mermaid(picture_of(net)),
    "text": lambda net: to_text(picture_of(net)),
}


def draw(
    net: Network, format: str = "text", positions: Positions | None = None, width: int | None = None
) -> str:
    """Draw a network as SVG, Mermaid or text.

    ``positions`` are the positions of items in an SVG; ``width`` is the maximum width of a text.
    """
    if format == "svg" and positions:
        return to_svg(picture_of(net), positions)
    if format == "text" and width:
        return to_text(picture_of(net), width)
    return FORMATS[format](net)
