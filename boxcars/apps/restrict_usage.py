"""Restrict usage: cards whose expenses in 30 days exceed their limit.

The second query of chapter 7.3 of the thesis. It compares the expenses, from the stream, with the
limit, from a stored table.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from boxcars.apps.app import App, Feed
from boxcars.apps.cards import DAY, FIELDS, HIGHEST_PRICE, Bank
from boxcars.apps.generate import weave
from boxcars.model.network import Network
from boxcars.model.window import time

DAYS = 30
SHARE = 20_000
"""Payments per card that exceeds its limit."""
PARTS = 10
"""Number of payments in which such a card spends its limit."""


def build() -> Network:
    """Compare the expenses of each card in 30 days, every day, with its limit."""
    net = Network("restrict-usage")
    payments = net.input("payments", ts="time", fields=FIELDS)
    net.table("limits", fields={"card": "str", "limit": "float"}, key="card")
    paid = payments.map(time="time", card="card", price="price").named("paid")
    window = time(DAYS * DAY, advance=DAY)
    spent = paid.aggregate(window, by="card", expenses="sum(price)").named("spent")
    limits = spent.select("SELECT * FROM limits WHERE card = input.card").named("limit")
    both = spent.join(limits, on="left.card = right.card", window=time(10)).named("both")
    net.output("exceeded", both.filter("left_expenses > right_limit").named("above"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """Everyday payments below the limits, cards that exceed their limit, and near misses."""
    cases = min(max(rows // SHARE, 1), rows // 100)
    bank = Bank.open(rows, seed, quiet=3 * cases)
    start = (bank.rng.uniform(0.05, 0.4, cases) * bank.seconds(rows)).astype(np.int64)
    over, full, slow = (np.arange(3 * cases) + len(bank.habit)).reshape(3, cases)
    limits = _limits(bank, 3 * cases)
    planted = pl.concat(
        [
            *(_spend(bank, over, start + day * DAY, limits[over] / PARTS) for day in range(PARTS)),
            _spend(bank, over, start + PARTS * DAY, np.ones(cases)),
            *(_spend(bank, full, start + day * DAY, limits[full] / PARTS) for day in range(PARTS)),
            _spend(bank, slow, start, limits[slow]),
            _spend(bank, slow, start + DAYS * DAY, limits[slow]),
        ]
    )
    everyday = bank.payments(rows - planted.height)
    return Feed(
        ({"payments": chunk} for chunk in weave(everyday, planted, "time")),
        {"exceeded": pl.DataFrame({"left_card": bank.cards.gather(over)})},
        {"limits": pl.DataFrame({"card": bank.cards, "limit": limits})},
    )


def _limits(bank: Bank, more: int) -> np.ndarray:
    """Limits that everyday payments cannot reach (30 days lie in at most six weeks), and others."""
    return np.concatenate([6 * HIGHEST_PRICE * bank.habit, 1_000.0 * bank.rng.integers(1, 6, more)])


def _spend(bank: Bank, cards: np.ndarray, times: np.ndarray, prices: np.ndarray) -> pl.DataFrame:
    return bank.pay(cards, times, prices, bank.rng.integers(0, len(bank.sellers), len(cards)))


APP = App(
    name="restrict-usage",
    family="card fraud",
    sentence="Finds cards whose expenses in 30 days exceed their limit.",
    unit="payments",
    build=build,
    feed=feed,
)
