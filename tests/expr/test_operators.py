"""The semantics of the operators: one line for each rule."""

import math
from datetime import datetime

import pytest

from boxcars.expr.operators import like_regex
from tests.expr.frame import FRAME, SCHEMA, value

LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i + 1", 8),
        ("i + 1.5", 8.5),
        (f"{LARGEST} + 1", -LARGEST - 1),
        (f"-{LARGEST + 1} - 1", LARGEST),
        (f"{LARGEST} * 2", -2),
        ("i / 2", 3.5),
        ("i / zero", None),
        ("i // zero", None),
        ("i % zero", None),
        ("f / 0.0", None),
        ("f // 0", None),
        ("f % 0", None),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 % -3", -2),
        ("7.5 // 2", 3.0),
        ("2 ^ 10", 1024.0),
        ("10 ^ 400", math.inf),
        ("(-8) ^ 0.5", None),
        ("NULL + 1", None),
        ("-f", -2.5),
        ("i > 6.5", True),
        ("none = none", None),
        ("NULL = NULL", None),
        ("none IS NULL", True),
        ("none IS NOT NULL", False),
        ("none IS DISTINCT FROM 1", True),
        ("none IS NOT DISTINCT FROM NULL", True),
        ("b AND NULL", None),
        ("NOT b AND NULL", False),
        ("b OR NULL", True),
        ("(none = 1) IS TRUE", False),
        ("(none = 1) IS NOT FALSE", True),
        ("i IN (1, 7)", True),
        ("i IN (1, NULL)", None),
        ("i IN (7, NULL)", True),
        ("i NOT IN (1, 2)", True),
        ("i IN (7.0, 8)", True),
        ("i IN (zero, zero + 7)", True),
        ("none IN (1)", None),
        ("i BETWEEN 7 AND 8", True),
        ("i NOT BETWEEN 8 AND 9", True),
        ("s || '!' || s", "abc!abc"),
        ("s || NULL", None),
        ("s LIKE 'a%'", True),
        ("s LIKE 'A%'", False),
        ("s ILIKE 'A_C'", True),
        ("s NOT LIKE '%b%'", False),
        (r"'100%' LIKE '100\%'", True),
        ("'a.c' LIKE 'a.c'", True),
        ("s LIKE 'a.c'", False),
        ("CASE WHEN i > 5 THEN 'big' ELSE 'small' END", "big"),
        ("CASE i WHEN 1 THEN 'one' WHEN 7 THEN 'seven' END", "seven"),
        ("CASE WHEN none > 5 THEN 1 END", None),
        ("CASE WHEN b THEN 1 ELSE 2.5 END", 1.0),
        ("t + 60", datetime(2024, 5, 19, 10, 21, 30, 500_000)),
        ("0.5 + t", datetime(2024, 5, 19, 10, 20, 31)),
        ("t - INTERVAL '1' DAY", datetime(2024, 5, 18, 10, 20, 30, 500_000)),
        ("t - TIMESTAMP '2024-05-19'", 37230.5),
        ("t + 1e300", None),
        (f"t + {LARGEST}", None),
        ("t > '2024-05-19'", True),
        ("'2024-05-20T00:00:00Z' <= t", False),
        ("t BETWEEN '2024-05-19' AND '2024-05-20'", True),
        ('"my field" + left.k', 3),
    ],
)
def test_values(text, expected):
    assert value(text) == expected


def test_nan_is_as_in_polars():
    assert value("10 ^ 400 - 10 ^ 400 = 10 ^ 400 - 10 ^ 400") is True
    assert value("10 ^ 400 - 10 ^ 400 > 10 ^ 400") is True


def test_a_null_row_gives_nulls():
    from boxcars.expr import Expr

    for text in ("i / zero", "s || s", "t + i", "t - t", "i IN (1)", "s LIKE 'a'", "-f", "i ^ f"):
        assert FRAME.select(Expr.of(text).compile(SCHEMA)).to_series()[1] is None


def test_a_pattern_is_plain_text_but_for_its_wildcards():
    assert like_regex("[a]+_%") == r"^\[a\]\+..*$"
