"""Strings are sorted as Polars sorts them, or left to Polars."""

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from boxcars.kernels.columns.text_order import order_of_texts


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), unique=True), st.text(max_size=10))
@example(["", "\0"], "")
@example(["é", "z", "日本"], "ab")
def test_the_order_is_that_of_polars(texts: list[str], common: str) -> None:
    column = pl.Series([common + text for text in texts], dtype=pl.String)
    order = order_of_texts(column)
    assert order is None or order.to_list() == column.arg_sort().to_list()


@pytest.mark.parametrize(
    "texts",
    [[], ["a", None], ["12345678a", "12345678b", "c"], ["a", "a\0"]],
    ids=["none", "a null", "they differ late", "zeros at the end"],
)
def test_what_is_left_to_polars(texts: list[str | None]) -> None:
    assert order_of_texts(pl.Series(texts, dtype=pl.String)) is None


def test_a_slice_of_a_column_and_many_texts() -> None:
    texts = pl.Series([f"+34-600-{n * 7919 % 100_003:09d}" for n in range(100_000)])[777:]
    order = order_of_texts(texts)
    assert order is not None
    assert order.to_list() == texts.arg_sort().to_list()
