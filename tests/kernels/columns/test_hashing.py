"""The stable hash: the same for every length, layout and version, as stored state needs it."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxcars.expr import Expr
from boxcars.kernels.columns.hashing import hash_columns
from boxcars.kernels.state.keyed_lsm import hashes_of
from boxcars.model.schema import Schema

TEXTS = ["", "a", "ä", "12345678", "123456789", "123456789012", "1234567890123", "x" * 1000, None]
GOLDEN = [-4444829374037486336, -2802068528034941277]
"""Hashes of ``("boxcars", 7)`` and ``(None, 7)`` as they are in stored states."""


def slow_hash(values: list[str | None]) -> list[int]:
    """The SQL function ``hash``: the same definition in NumPy."""
    frame = pl.DataFrame({"v": pl.Series(values, dtype=pl.String)})
    found = frame.select(Expr("hash(v)").compile(Schema.of({"v": "str"}, "v")))
    return found.to_series().to_list()


@given(st.lists(st.none() | st.text(max_size=20)), st.integers(0, 3))
def test_texts_of_any_length_and_layout(values: list[str | None], cut: int) -> None:
    """Short texts lie inline in Arrow's views; a slice and a column in chunks hash the same."""
    whole = pl.Series(values, dtype=pl.String)
    found = hash_columns([whole], len(whole)).tolist()
    assert found == slow_hash(values)
    assert hash_columns([whole[cut:]], len(whole[cut:])).tolist() == found[cut:]
    chunks = pl.concat([whole[:cut], whole[cut:]], rechunk=False)
    assert hash_columns([chunks], len(chunks)).tolist() == found
    short = whole.filter(whole.str.len_bytes() <= 12)
    assert hash_columns([short], len(short)).tolist() == slow_hash(short.to_list())


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_each_length_alone_and_among_others(text: str | None) -> None:
    (alone,) = hash_columns([pl.Series([text], dtype=pl.String)], 1).tolist()
    among = hash_columns([pl.Series([*TEXTS, text])], len(TEXTS) + 1).tolist()
    assert alone == among[-1] == slow_hash([text])[0]


def test_stored_states_depend_on_these_values() -> None:
    """A change here makes all states of tuple and value windows, joins and PerKey boxes useless."""
    keys = pl.DataFrame({"who": ["boxcars", None], "n": [7, 7]})
    assert hashes_of(keys, ["who", "n"]).view("int64").tolist() == GOLDEN
