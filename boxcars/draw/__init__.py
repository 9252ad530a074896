"""Pictures of a network: SVG for people, Mermaid for documents, text for terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from boxcars.draw.mermaid import to_mermaid
from boxcars.draw.picture import picture_of
from boxcars.draw.svg import to_svg
from boxcars.draw.text import to_text
from boxcars.model.network import Network

Places = Mapping[str, tuple[float, float]]

FORMATS: Mapping[str, Callable[[Network], str]] = {
    "svg": lambda net: to_svg(picture_of(net)),
    "mermaid": lambda net: to_mermaid(picture_of(net)),
    "text": lambda net: to_text(picture_of(net)),
}


def draw(
    net: Network, format: str = "text", places: Places | None = None, width: int | None = None
) -> str:
    """The picture of a network as SVG, Mermaid or text.

    ``places`` puts the boxes of an SVG where a person put them; ``width`` is the room of a text.
    """
    if format == "svg" and places:
        return to_svg(picture_of(net), places)
    if format == "text" and width:
        return to_text(picture_of(net), width)
    return FORMATS[format](net)
