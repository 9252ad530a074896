"""No network file runs code without permission, in any language, command or request."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import boxcars as bx
from boxcars.cli import app
from boxcars.connectors.read.sources import source_of
from boxcars.engine.state.checkpoint import fingerprint
from boxcars.expr import Expr, expression, stored
from boxcars.model.problem import BoxcarsError, NetworkError, Wrong
from boxcars.model.schema import Schema
from boxcars.studio.runs.launch import Order
from boxcars.studio.runs.records import Record
from tests.attacks.payloads import (
    SPRUNG,
    STORED,
    plain_network,
    text_of,
    with_superbox,
    written,
)
from tests.engine.checkpoints import edit
from tests.studio.server import Served

RENAMES = text_of("a pickle that renames")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stored, "_vouched", set())
    stored._read.cache_clear()
    expression._compiled.cache_clear()
    Path("calls.csv").write_text("time,price\n1,2.5\n")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stored expressions that were deserialized, whether or not that failed."""
    found: list[str] = []

    def deserialize(source: Any, **_: str) -> pl.Expr:
        found.append(source.read())
        raise ValueError("read")

    monkeypatch.setattr(pl.Expr, "deserialize", deserialize)
    return found


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_the_payloads_are_real() -> None:
    """With permission they do run; otherwise the tests below would prove nothing."""
    with pytest.raises(Exception):  # noqa: B017, PT011  whatever it returns is no function
        bx.loads(json.dumps(plain_network(RENAMES)), "json", code=True).check().or_raise()
    assert SPRUNG.exists()


LANGUAGES = ["yaml", "json", "xml"]
REFUSING = [
    ("check",),
    ("plan",),
    ("draw", "--flat"),
    ("preview", "--source", "calls=calls.csv"),
    ("test",),
    ("run", "--source", "calls=calls.csv"),
]
READING = [("convert", "other.py"), ("convert", "other.xml"), ("describe",), ("describe", "twice")]


