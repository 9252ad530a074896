import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from boxcars.connectors.conform import as_frame, conform, letters_of
from boxcars.model.entities import Input
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

EAST = timezone(timedelta(hours=2))


def entity(type_: str, name: str = "v") -> Input:
    return Input(Schema.of({"t": "int", name: type_}, ts="t").fields, "t")


def values(series: pl.Series, type_: str, name: str = "v") -> list[Any]:
    frame = pl.DataFrame({"t": range(len(series)), name: series})
    conformed = conform(frame, entity(type_, name))
    assert conformed.dead.is_empty()
    assert conformed.tuples.schema == pl.Schema(entity(type_, name).schema.dtypes)
    return conformed.tuples[name].to_list()


@pytest.mark.parametrize(
    ("series", "type_", "expected"),
    [
        (pl.Series([1, None], dtype=pl.Int32), "int", [1, None]),
        (pl.Series([255], dtype=pl.UInt8), "int", [255]),
        (pl.Series([2**32 - 1], dtype=pl.UInt32), "int", [2**32 - 1]),
        (pl.Series([1, 2], dtype=pl.Int16), "float", [1.0, 2.0]),
        (pl.Series([0.5], dtype=pl.Float32), "float", [0.5]),
        (pl.Series([Decimal("1.25"), None]), "float", [1.25, None]),
        (pl.Series([date(2026, 1, 2)]), "timestamp", [datetime(2026, 1, 2)]),
        (
            pl.Series([datetime(2026, 1, 2)], dtype=pl.Datetime("ns")),
            "timestamp",
            [datetime(2026, 1, 2)],
        ),
        (
            pl.Series([datetime(2026, 1, 2)], dtype=pl.Datetime("ms")),
            "timestamp",
            [datetime(2026, 1, 2)],
        ),
        (pl.Series([datetime(2026, 1, 2, tzinfo=UTC)]), "timestamp", [datetime(2026, 1, 2)]),
        (
            pl.Series([datetime(2026, 1, 2, 1)]).dt.replace_time_zone("Europe/Madrid"),
            "timestamp",
            [datetime(2026, 1, 2)],
        ),
        (pl.Series(["a", "b", None], dtype=pl.Categorical), "str", ["a", "b", None]),
        (pl.Series(["a"], dtype=pl.Enum(["a", "b"])), "str", ["a"]),
        *[
            (pl.Series([None, None]), kind, [None, None])
            for kind in ("int", "str", "bytes", "bool")
        ],
        (pl.Series(["5", " 6 ", None]), "int", [5, 6, None]),
        (pl.Series(["5", "6"], dtype=pl.Categorical), "int", [5, 6]),
        (pl.Series(["0.5", "1e3"]), "float", [0.5, 1000.0]),
        (pl.Series(["true", "0"]), "bool", [True, False]),
        (pl.Series(["2026-01-02T03:00:00+02:00"]), "timestamp", [datetime(2026, 1, 2, 1)]),
    ],
    ids=str,
)
def test_types_that_fit(series: pl.Series, type_: str, expected: list[Any]) -> None:
    assert values(series, type_) == expected


@pytest.mark.parametrize(
    ("series", "type_", "words"),
    [
        (pl.Series([1.5]), "int", "field 'v' is Float64 in the data, expected an int."),
        (pl.Series([1], dtype=pl.UInt64), "int", "is UInt64 in the data"),
        (pl.Series([2**100], dtype=pl.Int128), "int", "is Int128 in the data"),
        (pl.Series([1]), "str", "is Int64 in the data, expected a str."),
        (pl.Series([1]), "bool", "is Int64 in the data"),
        (pl.Series(["x"]), "bytes", "is String in the data, expected bytes."),
        (pl.Series([b"x"]), "str", "is Binary in the data"),
        (pl.Series([[1]]), "int", "is List(Int64) in the data"),
        (pl.Series([timedelta(1)]), "int", "is Duration"),
    ],
    ids=str,
)
def test_types_that_do_not(series: pl.Series, type_: str, words: str) -> None:
    with pytest.raises(Wrong) as error:
        values(series, type_)
    assert words in str(error.value)


