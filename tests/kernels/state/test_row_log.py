"""The row log, compared with plain lists: the rows of a key are found, whatever was added since."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boxcars.kernels.columns.slices import ROW, TAIL
from boxcars.kernels.state import row_log
from boxcars.kernels.state.row_log import KeyedRows, Log, Pointers

Numbers = dict[int, int]
KEYS = 4
ALL = np.full(KEYS, 10**9)


@dataclass
class Lists:
    """The reference implementation."""

    tails: list[list[int]] = field(default_factory=lambda: [[] for _ in range(KEYS)])
    rows: list[list[int]] = field(default_factory=lambda: [[] for _ in range(KEYS)])


steps = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, KEYS - 1), st.integers(1, 4), max_size=KEYS),
        st.dictionaries(st.integers(0, KEYS - 1), st.integers(1, 4), max_size=KEYS),
        st.booleans(),
    ),
    max_size=30,
)


def _of_key(found: KeyedRows | None, key: int, of: int) -> list[int]:
    if found is None:
        return []
    return found.rows["at"].filter(pl.Series((found.key == key) & (found.covers == of))).to_list()


def _check(kept: Log, where: Pointers, lists: Lists) -> None:
    everything = kept.take("at", where, ALL)
    for key in range(KEYS):
        assert _of_key(everything, key, TAIL) == lists.tails[key]
        assert _of_key(everything, key, ROW) == lists.rows[key]


@settings(deadline=None, max_examples=200)
@given(steps, st.integers(2, 6))
def test_added_rows_are_found(steps: list[tuple[Numbers, Numbers, bool]], many: int) -> None:
    kept, where, lists, at = Log(), Pointers.empty(KEYS), Lists(), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_log, "_MERGE_COUNT", many)
        for tails, rows, anew in steps:
            keys = [key for some in (tails, rows) for key in some for _ in range(some[key])]
            frame = pl.DataFrame({"at": np.arange(at, at + len(keys))})
            for key, number in tails.items():
                lists.tails[key] = list(range(at, at + number))
                at += number
            for key, number in rows.items():
                lists.rows[key] += range(at, at + number)
                at += number
            kept, where = kept.add(frame, np.array(keys, int), sum(tails.values()), where)
            if anew and (found := kept.take("at", where, ALL)) is not None:
                kept, where = Log.compacted(found, KEYS)
                assert len(kept.segments) == 1
            _check(kept, where, lists)
            assert len(kept.segments) <= 1 + 5 * many


def test_tails_up_to_a_limit_and_no_chains() -> None:
    frame = pl.DataFrame({"at": [3, 5, 5, 8, 1, 2]})
    kept, where = Log().add(frame, np.array([0, 0, 0, 0, 0, 1]), 4, Pointers.empty(2))
    only_tails = where.without_chains(np.array([True, True]))
    for limit, expected in ((0, [3]), (3, [3]), (4, [3, 5]), (5, [3, 5]), (6, [3, 5, 5, 8])):
        found = kept.take("at", only_tails, np.array([limit, limit]))
        assert found is not None
        assert found.rows["at"].to_list() == expected
    assert kept.take("at", Pointers.empty(2), np.array([9, 9])) is None


def test_a_log_is_compacted_when_it_has_grown() -> None:
    kept, where = Log(), Pointers.empty(1)
    for number, too_long in ((600, False), (1100, False), (101, True)):
        rows = pl.DataFrame({"at": np.arange(number)})
        kept, where = kept.add(rows, np.zeros(number, int), 0, where)
        assert kept.needs_compaction is too_long
