"""Windows that slide over the rows of each key, which lie in blocks one window long."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.columns.folds import Numbers, Truths
from boxcars.kernels.columns.frames import gathered, replaced, values_at
from boxcars.kernels.columns.slices import Ints
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.windows.window_results import TUPLES, Closed, Grouping


@dataclass(frozen=True, kw_only=True)
class Slid(Closed):
    """Windows that closed, and the places of the tuples that are still needed, in order.

    The tuples of each key start at ``starts``.
    """

    starts: Ints
    needed: Ints


class Blocks(ABC):
    """A kind of window over rows in blocks, each of which may stand for more than itself."""

    @property
    @abstractmethod
    def block(self) -> int:
        """How long a block is, and a window."""

    @property
    @abstractmethod
    def overlap(self) -> bool:
        """Whether windows start within blocks, so that tails are needed."""

    @property
    @abstractmethod
    def at(self) -> str:
        """The column with the places of rows."""

    @abstractmethod
    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """New rows with that column."""

    @abstractmethod
    def reached(self, place: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """Where keys get to from their places; ``key`` has the number of each new row's."""

    @abstractmethod
    def last_start(self, reached: Ints) -> Ints:
        """Where the last windows start that close when keys get there."""

    @property
    def by_key(self) -> bool:
        """Whether results of one time stand by key, not only those at the end of the input."""
        return False

    def ended(self, last: Numbers, key: Ints, new: pl.Series, frontier: Frontier) -> Truths:
        """Keys that time cuts off, from when their last rows were and new ones are: none."""
        return np.zeros(len(last), np.bool_)

    @abstractmethod
    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> Slid:
        """Close the windows that can be closed, over rows and the new ones behind them."""

    def start(self, _group: Grouping, tuples: pl.DataFrame) -> State:
        """Nothing is kept."""
        return {TUPLES: self.placed(tuples)}

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Slid:
        """Take in tuples, and keep those that are still needed."""
        slid = self.slide(group, state[TUPLES], self.placed(new), frontier)
        owner = np.repeat(np.arange(len(slid.starts) - 1), np.diff(slid.starts))[slid.needed]
        keys = [values_at(slid.keys[name], owner) for name in group.beside]
        return replace(slid, state={TUPLES: replaced(gathered(slid.tuples, slid.needed), keys)})
