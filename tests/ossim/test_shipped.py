"""The directives that come with Boxcars, on the events that come with them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.apps.siem_events import EVENTS, PLANTED, RATE, SCENARIOS, events
from boxcars.engine.exec import spark_job
from boxcars.lang.ossim import read_directives, read_ossim
from boxcars.model.network import Network
from tests.engine.layout.test_pieces import same, written
from tests.ossim.oracle import interpret
from tests.ossim.shipped import FILES, texts
from tests.ossim.test_interpreter import alarms

LEAVES = {
    (directive.id, rule.label)
    for text in texts()
    for directive in read_directives(text, "shipped.xml")
    for rule in directive.rule.all()
    if not rule.children
}


@pytest.fixture(scope="module")
def net() -> Network:
    return read_ossim(*FILES)


@pytest.fixture(scope="module")
def data() -> tuple[pl.DataFrame, pl.DataFrame]:
    frames, planted = events(250_000, seed=5)
    return pl.concat(frames), planted


def last_alarms(net: Network, frame: pl.DataFrame, trains: int) -> pl.DataFrame:
    table = pl.from_arrow(bx.preview(net, {"events": frame}, trains=trains)["alarms"])
    assert isinstance(table, pl.DataFrame)
    rules = zip(table["directive"], table["rule"], strict=True)
    return table.filter(pl.Series([rule in LEAVES for rule in rules])).select(PLANTED)


def test_there_are_directives_of_many_shapes(net: Network) -> None:
    assert len(FILES) == 7
    kinds = {node.box.type for node in net.boxes.values()}
    assert kinds == {"filter", "map", "aggregate", "join", "product", "union"}


@pytest.mark.parametrize("trains", [1, 6])
def test_attacks_are_found_and_near_misses_are_not(
    net: Network, data: tuple[pl.DataFrame, pl.DataFrame], trains: int
) -> None:
    frame, planted = data
    assert set(planted.select("directive", "rule").iter_rows()) == LEAVES
    assert last_alarms(net, frame, trains).unique().sort(PLANTED).equals(planted)


def test_generated_events_against_the_interpreter(net: Network) -> None:
    """All alarms of all rules, over the attacks and a little of the noise."""
    frame = pl.concat(events(250_000, seed=6)[0])
    ours = pl.any_horizontal(
        pl.col(end).str.contains(r"^(203\.|10\.(0|64|255)\.)") for end in ("src_ip", "dst_ip")
    )
    rows = frame.filter(ours | (pl.int_range(pl.len()) % 100 == 0)).to_dicts()
    expected = interpret(texts(), rows)
    assert alarms(net, rows, 2) == expected
    assert {(a["directive"], a["rule"]) for a in expected} > LEAVES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_a_network(path: Path, tmp_path: Path) -> None:
    checked = bx.check_file(path)
    assert checked.ok
    for suffix in (".yaml", ".xml", ".json"):
        bx.save(checked.network, tmp_path / f"{path.stem}{suffix}")
        assert bx.load(tmp_path / f"{path.stem}{suffix}") == checked.network


class TestEvents:
    def test_any_number_in_order(self) -> None:
        for rows in (1, 99, 101, 50_000, 50_001, 120_050):
            frames, _ = events(rows, seed=2)
            found = list(frames)
            assert all(0 < frame.height <= 50_000 for frame in found)
            whole = pl.concat(found)
            assert whole.height == rows
            assert whole.schema == EVENTS
            assert whole["time"].is_sorted()
            assert whole["time"][-1] == (rows - 1) // RATE
            assert not any(whole.null_count().row(0))

    def test_the_same_seed_gives_the_same(self) -> None:
        one, again, other = (pl.concat(events(60_000, seed)[0]) for seed in (1, 1, 2))
        assert one.equals(again)
        assert not one.equals(other)

    def test_attacks_take_rows_of_their_own(self) -> None:
        """All steps of all scenarios are there, as often as they are played."""
        frame = pl.concat(events(400_000, seed=3)[0])
        smb = frame.filter(plugin_id=1001, plugin_sid=2009034)
        steps = sum(step.sid == 2009034 for scenario in SCENARIOS for step in scenario.steps)
        assert 3 * steps <= smb.height <= 4 * steps


def test_on_spark(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """On two instances, epoch by epoch: the same alarms in the same order."""
    monkeypatch.setattr(spark_job, "worth_a_shuffle", lambda *_: True)
    some = [path for path in FILES if path.stem in ("blinded", "break_in", "smb")]
    net = read_ossim(*some)
    frame = pl.concat(events(60_000, seed=4)[0])
    kinds = frame.filter(pl.col("plugin_id").is_in([1001, 1104, 4003, 6001]))
    sinks: dict[str, Any] = {"alarms": tmp_path / "alarms"}
    running = bx.run(net, {"events": kinds}, sinks, epoch_rows=12_000, instances=2, spark=spark)
    assert running.wait().state == "finished"
    expected = bx.preview(net, {"events": kinds})["alarms"].to_pylist()
    assert {a["level"] for a in expected} >= {1, 2}
    assert same(written(sinks["alarms"]), expected)