@pytest.mark.parametrize("what", STORED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stored_expression_is_a_problem_at_its_box_and_field(
    what: str, language: str, read: list[str]
) -> None:
    text = written(plain_network(text_of(what)), language)
    checked = bx.check_text(text, language)
    (problem,) = checked.problems
    assert problem.path == ("boxes", "twice", "fields", "p")
    assert "stored Polars expression, which can run code: write it in SQL, or" in str(problem)
    assert "--allow-code" in str(problem)
    with pytest.raises(NetworkError, match="which can run code"):
        bx.loads(text, language)
    assert read == []
    assert not SPRUNG.exists()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("command", [*REFUSING, *READING, ("diff", "other.json")])
def test_commands(command: tuple[str, ...], language: str, read: list[str]) -> None:
    Path(f"net.{language}").write_text(written(plain_network(RENAMES), language))
    Path("other.json").write_text(written(plain_network(text_of("a plugin")), "json"))
    result = call(command[0], f"net.{language}", *command[1:])
    said = result.output + str(result.exception)
    assert ("which can run code" in said) == (command in REFUSING)
    if command in READING:
        assert result.exit_code == 0, said
    assert read == []
    assert not SPRUNG.exists()


@pytest.mark.parametrize("halves", [("", RENAMES), (RENAMES[:3], RENAMES[3:])])
def test_put_together_by_a_superbox(halves: tuple[str, str], read: list[str]) -> None:
    text = json.dumps(with_superbox(*halves))
    (problem,) = bx.check_text(text, "json").problems
    assert problem.path == ("superboxes", "hidden", "boxes", "twice", "fields", "p")
    assert read == []
    assert bx.check_text(text, "json", code=True).problems
    assert len(read) == 1


@pytest.mark.parametrize(
    "text", [RENAMES, f"  {RENAMES}", f"({RENAMES}) AND true", f"abs({RENAMES})"]
)
def test_texts_in_python(text: str, read: list[str]) -> None:
    schema = Schema.of({"t": "int", "price": "float"}, ts="t")
    with pytest.raises(Wrong):
        Expr.of(text).type_in(schema)
    with pytest.raises(Wrong):
        str(Expr.of(text).fields)
    assert Expr.of(text).is_field() is None
    assert read == []


def test_addresses_of_rates(read: list[str]) -> None:
    """The fields of a rate are also expressions."""
    net = bx.loads(json.dumps(plain_network("price")), "json")
    source = source_of(f"rate://?rows=1&time=value&price={text_of('nothing bad')}")
    with pytest.raises(BoxcarsError, match="stored Polars expression can run code"):
        bx.preview(net, {"calls": source})
    assert read == []


class TestStudio:
    """An unknown page may request a file that an attacker has written."""

    @pytest.fixture
    def served(self, tmp_path: Path) -> Iterator[Served]:
        found = Served(tmp_path)
        yield found
        found.close()

    def test_files(self, served: Served, read: list[str]) -> None:
        for language in LANGUAGES:
            name = f"net.{language}"
            Path(name).write_text(written(plain_network(RENAMES), language))
            code, found = served.call("GET", f"/api/networks/{name}", authorization="")
            assert code == 200
            (problem,) = found["problems"]
            assert (problem["box"], problem["path"][-1]) == ("twice", "p")
            assert "start the studio with --allow-code" in problem["message"]
            for rest in ("entities", "entities/twice", "tests"):
                served.call("GET", f"/api/networks/{name}/{rest}", authorization="")
        assert read == []
        assert not SPRUNG.exists()

    def test_requests(self, served: Served, read: list[str]) -> None:
        net, good = plain_network(RENAMES), plain_network("price")
        rows = {"calls": [{"time": 1, "price": 2.5}]}
        asked: dict[str, dict[str, Any]] = {
            "/api/check": {"network": net},
            "/api/complete": {"network": net, "box": "twice", "key": "p", "text": "p", "cursor": 1},
            "/api/write": {"network": net, "format": "svg"},
            "/api/write ": {"network": net, "format": "py"},
            "/api/read": {"text": json.dumps(net), "format": "json", "name": "net"},
            "/api/diff": {"old": net, "new": good},
            "/api/group": {"network": net, "boxes": ["twice"], "name": "g"},
            "/api/sample": {"network": net, "input": "calls", "rows": 1},
            "/api/plan": {"network": net},
            "/api/previews": {"network": net, "inputs": rows},
            "/api/tests/run": {"network": net, "tests": []},
            "/api/runs": {"network": net},
        }
        for path, body in asked.items():
            code, found = served.call("POST", path.strip(), body)
            assert code in (200, 400, 422), (path, found)
        assert read == []
        assert not SPRUNG.exists()

    def test_breakpoints(self, served: Served, read: list[str]) -> None:
        rows = {"calls": [{"time": 1, "price": 2.5}]}
        asked = {"network": plain_network("price"), "inputs": rows}
        code, found = served.call("POST", "/api/previews", asked)
        if code == 200:
            stop = {"arc": "calls", "where": RENAMES}
            served.call("POST", f"/api/previews/{found['id']}/step", {"until": stop})
        assert read == []


def test_expressions_built_in_python_still_work(spark: SparkSession, tmp_path: Path) -> None:
    """Expressions of this process run here and on workers; stored ones need permission."""
    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields={"time": "int", "price": "float"})
    net.output("twice", calls.map(time="time", p=pl.col("price") * 2).named("twice"))
    assert bx.preview(net, {"calls": "calls.csv"})["twice"]["p"].to_pylist() == [5.0]
    source = bx.rate(None, rows=3, time="value", price=pl.col("value") * 0.5)
    done = bx.run(net, {"calls": source}, {"twice": "out"}, checkpoint=tmp_path / "c", spark=spark)
    done.wait()
    assert pl.read_parquet("out/*.parquet")["p"].to_list() == [0.0, 1.0, 2.0]
    for language in LANGUAGES:
        text = bx.dumps(net, language)
        with pytest.raises(NetworkError, match="which can run code"):
            bx.loads(text, language)
        again = bx.loads(text, language, code=True)
        assert bx.preview(again, {"calls": "calls.csv"})["twice"]["p"].to_pylist() == [5.0]
    bx.save(net, "net.py")
    assert call("check", "net.py").exit_code == 0


