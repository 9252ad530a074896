"""Arbitrary documents in any language: they are read, or rejected with one sentence.

Documents are made from right ones: parts are taken out, doubled, put elsewhere and replaced by what
is dangerous. ``--long`` continues for BOXCARS_FUZZ_SECONDS, by default three minutes.
"""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.commands.config import read_config
from boxcars.connectors.documents import FORMAT, seal
from boxcars.connectors.read.sources import source_of
from boxcars.connectors.systems.url import Url
from boxcars.draw import draw
from boxcars.engine.state.checkpoint import Checkpoint
from boxcars.engine.state.epoch_records import Head
from boxcars.expr import Expr
from boxcars.lang.deploy import Deployment
from boxcars.lang.files import LANGUAGES
from boxcars.lang.layout import load_layout
from boxcars.lang.streamcloud import load_project
from boxcars.model.deserialize import read_network
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema
from boxcars.model.serialize import network_to_plain
from boxcars.sim.storage import MemoryStorage
from boxcars.studio.edit.cases import load_cases
from boxcars.studio.edit.checking import check_plain
from boxcars.studio.runs.records import read_record
from tests.attacks.payloads import STORED, plain_network, text_of, with_superbox, written
from tests.attacks.watch import nothing_happens

SECONDS = float(os.environ.get("BOXCARS_FUZZ_SECONDS", "180"))
SCHEMA = Schema.of({"t": "int", "x": "float", "s": "str", "b": "bool"}, ts="t")
RULES = Path(__file__).parents[1] / "ossim"

DANGEROUS = [
    *(text_of(what) for what in STORED),
    "!!python/object/apply:os.system [x]",
    "&a [*a]",
    "*a",
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
    "&b;",
    "${HOME}",
    "$p",
    "../../etc/passwd",
    "sqlite:////etc/passwd",
    "9" * 5000,
    "1e999",
    "-0",
    "NaN",
    ".inf",
    "null",
    "~",
    "true",
    "[",
    "{",
    '"',
    "'",
    "\\",
    "\x00",
    "\x1b[2J",
    "\u2028",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "\U0001f600",
    "os:system",
    "polars:",
    "(" * 200,
    "-" * 200,
]
NETWORKS = [
    plain_network("price * 2"),
    with_superbox("price", " * 2"),
    {
        **plain_network("price"),
        "tables": {"seen": {"fields": {"k": "int"}, "key": ["k"]}},
        "boxes": {
            "twice": {
                "type": "aggregate",
                "in": "calls",
                "window": {"time": 60, "advance": 10},
                "fields": {"n": "count()"},
            }
        },
        "connection_points": {"c": {"arc": "calls", "time": 5}},
    },
]
OSSIM = """<directives><directive id="1" name="d" priority="2"><rule type="detector" name="r"
from="ANY" to="ANY" port_from="ANY" port_to="ANY" reliability="1" occurrence="1" plugin_id="1"
plugin_sid="1"><rules><rule type="detector" name="s" from="1:SRC_IP" to="ANY" port_from="ANY"
port_to="ANY" reliability="+2" occurrence="3" time_out="10" plugin_id="1" plugin_sid="2"/></rules>
</rule></directive></directives>"""
SEEDS: dict[str, list[str]] = {
    language: [written(net, language) for net in NETWORKS] for language in ("yaml", "json", "xml")
}
SEEDS["xml"].append(OSSIM)

mutations = st.tuples(
    st.sampled_from(["take out", "double", "put in", "replace", "swap"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(DANGEROUS) | st.text(max_size=8),
)


def mutated(text: str, changes: list[tuple[str, float, float, str]]) -> str:
    """A text with random changes."""
    for how, first, size, new in changes:
        at = int(first * len(text))
        end = min(at + int(size**4 * 200), len(text))
        part = text[at:end]
        text = {
            "take out": text[:at] + text[end:],
            "double": text[:end] + part + text[end:],
            "put in": text[:at] + new + text[at:],
            "replace": text[:at] + new + text[end:],
            "swap": text[end:] + text[:end],
        }[how][:100_000]
    return text


def documents(language: str) -> st.SearchStrategy[str]:
    many = st.builds(mutated, st.sampled_from(SEEDS[language]), st.lists(mutations, max_size=6))
    return many | st.text(max_size=50)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(DANGEROUS)
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "in", "fields", "a", "from", "by", "$p"]), inner)
    ),
    max_leaves=8,
)


