"""A picture as a Mermaid flowchart, for Markdown pages."""

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
    """The flowchart; ids are numbers, because names may hold anything."""
    ids = {key: f"n{number}" for number, key in enumerate(picture.items)}
    lines = ["flowchart LR"]
    lines += [f"    {ids[key]}{_shape(item)}" for key, item in picture.items.items()]
    for arrow in picture.arrows:
        words = " ".join(filter(None, [arrow.label, f"◆ {arrow.keeps}" if arrow.keeps else ""]))
        label = f'|"{_escape(words)}"|' if words else ""
        lines.append(f"    {ids[arrow.source]} -->{label} {ids[arrow.target]}")
    return "\n".join(lines) + "\n"


def _shape(item: Item) -> str:
    start, end = _SHAPES[item.kind]
    summary = item.summary if len(item.summary) <= 48 else item.summary[:47] + "…"
    return f'{start}"{item.icon} {_escape(item.name)}<br/><small>{_escape(summary)}</small>"{end}'


def _escape(text: str) -> str:
    for character, code in (("&", "amp"), ('"', "quot"), ("<", "lt"), (">", "gt"), ("|", "#124")):
        text = text.replace(character, f"&{code};")
    return text.replace("\n", " ")
