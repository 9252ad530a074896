"""Generated card payments: card, time, price and seller, over three months.

Each card has a number of payments per week: a few cards are used many times a day, most rarely.
A few sellers have most of the customers. Payments are in the daytime, most in the afternoon.
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
"""Duration of the payments; more payments mean more cards."""
SELLERS = 2_000
HIGHEST_PRICE = 100.0
"""Euros; maximum of an everyday payment."""


@dataclass(frozen=True)
class Bank:
    """Cards with their payments per week, and sellers with their shares of customers.

    Cards after the first ``len(habit)`` are used only for planted cases.
    """

    rng: np.random.Generator
    cards: pl.Series
    habit: np.ndarray
    sellers: pl.Series
    share: np.ndarray

    @classmethod
    def open(cls, rows: int, seed: int, quiet: int = 0, sellers: int = SELLERS) -> Bank:
        """Create cards for ``rows`` payments, and ``quiet`` cards for planted cases."""
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
        """The duration of ``rows`` everyday payments."""
        return rows / float(self.habit.sum()) * WEEK

    def payments(self, rows: int) -> Iterator[pl.DataFrame]:
        """Yield everyday payments; each card is used ``habit`` times per week."""
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
        """Random prices and sellers."""
        prices = self.rng.lognormal(2.8, 0.8, size).clip(0.5, HIGHEST_PRICE).round(2)
        sellers = np.searchsorted(self.share, self.rng.random(size)).clip(max=len(self.share) - 1)
        return prices, sellers

    def pay(
        self, cards: np.ndarray, times: np.ndarray, prices: np.ndarray, sellers: np.ndarray
    ) -> pl.DataFrame:
        """Payments of cards to sellers, both given by index."""
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
