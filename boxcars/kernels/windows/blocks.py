"""Windows that slide over the rows of each key, divided into blocks of one window length."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.columns.folds import Mask, Numbers
from boxcars.kernels.columns.frames import take_rows, take_values, with_columns
from boxcars.kernels.columns.slices import Ints
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.windows.window_results import TUPLES, Closed, Grouping


@dataclass(frozen=True, kw_only=True)
class SlideResult(Closed):
    """Closed windows, and the indices of the rows still needed, in order.

    The rows of each key start at ``starts``.
    """

    starts: Ints
    needed: Ints


class Blocks(ABC):
    """A kind of window over rows in blocks; a row may cover more than itself."""

    @property
    @abstractmethod
    def block(self) -> int:
        """Length of a block, which is that of a window."""

    @property
    @abstractmethod
    def overlap(self) -> bool:
        """Whether windows start inside blocks, so that tails are needed."""

    @property
    @abstractmethod
    def axis_column(self) -> str:
        """The column with the axis positions of rows."""

    @abstractmethod
    def with_axis(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add the axis column to new rows."""

    @abstractmethod
    def reached(self, position: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The axis positions keys advance to, given the key number of each new row."""

    @abstractmethod
    def last_start(self, reached: Ints) -> Ints:
        """Start of the last windows that close when keys advance to these positions."""

    @property
    def by_key(self) -> bool:
        """Whether results of equal time are ordered by key, even before the end of the input."""
        return False

    def ended(self, last: Numbers, key: Ints, new: pl.Series, frontier: Frontier) -> Mask:
        """Mask of the keys whose session a timeout ends: none by default."""
        return np.zeros(len(last), np.bool_)

    @abstractmethod
    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> SlideResult:
        """Close windows over the old rows followed by the new ones."""

    def start(self, _group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state."""
        return {TUPLES: self.with_axis(tuples)}

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> SlideResult:
        """Process tuples, and retain the rows that are still needed."""
        result = self.slide(group, state[TUPLES], self.with_axis(new), frontier)
        owner = np.repeat(np.arange(len(result.starts) - 1), np.diff(result.starts))[result.needed]
        keys = [take_values(result.keys[name], owner) for name in group.encoded_columns]
        return replace(
            result, state={TUPLES: with_columns(take_rows(result.tuples, result.needed), keys)}
        )
