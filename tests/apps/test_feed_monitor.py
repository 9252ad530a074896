"""The feed monitor on live feeds: alarms of single feeds, and when everything is silent."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.apps.feed_monitor import build
from boxcars.apps.ticks import EVERY, FEEDS
from tests.engine.clocks import FakeClock
from tests.engine.layout.test_pieces import written
from tests.patience import until

TICKERS = ("IBM", "MSFT")


def test_all_feeds_are_silent(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both providers stop at once: each security of each is a low alarm, and every second high."""
    clock = FakeClock()
    clock.drive(monkeypatch)
    net = build(alarms=2, live=True)
    sinks = {name: tmp_path / name for name in net.outputs}
    run = bx.run(net, dict.fromkeys(net.inputs, "enqueue://"), sinks, spark=spark)

    def update(*inputs: str) -> None:
        rows = [{"ticker": name, "exchange": "NYSE", "price": 1.0} for name in TICKERS]
        expected = {name: run.status().read.get(name, 0) + 2 for name in inputs}
        for name in inputs:
            run.enqueue(name, rows)
        until(lambda: {name: run.status().read.get(name) for name in inputs} == expected)

    def alarms(name: str) -> list[tuple[float, str]]:
        since = [(row["time"].timestamp(), row["ticker"]) for row in written(tmp_path / name)]
        return [(at - since[0][0], ticker) for at, ticker in since]

    fast = [f"{name}-fast" for name in FEEDS]
    update(*net.inputs)
    for _ in range(3):
        clock.now += EVERY["fast"] / 1000 - 1
        update(*fast)
    assert not any(map(written, sinks.values()))
    clock.now += EVERY["fast"] / 1000 + 1
    until(lambda: all(written(tmp_path / f"{name}-high") for name in FEEDS))
    for name in FEEDS:
        assert alarms(f"{name}-low") == [(0, "IBM")]
        assert alarms(f"{name}-high") == [(0, "MSFT")]
    until(lambda: len(written(tmp_path / "nyse-high")) == 2)
    assert not written(tmp_path / "nasdaq-high")
    clock.now += EVERY["slow"] / 1000
    until(lambda: len(written(tmp_path / "nyse-high")) == 4)
    run.stop()
    assert not run.status().lost
