"""Borealis XML: the thesis' examples, our extensions, and errors."""

import json
from pathlib import Path

import pytest

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.model.problem import Wrong

GOLDEN = Path(__file__).parent.parent / "golden/formats_api.json"
HEAD = """<schema name="s"><field name="time" type="int"/><field name="x" type="string"/></schema>
<input stream="in" schema="s"/>"""
FILTER = """<box name="f" type="filter"><in stream="in"/>{outs}
<parameter name="expression.0" value="time &lt; 1"/>{more}</box>"""


def check(body: str) -> list[str]:
    return [str(p) for p in bx.check_text(f"<borealis>{body}</borealis>", "xml").problems]


def read(body: str) -> bx.Network:
    return bx.loads(f"<borealis>{body}</borealis>", "xml")


def test_the_file_of_the_thesis() -> None:
    vectors = json.loads(GOLDEN.read_text(encoding="utf-8"))["vectors"]
    content = next(v["input"]["xml"] for v in vectors if v["id"] == "fmt-03-query-xml-sample")
    net = bx.loads(content, "xml")
    net.check().or_raise()
    assert [node.group for node in net.boxes.values()] == ["group1"] * 3 + ["group2"] * 3
    assert net.boxes["a"].box == Aggregate.build(
        bx.tuples(2, advance=1),
        by="phone",
        t1="firstval(time)",
        x1="firstval(x)",
        y1="firstval(y)",
        t2="lastval(time)",
        x2="lastval(x)",
        y2="lastval(y)",
    )
    assert bx.loads(bx.dumps(net, "xml"), "xml") == net
    assert bx.loads(bx.dumps(net), "yaml") == net


class TestOutputsOfAFilter:
    """Borealis counts outputs: one more than the number of predicates means an else output."""

    @pytest.mark.parametrize("number", [1, 2])
    def test_by_count(self, number: int) -> None:
        outs = "".join(f'<out stream="o{i}"/>' for i in range(number))
        net = read(HEAD + FILTER.format(outs=outs, more="") + f'<output stream="o{number - 1}"/>')
        assert net.boxes["f"].box.ports == ("0", "else")[:number]
        assert str(net.outputs[f"o{number - 1}"].source) == ("f", "f.else")[number - 1]
        net.check().or_raise()

    @pytest.mark.parametrize("number", [0, 3])
    def test_too_few_or_many(self, number: int) -> None:
        outs = "".join(f'<out stream="o{i}"/>' for i in range(number))
        problems = check(HEAD + FILTER.format(outs=outs, more="") + '<output stream="in"/>')
        assert problems == [
            f"text.xml:2: box 'f': a filter like this has exactly 1 output, got {number}."
        ]

    def test_by_name(self) -> None:
        outs = '<out stream="rest" port="else"/><out stream="low"/>'
        more = '<parameter name="else" value="true"/>'
        problems = check(HEAD + FILTER.format(outs=outs, more=more) + '<output stream="rest"/>')
        assert (
            problems == ["text.xml:2: box 'f': a filter like this has exactly 2 outputs, got 1."]
            or not problems
        )


def everything() -> bx.Network:
    body = bx.Network("alarm")
    feed = body.input("feed", ts="time", fields={"time": "int"})
    high, low = feed.filter("time > $limit", "time < 0", otherwise=True).named("cut")["0"], None
    assert low is None
    body.output("high", high)
    body.output("rest", body.stream("cut.else"))
    net = bx.Network("everything")
    net.superbox(body, limit=None, text="5", more=[1, "a", {"b": None}])
    ticks = net.input("ticks", ts="time", fields={"time": "int"}, slack=2.5, idle=30)
    raw = net.input("raw", ts="at", fields={"at": "timestamp", "data": "bytes"}, clock="wall")
    net.input("stamped", ts="arrival", fields={"data": "bytes"})
    net.table("seen", fields={"k": "str", "n": "float"}, key=["k", "n"])
    net.table("keyless", fields={"k": "bool"})
    alarm = ticks.use("alarm", limit=7, text="true").named("alarm").in_group("g")
    decoded = raw.decode(
        format="csv", fields={"n": "int"}, options={"delimiter": ";", "header": True}
    ).named("d")
    ticks.map(moment="time", keep=True).named("copied").aggregate(
        bx.value("time", 5, 2.5, emit={"every": 3}, flush=True, origin=-4),
        by=["moment"],
        fields={"two words": "count()", "last": "last(time)"},
    ).named("agg").in_group("g")
    ticks.aggregate(bx.tuples(5, timeout=9, obsolete="drop", slack=2), n="count()").named("drop")
    ticks.aggregate(bx.time(5, emit={"every": 3, "by": "tuples"}), n="count()").named("third")
    ticks.aggregate(
        bx.landmark(emit={"every": 3, "by": "time"}, slack={"time": 1}), n="count()"
    ).named("ever")
    renamed = ticks.map(rename={"time": "when"}, drop=()).named("renamed")
    ticks.drop(rate=0.25, where="time < 5", seed=9).named("less")
    net.output("high", alarm["high"], qos={"latency": [[0, 1], [2.5, 0]], "loss": [[0, 0], [1, 1]]})
    net.output("n", decoded, fields={"at": "timestamp", "n": "int"})
    net.output("dead", decoded.dead, qos={"value": [[0, 0.5], [1, 1]], "value_field": "at"})
    net.output("renamed", renamed)
    alarm["rest"].connection_point("recent", tuples=100)
    ticks.connection_point("day", time=86400.5)
    return net


