"""Drawings as Mermaid flowcharts, for Markdown pages."""

from __future__ import annotations

from boxcars.draw.picture import Item, Picture

_SHAPES = {
    "input": ("([", "])"),
    "output": ("([", "])"),
    "stateless": ("[", "]"),
    "stateful": ("[[", "]]"),
    "superbox": ("[/", "/]"),
}


def to_mermaid(picture: Picture) -> str:
    """Write a Mermaid flowchart; ids are numbers, because names may contain any character."""
    ids = {key: f"n{number}" for number, key in enumerate(picture.items)}
    lines = ["flowchart LR"]
    lines += [f"    {ids[key]}{shape(item)}" for key, item in picture.items.items()]
    for arrow in picture.arrows:
        words = " ".join(filter(None, [arrow.label, f"◆ {arrow.keeps}" if arrow.keeps else ""]))
        label = f'|"{mermaid_text(words)}"|' if words else ""
        lines.append(f"    {ids[arrow.source]} -->{label} {ids[arrow.target]}")
    return "\n".join(lines) + "\n"


def shape(item: Item) -> str:
    """Write an item as a node, in the shape of its kind."""
    start, end = _SHAPES[item.kind]
    summary = item.summary if len(item.summary) <= 48 else item.summary[:47] + "…"
    words = f"{mermaid_text(item.name)}<br/><small>{mermaid_text(summary)}</small>"
    return f'{start}"{item.icon} {words}"{end}'


def mermaid_text(text: str) -> str:
    """Escape the special characters of Mermaid."""
    for character, code in (("&", "amp"), ('"', "quot"), ("<", "lt"), (">", "gt"), ("|", "#124")):
        text = text.replace(character, f"&{code};")
    return text.replace("\n", " ")
