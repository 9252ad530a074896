"""Improper-fake transactions: sellers that charge copied cards.

The first query of chapter 7.3 of the thesis: within about an hour, a seller charges two cards at
least twice each. One customer may return; two at once are suspicious.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from boxcars.apps.app import App, Feed
from boxcars.apps.cards import FIELDS, SELLERS, Bank
from boxcars.apps.generate import weave
from boxcars.apps.turns import ENDLESS, Turns, first
from boxcars.model.network import Network
from boxcars.model.window import time

TWICE = 2
"""Minimum number of suspicious payments of a card to a seller."""
SIZE, ADVANCE = 3_600, 600
REACH = 2 * SIZE - ADVANCE
"""Seconds; payments that far apart are never in two windows that the join pairs."""
SHARE = 20_000
"""Payments per seller that charges copied cards."""
MINUTE = 60


def build() -> Network:
    """Find cards that a seller charges twice in an hour, and pair two such cards of a seller."""
    net = Network("improper-fake")
    payments = net.input("payments", ts="time", fields=FIELDS)
    charged = payments.map(time="time", card="card", seller="seller").named("charged")
    window = time(SIZE, advance=ADVANCE)
    counted = charged.aggregate(window, by=["card", "seller"], payments="count()").named("counted")
    twice = counted.filter(f"payments >= {TWICE}").named("twice")
    on = "left.seller = right.seller and left.card <> right.card"
    net.output("fakes", twice.join(twice, on=on, window=time(SIZE)).named("same-seller"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """Honest payments, sellers with two copied cards, and near misses."""
    cases = min(max(rows // SHARE, 1), rows // 60)
    bank = Bank.open(rows, seed, quiet=8 * cases, sellers=max(SELLERS, 8 * cases))
    start = (bank.rng.uniform(0.1, 0.8, cases) * bank.seconds(rows)).astype(np.int64)
    cards = (np.arange(8 * cases) + len(bank.habit)).reshape(4, 2, cases)
    sellers = bank.rng.choice(len(bank.sellers), 4 * cases, replace=False)
    fake, once, slow, apart = sellers.reshape(4, cases)
    planted = pl.concat(
        [
            _charge(bank, cards[0], fake, start, [[0, 20 * MINUTE], [5 * MINUTE, 40 * MINUTE]]),
            _charge(bank, cards[1], once, start, [[0, 20 * MINUTE], [5 * MINUTE]]),
            _charge(bank, cards[2], slow, start, [[0, SIZE], [MINUTE, MINUTE + SIZE]]),
            _charge(bank, cards[3], apart, start, [[0, MINUTE], [REACH - MINUTE, REACH]]),
        ]
    )
    honest = _honest(bank, rows - planted.height)
    chunks = ({"payments": chunk} for chunk in weave(honest, planted, "time"))
    pairs = [
        pl.DataFrame(
            {
                "left_seller": bank.sellers.gather(fake),
                "left_card": bank.cards.gather(one),
                "right_card": bank.cards.gather(other),
            }
        )
        for one, other in (cards[0], cards[0, ::-1])
    ]
    return Feed(chunks, {"fakes": pl.concat(pairs)})


def _honest(bank: Bank, rows: int) -> Iterator[pl.DataFrame]:
    """Payments of people who do not return to a seller within an hour."""
    turns = Turns()

    def free(payments: pl.DataFrame) -> np.ndarray:
        customers, times = payments.select("card", "seller").hash_rows(), payments["time"]
        return turns.free(customers, times, times + SIZE)

    return first(rows, bank.payments(ENDLESS), free)


def _charge(
    bank: Bank, cards: np.ndarray, sellers: np.ndarray, start: np.ndarray, when: list[list[int]]
) -> pl.DataFrame:
    """Payments to sellers with two cards each, at offsets from the start."""
    return pl.concat(
        bank.pay(each, start + moment, np.full(len(each), 49.9), sellers)
        for each, moments in zip(cards, when, strict=True)
        for moment in moments
    )


APP = App(
    name="improper-fake",
    family="card fraud",
    sentence="Finds sellers that charge two cards at least twice each, in about an hour.",
    unit="payments",
    build=build,
    feed=feed,
)
