"""Run windows (Aurora's Tumble): a window ends when the key changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.keys import encode_keys
from boxcars.kernels.columns.slices import TAIL, Flags, Slices
from boxcars.kernels.contract import Frontier, State, append_rows
from boxcars.kernels.windows.window_results import Closed, Grouping

_TUPLES = "tuples"


@dataclass(frozen=True)
class RunWindows:
    """Runs of equal keys; with ``flush`` the last one closes at the end of the input."""

    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state."""
        return {_TUPLES: tuples}

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Closed:
        """Close every run but the last, which may continue; its tuples are retained."""
        tuples = append_rows(state[_TUPLES], new)
        keys = encode_keys(tuples, group.by)
        changes = np.flatnonzero(np.diff(keys.codes)) + 1
        lo = np.concatenate([[0], changes]).astype(np.int64)[: max(tuples.height, 0)]
        hi = np.concatenate([changes, [tuples.height]]).astype(np.int64)
        runs = len(lo) if frontier.final and self.flush else max(len(lo) - 1, 0)
        end = pl.Series([frontier.value], dtype=tuples.schema[group.ts])
        ends = pl.concat([tuples[group.ts], end]).gather(hi[:runs])
        kept = lo[runs] if runs < len(lo) else tuples.height
        key = keys.codes[lo[:runs]].astype(np.uint32)
        slices = Slices(
            key, lo[:runs].astype(np.uint32), hi[:runs].astype(np.uint32), _all_tails(runs)
        )
        return Closed(
            tuples=tuples,
            windows=Windows(slices, np.repeat(np.arange(len(lo)), hi[: len(lo)] - lo)),
            keys=keys.table,
            key=key,
            ts=ends,
            frontier=frontier,
            state={_TUPLES: tuples[int(kept) :]},
        )


def _all_tails(number: int) -> Flags:
    return np.full(number, TAIL, np.uint8)
