"""The pages of the boxes in ``docs/boxes/``: generated parts, drawings and the index.

A page is written by hand except for its generated parts. The example of a page is the network in
its first YAML file; the table of outputs and the drawings are generated from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from boxcars.lang.files import loads
from boxcars.model.arc import Arc
from boxcars.model.box import Box, box_types
from boxcars.model.network import Network
from boxcars.pages.page import Page
from boxcars.pages.scenes import draw_scene
from boxcars.pages.words import NOTE, arity, paper, parameter_table, summary

SECTIONS = ("What it is for", "Parameters", "Outputs", "Example", "Edge cases", "Cost", "Paper")
"""Headings that every page has."""
EDGES = ("Late tuples", "Nulls", "Ties", "End of input")
"""Topics that every page covers under "Edge cases"."""
PARTS = ("head", "parameters", "outputs", "paper")
"""Generated parts that every page has."""
FOLDER, DRAWINGS = "docs/boxes", "docs/img/boxes"
_OTHERS = ("docs/reference/windows.md",)
"""Other pages with drawings."""


def our_boxes() -> Mapping[str, type[Box]]:
    """The built-in boxes, by type."""
    return {n: cls for n, cls in box_types().items() if cls.__module__.startswith("boxcars.boxes.")}


def generated_pages(root: Path) -> dict[Path, str]:
    """The pages and drawings of all boxes, and the index."""
    files = {root / FOLDER / "README.md": index_page()}
    for name, cls in our_boxes().items():
        path = root / FOLDER / f"{name}.md"
        page = Page(path.read_text(encoding="utf-8") if path.exists() else skeleton())
        files[path] = page.with_parts(generated_parts(cls, page))
        files |= _drawings(root, page)
    for other in _OTHERS:
        files |= _drawings(root, Page((root / other).read_text(encoding="utf-8")))
    return files


def _drawings(root: Path, page: Page) -> dict[Path, str]:
    with page.written() as folder:
        return {
            root / DRAWINGS / name: draw_scene(described, folder)
            for name, described in page.drawings.items()
        }


def skeleton() -> str:
    """An empty page: headings to write below, and markers for the generated parts."""
    lines = ["<!-- generated: head -->", "<!-- end -->"]
    for section in SECTIONS:
        lines += ["", f"## {section}"]
        if section.lower() in PARTS:
            lines += [f"<!-- generated: {section.lower()} -->", "<!-- end -->"]
    return "\n".join(lines) + "\n"


def index_page() -> str:
    """All boxes with icon and summary, stateless boxes first."""
    lines = [
        "# The boxes",
        "",
        f"<!-- {NOTE} -->",
        "",
        "One page per box: what it is for, a drawing, an example, edge cases and cost.",
        "[Boxes](../reference/boxes.md) lists all parameters on one page.",
    ]
    kinds = {
        "Stateless": lambda cls: not cls.stateful and not _stored(cls),
        "Stateful": lambda cls: cls.stateful,
        "Over stored tables": _stored,
    }
    for kind, belongs in kinds.items():
        lines += ["", f"## {kind}", "", "| | box | what it does |", "| --- | --- | --- |"]
        for name, cls in our_boxes().items():
            if belongs(cls):
                lines.append(f"| {cls.icon} | [{name}]({name}.md) | {_code(summary(cls))} |")
    return "\n".join(lines) + "\n"


def _stored(cls: type[Box]) -> bool:
    return cls.tables is not Box.tables


def generated_parts(cls: type[Box], page: Page) -> dict[str, str]:
    """The generated parts of the page of a box."""
    kind = "over stored tables" if _stored(cls) else "stateful" if cls.stateful else "stateless"
    number = "1 input" if arity(cls) == "1" else f"{arity(cls)} inputs"
    head = [f"# {cls.icon} {cls.type}", "", _code(summary(cls)), "", f"*{number}, {kind}.*"]
    table = list(parameter_table(cls)) or ["None."]
    outputs = list(_outputs(cls, page)) or ["Write an example as a YAML file first."]
    return {
        "head": "\n".join(head),
        "parameters": "\n".join(["", *table, ""]),
        "outputs": "\n".join(["", *outputs, ""]),
        "paper": _code(paper(cls)),
    }


def find_example(cls: type[Box], page: Page) -> tuple[Network, str] | None:
    """The network in the first YAML file of a page, and the name of the box of that type in it."""
    texts = [text for name, text in page.files.items() if name.endswith(".yaml")]
    if not texts:
        return None
    net = loads(texts[0], code=True)
    found = [name for name, node in net.boxes.items() if isinstance(node.box, cls)]
    return (net, found[0]) if found else None


def _outputs(cls: type[Box], page: Page) -> Iterator[str]:
    """A row for each output of the box in the example, with the fields of its tuples."""
    example = find_example(cls, page)
    if example is None:
        return
    net, name = example
    with page.written():
        schemas = net.check().or_raise().schemas
    box = net.boxes[name].box
    yield "| output | in the example | fields |"
    yield "| --- | --- | --- |"
    for port in (*box.ports, *box.side_ports):
        arc = Arc(name, port)
        yield f"| `{port}` | `{arc}` | {_fields(str(schemas[arc]))} |"
    yield ""
    marks = "".join(str(schema) for arc, schema in schemas.items() if arc.source == name)
    unordered = ", `?` one that is not sorted" if "?" in marks else ""
    yield f"(`*` marks the order attribute{unordered}.)"


def _fields(schema: str) -> str:
    return ", ".join(f"`{field}`" for field in schema.split(", "))


def _code(text: str) -> str:
    """Turn the double backticks of docstrings into the single backticks of Markdown."""
    return re.sub(r"``(.+?)``", r"`\1`", text)
