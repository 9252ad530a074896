"""Payments with bank cards: who pays how much, when and where, for three months.

Each card has its number of payments a week: a few are used many times a day and most now and then.
A few sellers have most of the customers. People pay by day, and most in the afternoon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.apps.generate import sizes

FIELDS = {"card": "str", "time": "int", "price": "float", "seller": "str"}
"""The schema of the thesis: seconds and euros."""

DAY = 24 * 3_600
WEEK = 7 * DAY
WEEKS = 13
"""How long the payments go on; more payments are those of more cards."""
SELLERS = 2_000
DEAREST = 100.0
"""Euros of an everyday payment at most."""


@dataclass(frozen=True)
class Bank:
    """Cards, how often each is used in a week, and the sellers with their shares of customers.

    The cards behind those with a habit are not used, unless somebody says so.
    """

    rng: np.random.Generator
    cards: pl.Series
    habit: np.ndarray
    sellers: pl.Series
    share: np.ndarray

    @classmethod
    def open(cls, rows: int, seed: int, quiet: int = 0, sellers: int = SELLERS) -> Bank:
        """As many cards as make so many payments in three months, and some without a habit."""
        rng = np.random.default_rng(seed)
        habit = (3 + 6 * rng.pareto(2, rows // (3 * WEEKS) + 1)).clip(max=70).astype(np.int64)
        habit = habit[: np.searchsorted(np.cumsum(habit), rows / WEEKS) + 1]
        share = rng.pareto(1.2, sellers) + 0.1
        return cls(
            rng,
            _numbered("4000-{:04d}-{:04d}", len(habit) + quiet),
            habit,
            _numbered("shop-{:02d}-{:04d}", sellers),
            np.cumsum(share / share.sum()),
        )

    def seconds(self, rows: int) -> float:
        """How long it takes until so many everyday payments have been made."""
        return rows / float(self.habit.sum()) * WEEK

    def payments(self, rows: int) -> Iterator[pl.DataFrame]:
        """Everyday payments; each week every card is used as often as is its habit."""
        rng, begin = self.rng, 0
        cards = np.repeat(np.arange(len(self.habit)), self.habit)
        while rows > 0:
            days = rng.integers(0, 7, len(cards)) + rng.beta(5, 3, len(cards))
            times, paying = np.sort((begin + days * DAY).astype(np.int64)), rng.permutation(cards)
            done = 0
            for size in sizes(min(rows, len(cards))):
                part = slice(done, done + size)
                yield self.pay(paying[part], times[part], *self._bought(size))
                done += size
            rows, begin = rows - done, begin + WEEK

    def _bought(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Prices, and the sellers who get them."""
        prices = self.rng.lognormal(2.8, 0.8, size).clip(0.5, DEAREST).round(2)
        sellers = np.searchsorted(self.share, self.rng.random(size)).clip(max=len(self.share) - 1)
        return prices, sellers

    def pay(
        self, cards: np.ndarray, times: np.ndarray, prices: np.ndarray, sellers: np.ndarray
    ) -> pl.DataFrame:
        """Payments of cards to sellers by their numbers."""
        return pl.DataFrame(
            {
                "card": self.cards.gather(cards),
                "time": times,
                "price": prices,
                "seller": self.sellers.gather(sellers),
            }
        )


def _numbered(pattern: str, size: int) -> pl.Series:
    return pl.Series([pattern.format(*divmod(number, 10_000)) for number in range(size)])
