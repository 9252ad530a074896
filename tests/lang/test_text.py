"""YAML and JSON: scalars, line numbers, and malicious files."""

from typing import Any

import pytest

import boxcars as bx
from boxcars.lang.text import dump, join_surrogates, parse

NETWORK = """\
name: calls
inputs:
  calls:
    ts: time
    fields: {time: int, price: float}
boxes:
  cheap:
    type: filter
    in: calls
    where: price < 1
outputs:
  cheap:
    from: cheap
"""


def read(text: str) -> Any:
    return parse(text, "net.yaml")[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, word) for word in ("yes", "no", "on", "off", "y", "NO", "Off", "tRUE")],
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("007", 7),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
        (".inf", float("inf")),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30:00", "12:30:00"),
        ("2026-01-02", "2026-01-02"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("'null'", "null"),
        ("'it''s'", "it's"),
        ('"\\u00e4\\n"', "ä\n"),
        ("日本 λ 😀", "日本 λ 😀"),
        ("|\n  two\n  lines", "two\nlines"),
        (">\n  one\n  line\n", "one line\n"),
        ("1" * 5000, "1" * 5000),
    ],
)
def test_scalars(text: str, value: Any) -> None:
    found = read(f"v: {text}")["v"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        *["yes", "no", "5", "0.5", "true", "null", "", "~", " x ", "a: b", "# no", "'", '"', "\t"],
        *["- x", "*x", "&x", "!x", "%x", "@x", "`x`", "{x", "[x", "a\nb", "ä", "😀", "\a", "5\r"],
        *["\r", "\x85", "a\x85 b", "a\u2028b", 5, -5, 0.5, 1e300, True, False, None, [], {}],
        *[[1, "1"], {"on": "off", "5": 5}],
    ],
    ids=repr,
)
def test_what_is_written_is_read_again(value: Any) -> None:
    assert read(dump({"v": value})) == {"v": value}


def test_anchors_and_aliases() -> None:
    text = "a: &fields {t: int, x: float}\nb: *fields\nc: [*fields, *fields]"
    fields = {"t": "int", "x": "float"}
    assert read(text) == {"a": fields, "b": fields, "c": [fields, fields]}


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x {b: *x}", "net.yaml:1: this is nested too deeply."),
        ("a: &x [*x, *x, *x]", "net.yaml:1: this is nested too deeply."),
        (BOMB, "this is too large when its aliases are expanded."),
        ("[" * 100_000, "net.yaml:1: this is nested too deeply."),
        ("- " * 50_000, "net.yaml:1: this is nested too deeply."),
        ("".join(" " * i + "a:\n" for i in range(100)), "net.yaml:61: this is nested too deeply."),
        (
            "a:\n\tb: 1",
            "net.yaml:2: invalid YAML: found character that cannot start any token.",
        ),
        ("a: [1, 2", "net.yaml:2: invalid YAML: did not find expected ',' or ']'."),
        ("a: *nowhere", "net.yaml:1: invalid YAML: found undefined alias."),
        ("a: 1\n--- \nb: 2", "invalid YAML: but found another document."),
        ("a: 'x", "invalid YAML: found unexpected end of stream."),
        ("a: 1\nb: 2\na: 3", "net.yaml:3: 'a' is a duplicate: it is already defined in line 1."),
        (
            "x:\n  a: 1\n  a: 2",
            "net.yaml:3: x: 'a' is a duplicate: it is already defined in line 2.",
        ),
        ("? [a, b]\n: 1", "net.yaml:1: a name must be text."),
        ("a: \x00", "invalid YAML"),
    ],
    ids=lambda text: text[:12],
)
def test_invalid_texts(text: str, words: str) -> None:
    with pytest.raises(bx.NetworkError) as error:
        read(text)
    assert words in str(error.value)


def test_deep_but_not_too_deep() -> None:
    assert read("v: " + "[" * 50 + "]" * 50)


def test_every_part_has_its_line() -> None:
    _, source = parse(NETWORK, "net.yaml")
    lines = {path: location.line for path, location in source.items()}
    assert lines["inputs",] == 2
    assert lines["inputs", "calls", "fields", "price"] == 5
    assert lines["boxes", "cheap"] == 7
    assert lines["boxes", "cheap", "where"] == 10


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("price < 1", "prise < 1", "text.yaml:10: box 'cheap', where[0]: unknown field 'prise'."),
        (
            "type: filter",
            "type: flter",
            "text.yaml:8: box 'cheap', type: unknown box type 'flter'.",
        ),
        ("in: calls", "in: cals", "text.yaml:9: box 'cheap', in: there is no input or box 'cals'."),
        (
            "price: float",
            "price: flot",
            "text.yaml:5: input 'calls', fields.price: unknown type 'flot'.",
        ),
        (
            "ts: time",
            "ts: tme",
            "text.yaml:4: input 'calls', ts: the order attribute 'tme' is not a",
        ),
        (
            "from: cheap",
            "form: cheap",
            "text.yaml:13: output 'cheap', form: an output has no 'form'.",
        ),
        ("boxes:", "boxs:", "text.yaml:6: boxs: unknown section 'boxs'. Did you mean 'boxes'?"),
    ],
)
def test_errors_have_lines(old: str, new: str, words: str) -> None:
    problems = "\n".join(map(str, bx.check_text(NETWORK.replace(old, new)).problems))
    assert words in problems


def test_json() -> None:
    net = bx.loads(NETWORK)
    assert bx.loads(bx.dumps(net, "json"), "json") == net
    tabs = '{\n\t"name": "n",\n\t"inputs": {"a": {"ts": "t",\n\t\t"fields": {"t": "int"}}}\n}'
    assert bx.loads(tabs, "json").inputs["a"].ts == "t"
    problems = bx.check_text('{"name": "n",\n "inputs": {"a": 1}}', "json").problems
    assert str(problems[-1]) == "text.json:2: input 'a': expected a block such as {...}, got 1."


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (r"\ud83d\ude00", "😀"),
        (r"a\uD83D\uDE00\ud83d\ude01b", "a😀😁b"),
        (r"\\ud83d\\ude00", r"\ud83d\ude00"),
        (r"\\\ud83d\ude00", "\\😀"),
        (r"\u00e4\/\"", 'ä/"'),
        ("😀", "😀"),
    ],
)
def test_json_writes_far_characters_as_pairs(text: str, name: str) -> None:
    import json

    content = f'{{"name": "{text}"}}'
    assert json.loads(content)["name"] == name
    assert bx.loads(content, "json").name == name
    assert join_surrogates("no pairs") == "no pairs"


def test_an_empty_file() -> None:
    assert [str(p) for p in bx.check_text("").problems] == [
        "text.yaml:1: outputs: a network needs at least one output."
    ]
    assert read("# only a comment") == {}


@pytest.mark.parametrize(
    "text", ["5", "text", "[1, 2]", "inputs: 5", "boxes: [a]", "inputs: {a: }"]
)
def test_data_that_is_not_a_network(text: str) -> None:
    with pytest.raises(bx.NetworkError, match="expected"):
        bx.loads(text)


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_files_of_other_systems(mark: str, ends: str) -> None:
    assert bx.loads(mark + NETWORK.replace("\n", ends)) == bx.loads(NETWORK)