@st.composite
def networks(drawn: st.DrawFn) -> Any:
    """The plain form of a network, with some parts replaced by arbitrary values."""
    net: Any = json.loads(json.dumps(drawn(st.sampled_from(NETWORKS))))
    for _ in range(drawn(st.integers(0, 4))):
        at = net
        while isinstance(at, dict) and at:
            key = drawn(st.sampled_from(sorted(at)))
            if not isinstance(at[key], dict) or drawn(st.booleans()):
                at[key] = drawn(values)
                break
            at = at[key]
    return net


def languages(text: tuple[str, str]) -> None:
    """Check, draw, convert and reload a network file."""
    language, content = text
    checked = bx.check_text(content, language)
    for problem in checked.problems:
        assert len(str(problem)) < 3000
    with suppress(BoxcarsError):
        reading = LANGUAGES[f".{language}"].read(content, Path(f"x.{language}"), None)
        for other in ("yaml", "json", "xml"):
            with suppress(BoxcarsError):
                again = LANGUAGES[f".{other}"].read(
                    LANGUAGES[f".{other}"].write(reading.network), Path(f"x.{other}"), None
                )
                str(network_to_plain(again.network))
    if checked.ok:
        draw(checked.network, "svg")


def plain_forms(net: Any) -> None:
    """Requests to the studio, if the document is a mapping."""
    with suppress(BoxcarsError):
        str(read_network(net).network)
    check_plain(net if isinstance(net, dict) else {"boxes": net}, code=False)


def expressions(text: str) -> None:
    expr = Expr.of(text)
    for ask in (
        lambda: SCHEMA.empty().select(expr.compile(SCHEMA)),
        lambda: expr.fields,
        lambda: expr.increasing_in("t"),
        expr.is_field,
    ):
        with suppress(Wrong):
            ask()


WORDS = """t x s b 1 0.5 'a' ( ) + - * / // % ^ || = <> < and or not is null in like between case
when then else end cast as int float timestamp interval :: , . abs( repeat( regexp_like( count(
lpad( if( coalesce( " ' -- /* $p polars: {} ; select from"""
words = st.sampled_from(WORDS.split())
sql = st.lists(words, max_size=25).map(" ".join) | st.text(max_size=40)


def addresses(text: str) -> None:
    with suppress(Wrong):
        url = Url.parse(text)
        assert not url.scheme or Url.parse(str(url)).host == url.host
    with suppress(BoxcarsError):
        source_of(text)


def beside(folder: Path) -> Callable[[tuple[str, str]], None]:
    """Files next to networks, and in the folder of the studio."""

    def attack(file: tuple[str, str]) -> None:
        name, content = file
        (folder / name).write_text(content, encoding="utf-8", errors="replace")
        with nothing_happens():
            if name == "run.json":
                read_record(folder)
                return
            with suppress(BoxcarsError):
                FILES[name][1](folder)

    return attack


def _config(folder: Path) -> None:
    before = Path.cwd()
    os.chdir(folder)
    try:
        read_config({})
    finally:
        os.chdir(before)


def _checkpoint(folder: Path) -> None:
    """The document as the body of a head and a manifest that are sealed like real ones."""
    storage = MemoryStorage()
    body = (folder / "epoch.json").read_bytes() + b"\n"
    for kind, name in (("manifest", MANIFEST_NAME), ("head", "head")):
        checksum = crc32(body, crc32(b"%s %d" % (kind.encode(), FORMAT)))
        storage.put(name, b"boxcars %s %d %08x\n" % (kind.encode(), FORMAT, checksum), body)
    with suppress(BoxcarsError):
        Checkpoint(storage).pending()
    storage.put("head", seal("head", Head(1, "a", 1, MANIFEST_NAME).plain()))
    Checkpoint(storage).last()


