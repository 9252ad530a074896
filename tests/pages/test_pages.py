"""Every box has a page, and every page is complete."""

import re
from pathlib import Path

import pytest

import boxcars as bx
from boxcars.model.problem import BoxcarsError
from boxcars.pages import (
    DRAWINGS,
    EDGES,
    FOLDER,
    PARTS,
    SECTIONS,
    find_example,
    generated_pages,
    generated_parts,
    our_boxes,
    skeleton,
)
from boxcars.pages.page import Page

ROOT = Path(bx.__file__).parent.parent
BOXES = our_boxes()
PAGES = sorted([*(ROOT / FOLDER).glob("*.md"), ROOT / "docs/reference/windows.md"])
IMAGE = re.compile(r"!\[(?P<alt>[^\]]+)\]\((?P<path>[^)]+)\)")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<path>[^)#:]+)(?:#(?P<anchor>[\w-]+))?\)")


def page_of(name: str) -> Page:
    path = ROOT / FOLDER / f"{name}.md"
    assert path.exists(), f"no page: run boxcars generate and fill in {path.name}"
    return Page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BOXES)
def test_every_section_is_written(name: str) -> None:
    page = page_of(name)
    assert page.parts == PARTS
    assert [section for section in page.sections if section in SECTIONS] == list(SECTIONS)
    for section in SECTIONS:
        assert len(page.sections[section]) > 20, section
    for edge in EDGES:
        assert f"- **{edge}.** " in page.sections["Edge cases"], edge


@pytest.mark.parametrize("name", BOXES)
def test_every_output_is_described(name: str) -> None:
    page = page_of(name)
    example = find_example(BOXES[name], page)
    assert example is not None, "the first YAML file of a page is its example"
    net, found = example
    box = net.boxes[found].box
    described = re.findall(r"^- \*\*(.+?)\*\*", page.sections["Outputs"], re.M)
    words = " ".join(described)
    for port in (*box.ports, *box.side_ports):
        assert f"`{port}`" in words, port


@pytest.mark.parametrize("name", BOXES)
def test_every_example_runs_and_is_asserted(name: str) -> None:
    """The blocks themselves run with the other blocks of the docs."""
    page = page_of(name)
    example = page.sections["Example"]
    assert "bx.preview(" in example
    assert "assert " in example
    (first, *_) = [file for file in page.files if file.endswith(".yaml")]
    assert f'bx.load("{first}") == net' in example or f"boxcars check {first}" in example


@pytest.mark.parametrize("name", BOXES)
def test_every_page_has_a_drawing_of_its_own(name: str) -> None:
    page = page_of(name)
    shown = [Path(match["path"]).name for match in IMAGE.finditer(page.text)]
    assert page.drawings, "describe a drawing"
    assert set(page.drawings) <= set(shown)
    networks = {
        described["network"] for described in page.drawings.values() if "network" in described
    }
    assert networks <= set(page.files)


def test_no_page_and_no_drawing_is_left_over() -> None:
    names = {path.stem for path in (ROOT / FOLDER).glob("*.md")}
    assert names == {*BOXES, "README"}
    described = [name for path in PAGES for name in Page(path.read_text("utf-8")).drawings]
    assert len(set(described)) == len(described)
    assert {path.name for path in (ROOT / DRAWINGS).glob("*")} == set(described)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for match in IMAGE.finditer(text):
        assert (path.parent / match["path"]).exists(), match["path"]
        assert len(match["alt"]) > 20, "describe the picture"
    for match in LINK.finditer(text):
        target = path.parent / match["path"]
        assert target.exists(), match["path"]
        if match["anchor"]:
            assert match["anchor"] in anchors(target), match[0]


def anchors(path: Path) -> set[str]:
    """The anchors of headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_a_box_without_a_page_gets_an_empty_one() -> None:
    page = Page(skeleton())
    assert page.parts == PARTS
    filled = Page(page.with_parts(generated_parts(BOXES["filter"], page)))
    assert filled.text.startswith("<!-- generated: head -->\n# ▽ filter\n")
    assert "| `where` | `expression.#` | list of expression | required |" in filled.text
    assert filled.sections["Cost"] == ""


def test_only_generated_parts_change() -> None:
    text = "before\n<!-- generated: head -->\nold\n<!-- end -->\nafter\n"
    wanted = "before\n<!-- generated: head -->\nnew\n<!-- end -->\nafter\n"
    assert Page(text).with_parts({"head": "new"}) == wanted
    with pytest.raises(BoxcarsError, match="there is no generator for the part 'head'"):
        Page(text).with_parts({})


def test_a_stale_part_is_seen() -> None:
    path = ROOT / FOLDER / "filter.md"
    text = path.read_text(encoding="utf-8")
    assert generated_pages(ROOT)[path] == text
    stale = Page(text.replace("| `where` |", "| `when` |", 1))
    assert stale.text != text
    assert stale.with_parts(generated_parts(BOXES["filter"], stale)) == text


def test_a_drawing_needs_a_kind() -> None:
    with pytest.raises(BoxcarsError, match=r"the description of x\.svg has no 'kind'"):
        _ = Page("<!-- drawing: x.svg\ntitle: x\n-->").drawings
