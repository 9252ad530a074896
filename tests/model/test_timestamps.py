from datetime import date, datetime, timedelta

import polars as pl
import pytest

from boxcars.model.timestamps import FIRST, LAST, bounded, in_range


@pytest.mark.parametrize(
    ("dtype", "first", "last"),
    [
        (pl.Datetime("us"), FIRST, LAST),
        (pl.Datetime("us", "Europe/Madrid"), FIRST, LAST),
        (pl.Datetime("ms"), FIRST // 1000, LAST // 1000),
        (pl.Date(), -719_162, 2_932_896),
    ],
    ids=str,
)
def test_the_ends_of_the_range(dtype: pl.DataType, first: int, last: int) -> None:
    physical = pl.Int32 if dtype == pl.Date() else pl.Int64
    counts = pl.Series("t", [first - 1, first, None, last, last + 1], physical)
    found = counts.cast(dtype).to_frame().select(in_range(pl.col("t"), dtype)).to_series()
    assert found.to_list() == [False, True, None, True, False]


def test_they_are_those_of_python() -> None:
    micros = pl.Series("t", [FIRST - 1, FIRST, LAST, LAST + 1, None])
    found = micros.to_frame().select(bounded(pl.col("t"))).to_series().to_list()
    assert found == [None, datetime.min, datetime.max, None, None]
    assert date(1970, 1, 1) + timedelta(days=-719_162) == date.min


def test_all_nanoseconds_are_in_range() -> None:
    ends = pl.Series("t", [-(2**63), 2**63 - 1]).cast(pl.Datetime("ns")).to_frame()
    assert ends.select(in_range(pl.col("t"), pl.Datetime("ns")).all()).item()