MANIFEST_NAME = "epochs/00000001-0001.manifest"
MANIFEST = {
    "epoch": 1,
    "splits": {"calls": [{"kind": "rate", "start": 0, "stop": 1, "position": 0, "fields": []}]},
    "final": False,
    "places": {"calls": {"position": 1, "file": 0, "row": 1, "ended": False}},
    "ahead": {},
    "network": "x",
    "state": [],
    "shape": {"instances": 1, "buckets": 1, "apart": [["f", 2]], "owners": [["f", [0, 1]]]},
    "stats": {"boxes": {}, "outputs": {}, "worth": {}},
    "heads": {"calls": 3},
    "letters": ["a"],
    "decisions": [],
    "term": 1,
    "owner": "a",
    "manifest": "epochs/00000001-0001.manifest",
    "previous": "",
    "plan": None,
    "done": None,
}
FILES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "net.layout.json": ('{"a": [1, 2]}', lambda folder: load_layout(folder / "net.yaml")),
    "net.tests.yaml": (
        "tests: [{name: a, given: {calls: [{time: 1}]}, expect: {twice: [{p: 1}]}}]",
        lambda folder: load_cases(folder / "net.tests.yaml"),
    ),
    "SC.xml": (
        '<project query="query.xml" deploy="deploy.xml" resources="R.xml"/>',
        lambda folder: load_project(folder / "SC.xml"),
    ),
    "deploy.xml": (
        '<deploy><node endpoint="127.0.0.1:15000" query="a"/></deploy>',
        lambda folder: Deployment.load(folder / "deploy.xml"),
    ),
    "boxcars.toml": ('[run]\nsource = ["a=b"]\n', _config),
    "epoch.json": (json.dumps(MANIFEST), _checkpoint),
    "run.json": (json.dumps({"id": "a", "name": "n", "order": {}}), lambda _: None),
}
files = st.sampled_from(sorted(FILES)).flatmap(
    lambda name: st.tuples(
        st.just(name), st.builds(mutated, st.just(FILES[name][0]), st.lists(mutations, max_size=4))
    )
)
texts = st.sampled_from(sorted(SEEDS)).flatmap(
    lambda name: st.tuples(st.just(name), documents(name))
)


def watched(attack: Callable[[Any], None]) -> Callable[[Any], None]:
    def attacked(what: Any) -> None:
        with nothing_happens():
            attack(what)

    return attacked


TARGETS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None] | None, int]] = {
    "languages": (texts, watched(languages), 150),
    "plain forms": (networks(), watched(plain_forms), 200),
    "expressions": (sql, watched(expressions), 200),
    "addresses": (st.text(max_size=40) | sql, watched(addresses), 100),
    "files": (files, None, 150),
}
"""The generator of documents, the action, and the number of examples."""


def fuzz(target: str, folder: Path, examples: int, number: int) -> None:
    strategy, known, _ = TARGETS[target]
    attack = known or beside(folder)

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def once(what: Any) -> None:
        attack(what)

    once()


@pytest.mark.parametrize("target", TARGETS)
def test_a_few(target: str, tmp_path: Path) -> None:
    fuzz(target, tmp_path, TARGETS[target][2], 1)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_for_a_while(target: str, tmp_path: Path) -> None:
    """With new seeds each time; pytest prints the seed of a failure."""
    until, number = time.monotonic() + SECONDS / len(TARGETS), time.time_ns() % 10**9
    while time.monotonic() < until:
        fuzz(target, tmp_path, 100, number)
        number += 1


@pytest.mark.parametrize("language", SEEDS)
def test_the_seed_documents_are_valid(language: str) -> None:
    for text in SEEDS[language]:
        assert bx.check_text(text, language).ok


def test_the_watch_detects_violations() -> None:
    """The watch must fail on each forbidden action."""
    with pytest.raises(AssertionError, match=r"os\.system"), nothing_happens():
        os.system("true")
    with nothing_happens():
        Path(__file__).read_text(encoding="utf-8")
