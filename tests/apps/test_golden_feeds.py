"""The feed monitor on the vectors of the Aurora papers."""

from collections.abc import Sequence
from typing import Any

import pytest

import boxcars as bx
from boxcars.apps.feed_monitor import build
from boxcars.apps.ticks import ALARMS, EVERY, EXCHANGES, FEEDS, TICKERS
from tests.test_golden import VECTORS

OUTPUTS = {
    "reuters-high",
    "reuters-low",
    "comstock-high",
    "comstock-low",
    "nyse-high",
    "nasdaq-high",
}


def levels(low: Sequence[tuple[str, str]], **settings: Any) -> list[dict[str, str]]:
    """The results of the monitor for low alarms of (feed, exchange): one security each."""
    data: dict[str, list[dict[str, Any]]] = {f"{f}-{s}": [] for f in FEEDS for s in EVERY}
    for number, (feed, exchange) in enumerate(low):
        row = {"time": number, "ticker": f"T{number:04d}", "exchange": exchange, "price": 1.0}
        data[f"{feed.lower()}-fast"].append(row)
    for rows in data.values():
        rows.append({"time": 50_000, "ticker": "end", "exchange": "NYSE", "price": 1.0})
    result = bx.preview(build(**settings), data)
    found: list[dict[str, str]] = [{} for _ in low]
    for output, table in result.items():
        who, level = output.split("-")
        for row in table.to_pylist():
            found[int(row["ticker"][1:])][who] = {"high": "hi", "low": "lo"}[level]
    return found


def test_the_six_outputs() -> None:
    expected = VECTORS["aur-06-feed-parameters"]["expected"]
    assert {speed: every / 1000 for speed, every in EVERY.items()} == {
        speed: expected[speed]["interval_s"] for speed in ("fast", "slow")
    }
    assert {speed: expected[speed]["count"] for speed in ("fast", "slow")} == TICKERS
    assert expected["threshold"] == ALARMS
    assert [name.lower() for name in expected["feeds"]] == list(FEEDS)
    assert expected["exchanges"] == list(EXCHANGES)
    assert set(build().outputs) == OUTPUTS
    assert expected["outputs"] == len(OUTPUTS)


def test_count_100() -> None:
    v = VECTORS["aur-03-count100"]
    found = levels([("reuters", "NYSE")] * v["input"]["alarms"])
    lo = [n for n, who in enumerate(found, 1) if who.get("reuters") == "lo"]
    expected = v["expected"]
    assert (len(lo), lo[0], lo[-1]) == (expected["lo"], expected["first_lo"], expected["last_lo"])
    highs = [n for n, who in enumerate(found, 1) if who.get("reuters") == "hi"]
    assert highs == expected["hi_positions"]
    assert sum("reuters" not in who for who in found) == expected["drop"]


@pytest.mark.parametrize(
    ("reset", "key"), [(False, "pseudo_code"), (True, "variant_reset_after_high")]
)
def test_suppression(reset: bool, key: str) -> None:
    v = VECTORS["aur-04-count3-small"]
    found = levels([("comstock", "NYSE")] * v["input"]["alarms"], alarms=3, reset=reset)
    assert [who.get("comstock", "drop") for who in found] == v["expected"][key]


def test_feeds_and_exchanges_count_apart() -> None:
    """Exchanges only have high alarms as output: the low ones are those of the feeds."""
    v = VECTORS["aur-05-alarm-network"]
    found = levels(v["input"]["alarms"], alarms=v["parameters"]["N"])
    for got, expected in zip(found, v["expected"]["per_alarm"], strict=True):
        for who, level in expected.items():
            seen = got.get(who.lower(), "drop")
            shown = level if who.lower() in FEEDS or level == "hi" else "drop"
            assert seen == shown, (got, expected)