class TestCheckpoints:
    """A checkpoint that is shipped with a network must not bring code either."""

    def stored(self, spark: SparkSession, box: dict[str, Any]) -> None:
        """A checkpoint whose stored network was changed, with matching checksums."""
        net = bx.loads(json.dumps(plain_network("price")), "json")
        Path("net.json").write_text(json.dumps(plain_network("price * 2")))
        source = bx.script([{"time": 1, "price": 2.0}, bx.EOF])
        bx.run(net, {"calls": source}, {"twice": "out"}, checkpoint="c", spark=spark).wait()
        (path,) = Path("c").glob("network-*.json")
        plain = json.loads(path.read_text())
        plain["boxes"]["twice"] |= box
        text = json.dumps(plain)
        mark = fingerprint(text)
        path.rename(path.with_name(f"network-{mark}.json")).write_text(text)
        edit(Path("c"), "manifest", lambda manifest: {**manifest, "network": mark})

    @pytest.mark.parametrize(
        "box",
        [
            {"fields": {"time": "time", "p": RENAMES}},
            {"type": "apply", "function": "this:s", "fields": {"time": "int"}},
        ],
        ids=["stored", "named"],
    )
    def test_its_network(self, spark: SparkSession, box: dict[str, Any], read: list[str]) -> None:
        self.stored(spark, box)
        net = bx.load("net.json")
        with pytest.raises(Wrong, match="the network of this checkpoint runs code in box 'twice'"):
            bx.run(
                net,
                {"calls": "calls.csv"},
                {},
                checkpoint="c",
                modify=True,
                code=False,
                spark=spark,
            )
        assert read == []

    def test_its_plan(self, spark: SparkSession, read: list[str]) -> None:
        """The expressions of a rate are in the plan of an uncommitted epoch."""
        self.stored(spark, {})
        Path("net.json").write_text(json.dumps(plain_network("price")))
        split = {"kind": "rate", "start": 0, "stop": 1, "position": 0}
        fields = [["time", "value"], ["price", RENAMES]]

        def begin(head: dict[str, Any]) -> dict[str, Any]:
            splits = {"calls": [{**split, "fields": fields}]}
            return {**head, "plan": {**head["done"], "epoch": head["epoch"] + 1, "splits": splits}}

        edit(Path("c"), "head", begin)
        with pytest.raises(BoxcarsError, match="stored Polars expression can run code"):
            bx.run(
                bx.load("net.json"),
                {"calls": bx.rate(None, rows=1, time="value", price="0.5")},
                {},
                checkpoint="c",
                spark=spark,
            ).wait()
        assert read == []


class TestPreviousRuns:
    """The records of runs are in the folder of the studio, and may be shipped with it."""

    def test_a_record_does_not_allow_itself_code(
        self, spark: SparkSession, tmp_path: Path, read: list[str]
    ) -> None:
        net = bx.loads(json.dumps(plain_network("price")), "json")
        home = tmp_path / ".boxcars" / "runs" / "abc"
        source = bx.script([{"time": 1, "price": 2.0}, bx.EOF])
        bx.run(net, {"calls": source}, {}, checkpoint=home / "checkpoint", spark=spark).wait()
        (path,) = (home / "checkpoint").glob("network-*.json")
        path.write_text(json.dumps(plain_network(RENAMES)))
        order = Order(
            name="trap",
            network=plain_network(RENAMES),
            sources={"calls": "calls.csv"},
            sinks={"twice": "live"},
            tables={},
            instances=None,
            buckets=1,
            epoch_rows=1,
            master=None,
            follow=False,
            code=True,
        )
        record = Record(
            id="abc", name="trap", order=order, state="running", sentence="", started=0.0
        )
        record.save(home)
        served = Served(tmp_path)
        try:
            for rest in ("", "/abc", "/abc/stats", "/abc/outputs/twice", "/abc/watch"):
                assert served.call("GET", f"/api/runs{rest}", authorization="")[0] == 200
            assert not served.studio.runs.find("abc").record.order.code
        finally:
            served.close()
        assert read == []