def test_everything_goes_there_and_back() -> None:
    net = everything()
    again = bx.loads(bx.dumps(net, "xml"), "xml")
    assert again == net, bx.diff(net, again)
    assert again.check().problems == net.check().problems == ()


@pytest.mark.parametrize("text", ["<", ">", "&", '"', "'", "\n", "\t", "\r", "]]>", "😀", " x "])
def test_characters_that_xml_writes_in_its_own_way(text: str) -> None:
    net = bx.Network(f"a{text}b")
    calls = net.input("calls", ts="time", fields={"time": "int", f"x{text}": "str"})
    quoted = text.replace("'", "''")
    net.output("out", calls.filter(f"'{quoted}x' = 'x'").named("f"))
    assert bx.loads(bx.dumps(net, "xml"), "xml") == net


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1b", "\ufffe", "\ud800"])
def test_characters_that_xml_can_not_hold(character: str) -> None:
    with pytest.raises(Wrong, match="XML can't represent the character .*: use YAML instead"):
        bx.dumps(bx.Network(f"a{character}"), "xml")


OUT = '<output stream="in"/>'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"{HEAD}{HEAD}{OUT}", "text.xml:2: duplicate <schema> 's'."),
        (f"{HEAD}{HEAD}{OUT}", "text.xml:3: duplicate <input> 'in'."),
        (f"{HEAD}{OUT}{OUT}", "text.xml:2: duplicate <output> 'in'."),
        (
            HEAD
            + FILTER.format(
                outs='<out stream="o"/>', more='<parameter name="expression.0" value="x"/>'
            )
            + OUT,
            "box 'f': duplicate <parameter> 'expression.0'.",
        ),
        (
            HEAD + 2 * FILTER.format(outs='<out stream="o"/>', more="") + OUT,
            "duplicate box 'f'.",
        ),
        (HEAD + OUT + '<table name="t" schema="s"/>' * 2, "duplicate <table> 't'."),
        (HEAD + OUT + '<superbox name="t"/>' * 2, "duplicate <superbox> 't'."),
        (HEAD + OUT + '<bx name="t"/>', "unknown element <bx>. Did you mean 'box'?"),
        (
            HEAD + '<output stream="inn"/>',
            "output 'inn': there is no stream 'inn'. Did you mean 'in'?",
        ),
        (HEAD + OUT + "<input stream='a'/>", "input 'a': <input> needs 'schema'."),
        (
            '<schema name="s"><field name="a" type="int"/></schema><input stream="i" schema="s"/>',
            "input 'i': the order attribute is missing: add ts=\"field\".",
        ),
        (
            HEAD
            + FILTER.format(
                outs='<out stream="o"/>', more='<parameter name="expression.²" value="x"/>'
            ),
            "box 'f': a filter has no parameter 'expression.²'.",
        ),
        (
            HEAD
            + FILTER.format(outs='<out stream="o"/>', more='<parameter name="else" value=""/>'),
            "box 'f': parameter 'else' is empty.",
        ),
        (
            HEAD + OUT + '<superbox name="t">' * 80 + "</superbox>" * 80,
            "this is nested too deeply.",
        ),
        ("<schema><field/></schema><input/><box><in/><out/></box><output/>", "<box> needs 'type'."),
    ],
    ids=lambda text: text[:30],
)
def test_mistakes(body: str, words: str) -> None:
    problems = check(body)
    assert any(words in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "text.xml:1: invalid XML: no element found."),
        ("<borealis>\n<box></borealis>", "text.xml:2: invalid XML: mismatched tag."),
        ("<borealis>&nbsp;</borealis>", "invalid XML: undefined entity."),
        ("<net/>", "text.xml:1: expected <borealis>, got <net>."),
        ('<!DOCTYPE b [<!ENTITY a "b">]><borealis>&a;</borealis>', "a DOCTYPE is not allowed here"),
    ],
)
def test_files_that_are_not_queries(content: str, words: str) -> None:
    assert words in "\n".join(str(p) for p in bx.check_text(content, "xml").problems)


def test_attributes_of_an_input() -> None:
    net = read(
        '<schema name="s"><field name="at" type="timestamp"/><field name="n" type="long"/></schema>'
        '<input stream="in" schema="s" ts="at" slack="2.5" idle="10" clock="wall"/>'
        '<output stream="in"/>'
    )
    entity = net.inputs["in"]
    assert (entity.ts, entity.slack, entity.idle, entity.clock) == ("at", 2.5, 10, "wall")
    assert str(entity.schema) == "at*: timestamp, n: int"


def test_the_encoding_that_a_file_names_does_not_matter() -> None:
    for name in ("ISO-8859-1", "UTF-16"):
        content = f'<?xml version="1.0" encoding="{name}"?><borealis name="ä"/>'
        assert bx.loads(content, "xml").name == "ä"
