"""Small documents that expand to large ones: each is rejected quickly, with one sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import boxcars as bx
from boxcars.expr import Expr
from boxcars.lang.layout import load_layout
from boxcars.model import codec, flatten
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema
from boxcars.studio.edit.cases import load_cases
from tests.attacks.payloads import plain_network

SCHEMA = Schema.of({"t": "int", "x": "float", "s": "str"}, ts="t")


def laughs(levels: int = 30) -> str:
    """Each alias is two of the previous one."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, levels)]
    return "\n".join(lines)


def entities(levels: int = 30) -> str:
    names = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};">' for n in range(1, levels))
    return f'<?xml version="1.0"?><!DOCTYPE b [<!ENTITY e0 "x">{names}]><borealis>&e29;</borealis>'


def doubling(levels: int, empty: bool = False) -> dict[str, Any]:
    """Each superbox contains the previous one twice; the first one may be empty."""
    feed = {"feed": {"ts": "time", "fields": {"time": "int", "price": "float"}}}
    boxes: dict[str, Any] = {"a": {"type": "filter", "in": "feed", "where": "price > 1"}}
    found = {"s0": {"inputs": feed, "boxes": boxes, "outputs": {"o": {"from": "a"}}}}
    if empty:
        found["s0"] = {"inputs": feed, "outputs": {"o": {"from": "feed"}}}
    for n in range(1, levels):
        one = {"type": f"s{n - 1}", "in": "feed"}
        two = {"type": f"s{n - 1}", "in": "a"}
        outputs = {"o": {"from": "b"}}
        found[f"s{n}"] = {"inputs": feed, "boxes": {"a": one, "b": two}, "outputs": outputs}
    net = plain_network("")
    net["boxes"] = {"twice": {"type": f"s{levels - 1}", "in": "calls"}}
    return {**net, "superboxes": found}


def growing(levels: int) -> dict[str, Any]:
    """Each superbox contains another, and passes it its own text twice."""
    net = doubling(1)
    (inner,) = net["superboxes"].values()
    inner["params"] = {"p0": None}
    inner["boxes"]["a"]["where"] = "price > $p0"
    for n in range(1, levels):
        use = {"type": f"s{n - 1}", "in": "feed", f"p{n - 1}": f"$p{n} + $p{n}"}
        inner = {
            "params": {f"p{n}": None},
            "superboxes": {f"s{n - 1}": inner},
            "inputs": inner["inputs"],
            "boxes": {"a": use},
            "outputs": {"o": {"from": "a"}},
        }
    net["superboxes"] = {f"s{levels - 1}": inner}
    net["boxes"] = {"twice": {"type": f"s{levels - 1}", "in": "calls", f"p{levels - 1}": "1"}}
    return net


DOCUMENTS: dict[str, tuple[str, str]] = {
    "aliases": ("yaml", laughs()),
    "an alias of itself": ("yaml", "a: &a [*a]"),
    "braces": ("yaml", "{a: " * 100_000),
    "brackets": ("json", "[" * 100_000),
    "blocks": ("yaml", "\n".join(f"{' ' * n}a:" for n in range(2000))),
    "entities": ("xml", entities()),
    "an entity that is a file": (
        "xml",
        '<!DOCTYPE b [<!ENTITY e SYSTEM "file:///etc/passwd">]><borealis>&e;</borealis>',
    ),
    "elements": ("xml", "<borealis>" * 100_000),
    "lines of text": ("xml", "<borealis>" + "\n" * 2_000_000 + "</borealis>"),
    "an attribute": ("xml", f'<borealis name="{"x" * 1_000_000}"/>'),
    "superboxes": ("json", json.dumps(doubling(40))),
    "superboxes with nothing in them": ("json", json.dumps(doubling(40, empty=True))),
    "texts of superboxes": ("json", json.dumps(growing(20))),
    "a number": ("yaml", "inputs: {a: {ts: t, slack: " + "9" * 1_000_000 + ", fields: {t: int}}}"),
    "an exponent": ("yaml", "inputs: {a: {ts: t, slack: 1e999999999, fields: {t: int}}}"),
    "a tag": ("yaml", "!!python/object/apply:os.system [touch sprung]"),
    "a tag of a name": ("yaml", "name: !!python/name:os.system x"),
}


@pytest.mark.parametrize("what", DOCUMENTS)
def test_documents(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    language, text = DOCUMENTS[what]
    checked = bx.check_text(text, language)
    assert not checked.ok
    assert all(len(str(problem)) < 2000 for problem in checked.problems), "a sentence"
    assert not list(tmp_path.iterdir())


def test_superboxes_at_the_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, right in ((22, True), (21, False)):  # 8 boxes in 15 superboxes, the last in none
        monkeypatch.setattr(flatten, "MOST", most)
        checked = bx.check_text(json.dumps(doubling(4)), "json")
        assert checked.ok == right
        if not right:
            assert f"superboxes expand to more than {most} boxes" in str(checked.problems[0])


def test_texts_of_superboxes_at_the_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    length = len("price > ") + len(" + ".join("1" * 16))
    monkeypatch.setattr(codec, "LONGEST", length)
    assert bx.check_text(json.dumps(growing(5)), "json").ok
    monkeypatch.setattr(codec, "LONGEST", length - 1)
    (problem, *_) = bx.check_text(json.dumps(growing(5)), "json").problems
    assert "expand to a text of more than" in str(problem)


EXPRESSIONS = {
    "parentheses": "(" * 50_000 + "x" + ")" * 50_000,
    "minus": "-" * 50_000 + "x",
    "not": "not " * 50_000 + "true",
    "terms": " + ".join(["x"] * 50_000),
    "conjunction": " AND ".join(["x > 1"] * 50_000),
    "calls": "abs(" * 50_000 + "x" + ")" * 50_000,
    "cases": "case when true then " * 5_000 + "1" + " end" * 5_000,
    "a number": "x + " + "9" * 1_000_000,
    "an exponent": "x + 1e999999999",
    "a text": "s = '" + "x" * 10_000_000 + "'",
    "no end of a text": "s = '" + "x" * 1_000_000,
    "a comment": "x /*" * 100_000,
    "backslashes": "\\" * 100_000,
    "a regular expression": "regexp_like(s, '" + "(" * 5_000 + "a" + ")" * 5_000 + "')",
    "a regular expression that counts": "regexp_like(s, '((((a{1000}){1000}){1000}){1000})')",
    "repeat": "repeat(s, 9223372036854775807)",
}


@pytest.mark.parametrize("what", EXPRESSIONS)
def test_expressions(what: str) -> None:
    expr = Expr.of(EXPRESSIONS[what])
    for ask in (
        lambda: expr.type_in(SCHEMA),
        lambda: SCHEMA.empty().select(expr.compile(SCHEMA)),
        lambda: expr.fields,
        expr.is_field,
        lambda: expr.increasing_in("t"),
    ):
        said = ""
        try:
            ask()
        except Wrong as wrong:
            said = str(wrong)
        assert len(said) < 2000


BESIDE: dict[str, Callable[[Path], Any]] = {
    "net.layout.json": load_layout,
    "net.tests.yaml": lambda path: load_cases(path.with_name("net.tests.yaml")),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": ' * 100_000, laughs(), "!!python/name:os.system x", "\0"]
)
def test_files_beside_a_network(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BoxcarsError):
        BESIDE[name](tmp_path / "net.yaml")
