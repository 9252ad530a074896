"""Equal runs of windows: expanded, they are the single windows."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL
from boxcars.kernels.windows import equal_runs
from boxcars.kernels.windows.equal_runs import Panes, closed_windows

Row = tuple[int, int, int, int]
"""A window, its key, and the slice of its tuples."""

PANES = st.lists(st.lists(st.integers(-30, 30), max_size=6).map(sorted), max_size=5)
FAR = [[0, 3, 10**12], [5, 10**12 + 2], [2 * 10**12]]


def one_by_one(keys: list[list[int]], size: int, advance: int, first: int, end: int) -> list[Row]:
    """Every window in turn, and every key in it."""
    found, begin = [], 0
    for key, panes in enumerate(keys):
        windows = {k for p in panes for k in range((p - size) // advance, p // advance + 1)}
        for k in sorted(windows):
            inside = [i for i, p in enumerate(panes) if 0 <= p - k * advance < size]
            if inside and first <= k < end:
                found.append((k, key, begin + inside[0], begin + inside[-1] + 1))
        begin += len(panes)
    return sorted(found)


def spread_out(keys: list[list[int]], size: int, advance: int, first: int, end: int) -> list[Row]:
    pane = np.array([p for panes in keys for p in panes], np.int64)
    starts = np.cumsum([0, *map(len, keys)])
    slices, found = closed_windows(Panes.of(pane, size, advance), starts, first, end)
    columns = [found.spread(column).tolist() for column in (slices.key, slices.lo, slices.hi)]
    windows = found.repeat(pl.Series(found.windows)).to_list()
    return list(zip(windows, *columns, strict=True))


@settings(deadline=None)
@given(PANES, st.integers(1, 7), st.integers(1, 9), st.integers(-40, 0), st.integers(0, 40))
def test_windows(keys: list[list[int]], size: int, advance: int, first: int, end: int) -> None:
    windows = one_by_one(keys, size, advance, first, end)
    assert spread_out(keys, size, advance, first, end) == windows


def test_time_may_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_runs, "_MAX_COUNTERS", 10)
    found = spread_out(FAR, 4, 2, 0, 10**12)
    assert found == one_by_one(FAR, 4, 2, 0, 10**12)
    assert max(window for window, *_ in found) == 10**12 - 1


def test_a_single_tuple_is_one_run_and_several_end_at_a_block() -> None:
    panes, starts = Panes.of(np.array([7, 7, 8]), 6, 1), np.array([0, 1, 3])
    slices, found = closed_windows(panes, starts, 0, 20)
    assert slices.key.tolist() == [0, 1, 1, 1, 1]
    assert slices.parts.tolist() == [DIRECT, DIRECT, HEAD, TAIL, DIRECT]
    assert (found.until - found.since).tolist() == [6, 1, 3, 2, 1]


def test_columns_of_all_types() -> None:
    panes, starts = Panes.of(np.array([0, 5]), 2, 1), np.array([0, 1, 2])
    _, found = closed_windows(panes, starts, -1, 10)
    values: list[list[Any]] = [
        [1, 2],
        [0.5, None],
        ["a", "b"],
        [0.5, 1.5],
        [True, None],
        [-1, 2**62],
    ]
    columns = [pl.Series(pair) for pair in values]
    for number in range(len(values)):
        key, spread = found.spread_all(np.array([7, 8], np.uint32), columns[number:])
        assert key.tolist() == [7, 7, 8, 8]
        assert [column.to_list() for column in spread] == [[a, a, b, b] for a, b in values[number:]]