@pytest.mark.parametrize("name", ["two words", 'a "quoted" name', "a {} b", "it's", "äöü"])
def test_text_is_parsed_whatever_the_name(name: str) -> None:
    frame = pl.DataFrame({"t": [1, 2], name: ["5", "x"]})
    conformed = conform(frame, entity("int", name))
    assert conformed.tuples[name].to_list() == [5]
    assert conformed.dead["reason"].to_list() == [f"{name}: 'x' is not an int"]


@pytest.mark.parametrize(
    ("type_", "series"),
    [
        ("bytes", pl.Series([b"\xff"])),
        ("timestamp", pl.Series([datetime(2026, 1, 2, tzinfo=EAST)])),
        ("timestamp", pl.Series([date(2026, 1, 2)])),
        ("float", pl.Series([Decimal("1.5")])),
        ("float", pl.Series([float("nan")])),
        ("str", pl.Series(['"'], dtype=pl.Categorical)),
        ("int", pl.Series([None])),
    ],
    ids=str,
)
def test_a_dead_letter_can_hold_every_type(type_: str, series: pl.Series) -> None:
    conformed = conform(
        pl.DataFrame({"t": pl.Series([None], dtype=pl.Int64), "v": series}), entity(type_)
    )
    assert conformed.tuples.is_empty()
    assert conformed.dead["reason"].to_list() == ["t: the order attribute is null"]
    assert conformed.dead["record"][0].startswith(b'{"t":null,"v":')


@pytest.mark.parametrize("number", [1.5, float("inf"), float("-inf"), float("nan"), None])
def test_a_dead_letter_shows_numbers_that_json_does_not_have(number: float | None) -> None:
    (letter,) = letters_of(pl.DataFrame({'v"}': [number], "w": ["}"]}), "why")["record"]
    found = json.loads(letter)
    assert found["w"] == "}"
    shown = found['v"}']
    assert str(None if shown is None else float(shown)) == str(number)


def test_the_order_attribute_is_a_moment_that_python_has() -> None:
    at = Input(Schema.of({"t": "timestamp"}, ts="t").fields, "t")
    frame = pl.DataFrame({"t": [0, 2**60, -(2**60)]}).cast(pl.Datetime("us"))
    conformed = conform(frame, at)
    assert conformed.tuples["t"].to_list() == [datetime(1970, 1, 1)]
    assert set(conformed.dead["reason"]) == {
        "t: the order attribute is not between the years 1 and 9999"
    }


def test_fields_are_reordered_and_other_columns_dropped() -> None:
    frame = pl.DataFrame({"x": [1], "v": [2], "t": [3]})
    assert conform(frame, entity("int")).tuples.rows(named=True) == [{"t": 3, "v": 2}]


def test_a_field_that_is_not_there() -> None:
    with pytest.raises(Wrong, match="the data has no field 'v'. Did you mean 'V'?"):
        conform(pl.DataFrame({"t": [1], "V": [2]}), entity("int"))


class TestAsFrame:
    def test_rows_may_lack_fields(self) -> None:
        assert as_frame([{"t": 1}, {"t": 2, "v": 3}]).rows() == [(1, None), (2, 3)]

    def test_nothing_is_an_empty_input(self) -> None:
        sources: list[Any] = [[], {}, pl.DataFrame()]
        for nothing in sources:
            assert conform(as_frame(nothing), entity("int")).tuples.height == 0

    @pytest.mark.parametrize(
        "data",
        [
            5,
            None,
            "text",
            [1, 2],
            [{"t": 1}, {"t": "x"}],
            {"t": [1, 2], "v": [1]},
            pd.Series([1]),
            pa.table([[1], [2]], names=["t", "t"]),
            pa.array([1, 2]),
            pl.Series([1]),
        ],
        ids=lambda data: type(data).__name__,
    )
    def test_unsupported_data(self, data: object) -> None:
        with pytest.raises(Wrong, match="expected a"):
            as_frame(data)
