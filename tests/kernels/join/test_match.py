"""The loops of join, compared with a few lines of Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boxcars.kernels.join.probe import (
    NO_KEY,
    Keys,
    Side,
    find_matches,
    list_pairs,
    look_up,
    number_keys,
)


def keys(words: Sequence[int | None]) -> Keys:
    known = np.array([word is not None for word in words], np.bool_)
    return Keys(np.array([word or 0 for word in words], np.uint64), known)


def test_keys_are_numbered_as_they_appear() -> None:
    codes, table = number_keys(keys([7, 2**64 - 1, None, 7, 0]))
    assert codes.tolist() == [0, 1, NO_KEY, 0, 2]
    assert table.size == 3
    assert look_up(keys([0, 8, None, 7]), table).tolist() == [2, NO_KEY, NO_KEY, 0]


@pytest.mark.parametrize("spread", [1, 2**32, 2**40, 0x9E3779B97F4A7C15])
def test_many_keys_are_numbered(spread: int) -> None:
    words = [n * spread % 2**64 for n in range(5000)]
    codes, table = number_keys(keys(words * 2))
    assert codes.tolist() == list(range(5000)) * 2
    assert look_up(keys(words), table).tolist() == list(range(5000))


def side(tuples: list[tuple[int, int]], size: int, timed: bool, held: int) -> Side:
    order = np.array(sorted(t for t, _ in tuples), np.uint64)
    mark = order if timed else np.arange(len(tuples) + 1, dtype=np.uint64)
    code = np.array([code for _, code in tuples], np.int32)
    return Side(code, order, mark, np.uint64(size), timed, held)


def slowly(left: Side, right: Side) -> list[tuple[int, int]]:
    """Every new tuple is compared with all earlier tuples of the other side."""
    events = sorted(
        [(t, 0, row) for row, t in enumerate(left.order.tolist())]
        + [(t, 1, row) for row, t in enumerate(right.order.tolist())]
    )
    sides, found = (left, right), []
    came: tuple[list[int], list[int]] = ([], [])
    for i, own in enumerate(sides):
        came[i].extend(range(own.held))
    for t, port, row in events:
        if row < sides[port].held:
            continue
        other = sides[1 - port]
        for partner in came[1 - port]:
            age = t - int(other.order[partner]) if other.timed else len(came[1 - port]) - partner
            same = sides[port].code[row] == other.code[partner] != NO_KEY
            if same and age <= other.reach:
                found.append((row, partner) if port == 0 else (partner, row))
        came[port].append(row)
    return found


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_matches_are_those_of_the_definition(data: st.DataObject) -> None:
    sides = []
    for _ in range(2):
        old = data.draw(st.lists(st.tuples(st.just(0), st.integers(0, 3)), max_size=4))
        new = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 3)), max_size=12))
        timed = data.draw(st.booleans())
        sides.append(side(old + new, data.draw(st.integers(1, 6)), timed, len(old)))
    left, right = sides
    matches, expected = find_matches(left, right, 4), slowly(left, right)
    assert pairs(matches, 0, len(expected)) == expected
    cut = data.draw(st.integers(0, len(expected)))
    assert pairs(matches, 0, cut) + pairs(matches, cut, len(expected)) == expected


def pairs(matches: Any, begin: int, end: int) -> list[tuple[int, int]]:
    left, right = list_pairs(matches, begin, end)
    return list(zip(left.tolist(), right.tolist(), strict=True))
