"""Casts: convertible values are converted, others become null."""

from datetime import datetime

import pytest

from boxcars.expr import Expr
from boxcars.model.problem import Wrong
from tests.expr.frame import SCHEMA, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CAST('12' AS int)", 12),
        ("CAST('1.5' AS bigint)", None),
        ("CAST(' 1.5 ' AS double)", 1.5),
        ("'x'::float", None),
        ("CAST(-1.9 AS int)", -1),
        ("CAST(1e30 AS int)", None),
        ("CAST(10 ^ 400 AS int)", None),
        ("CAST(10 ^ 400 - 10 ^ 400 AS int)", None),
        ("CAST(i AS float)", 7.0),
        ("CAST(i AS varchar)", "7"),
        ("CAST(f AS text)", "2.5"),
        ("CAST(b AS str)", "true"),
        ("CAST(b AS int)", 1),
        ("CAST(zero AS boolean)", False),
        ("CAST('TRUE' AS bool)", True),
        ("CAST('0' AS bool)", False),
        ("CAST('yes' AS bool)", None),
        ("CAST(y AS str)", None),
        ("CAST('grün' AS bytes)", "grün".encode()),
        ("CAST(CAST('grün' AS blob) AS string)", "grün"),
        ("CAST('2024-05-19' AS timestamp)", datetime(2024, 5, 19)),
        ("CAST('2024-05-19 10:20' AS datetime)", datetime(2024, 5, 19, 10, 20)),
        (
            "CAST('2024-05-19T10:20:30.25Z' AS timestamp)",
            datetime(2024, 5, 19, 10, 20, 30, 250_000),
        ),
        ("CAST('2024-05-19T10:20:30+02:00' AS timestamp)", datetime(2024, 5, 19, 8, 20, 30)),
        ("CAST('2024-05-19 10:20 -0130' AS timestamp)", datetime(2024, 5, 19, 11, 50)),
        ("CAST('2024-02-30' AS timestamp)", None),
        ("CAST('0000-01-01' AS timestamp)", None),
        ("CAST('19 May' AS timestamp)", None),
        ("CAST(60 AS timestamp)", datetime(1970, 1, 1, 0, 1)),
        ("CAST(-1.5 AS timestamp)", datetime(1969, 12, 31, 23, 59, 58, 500_000)),
        ("CAST(1e15 AS timestamp)", None),
        ("CAST(t AS int)", 1716114030),
        ("CAST(CAST(-0.5 AS timestamp) AS int)", -1),
        ("CAST(t AS float)", 1716114030.5),
        ("CAST(t AS str)", "2024-05-19T10:20:30.500"),
        ("CAST(CAST(t AS str) AS timestamp) = t", True),
        ("CAST(NULL AS bool)", None),
    ],
)
def test_values(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize("text", ["y::int", "t::bool", "b::timestamp", "i::bytes"])
def test_invalid_statements_are_rejected(text):
    with pytest.raises(Wrong, match="can't cast"):
        Expr.of(text).type_in(SCHEMA)
