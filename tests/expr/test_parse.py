"""The grammar: operator precedence, and the text of every syntax error."""

import pytest

from boxcars.expr.parse import MAX_DEPTH, parse
from boxcars.model.problem import Wrong
from tests.expr.frame import value


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a OR b AND c", "a OR (b AND c)"),
        ("NOT a = b AND c", "(NOT (a = b)) AND c"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("a || b = c", "(a || b) = c"),
        ("a BETWEEN 1 AND 2 AND b", "(a BETWEEN 1 AND 2) AND b"),
        ("a NOT IN (1, 2)", "NOT (a IN (1, 2))"),
        ("a NOT LIKE 'x'", "NOT (a LIKE 'x')"),
        ("a IS NOT TRUE", "NOT (a IS TRUE)"),
        ("a IS NOT DISTINCT FROM b", "a is not distinct from (b)"),
        ("-a ^ 2", "(-a) ^ 2"),
        ("a ^ b ^ c", "(a ^ b) ^ c"),
        ("-a::int", "-(a::int)"),
        ("a == b", "a = b"),
        ("a != b", "a <> b"),
        ("a // b % c", "(a // b) % c"),
        ("TRY_CAST(a AS int)", "a::int"),
        ("INTERVAL '5' MINUTE", "300"),
        ("INTERVAL '90 seconds'", "90"),
        ("INTERVAL 2 hours", "7200"),
        ("TIMESTAMP '2024-01-01'", "CAST('2024-01-01' AS timestamp)"),
        ("EXTRACT(hour FROM t)", "extract('hour', t)"),
        ("SUBSTRING(a FROM 2 FOR 3)", "substring(a, 2, 3)"),
        ("POSITION(a IN b)", "strpos(b, a)"),
        ("TRIM(LEADING 'x' FROM a)", "ltrim(a, 'x')"),
        ("TRIM(BOTH FROM a)", "trim(a)"),
        ("count(*)", "COUNT()"),
        (".5", "0.5"),
        ("a -- a comment", "a"),
    ],
)
def test_operators(text, meaning):
    assert parse(text).root == parse(meaning).root


@pytest.mark.parametrize(
    "name", ["time", "date", "first", "left", "order", "interval", "timestamp"]
)
def test_words_of_sql_are_names_of_fields(name):
    assert parse(name).root.name == name


def test_names():
    assert parse('"my ""own"" field"').root.name == 'my "own" field'
    assert parse("left.end").root.name == "left.end"
    assert parse("Price").root != parse("price").root


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an expression is missing."),
        ("a b", "can't read 'a b': unexpected 'b' at column 3."),
        ("a >", "can't read 'a >': something is missing at the end."),
        ("(a", "can't read '(a': ')' is missing at the end."),
        ("a)", "can't read 'a)': unexpected ')' at column 2."),
        ("f(a,)", "can't read 'f(a,)': unexpected ')' at column 5."),
        ("a, b", "can't read 'a, b': unexpected ',' at column 2 (write one expression)."),
        ("a; b", "can't read 'a; b': unexpected ';' at column 2 (write one expression)."),
        (
            "a AS b",
            (
                "can't read 'a AS b': unexpected 'AS' at column 3 "
                "(the box names its fields, not AS)."
            ),
        ),
        (
            "(SELECT 1)",
            (
                "can't read '(SELECT 1)': unexpected 'SELECT' at column 2 "
                "(an expression can't contain a query)."
            ),
        ),
        (
            "f(a) OVER ()",
            (
                "can't read 'f(a) OVER ()': unexpected 'OVER' at column 6 "
                "(windows belong to an aggregate box)."
            ),
        ),
        (
            "a[1]",
            ("can't read 'a[1]': unexpected '[' at column 2 (lists are not supported)."),
        ),
        ("'a", "can't read ''a': a quote or comment is never closed."),
        ("CASE a END", "can't read 'CASE a END': unexpected 'END' at column 8 (WHEN is missing)."),
        ("a BETWEEN 1", "can't read 'a BETWEEN 1': AND is missing at the end."),
        ("a\n+ + * b", "can't read 'a + + * b': unexpected '*' at line 2, column 5."),
        (
            "a IS 5",
            (
                "can't read 'a IS 5': unexpected '5' at column 6 "
                "(expected NULL, TRUE, FALSE or DISTINCT FROM)."
            ),
        ),
        ("INTERVAL '1' MONTH", "an interval can't be in month: their length varies."),
        ("INTERVAL 'x' DAY", "an interval needs a number, got 'x'."),
        ("INTERVAL '1' dax", "unknown unit 'dax' in an interval. Did you mean 'day'?"),
    ],
)
def test_errors(text, complaint):
    with pytest.raises(Wrong) as error:
        parse(text)
    assert str(error.value) == complaint


def test_long_and_deep_texts():
    assert value(" AND ".join(["b"] * 500)) is True
    assert value(" + ".join(["i"] * 2000)) == 14_000
    assert value("(" * 100 + "i" + ")" * 100) == 7
    assert value("abs(" * 100 + "i" + ")" * 100) == 7
    assert value("NOT " * 100 + "b") is True
    for deep in ("(" * 5000, "NOT " * 5000, "CASE WHEN " * 3000, "-" + "(-" * 4000):
        with pytest.raises(Wrong, match=f"nested more than {MAX_DEPTH} deep"):
            parse(deep)
    with pytest.raises(Wrong, match="more than 10000 tokens"):
        parse("+".join(["i"] * 10_000))
