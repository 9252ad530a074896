"""Expr: common mistakes and their exact messages, and the queries that boxes use."""

import polars as pl
import pytest

from boxcars.expr import Expr, call, conjuncts
from boxcars.expr.stored import vouch
from boxcars.model.problem import Wrong
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.model.types import Type
from tests.expr.frame import FRAME, SCHEMA

CALLS = Schema.of({"caller": "str", "price": "float", "n": "int", "time": "timestamp"}, ts="time")

MISTAKES = {
    "prise > 5": "unknown field 'prise'. Did you mean 'price'?",
    "Price > 5": "unknown field 'Price'. Did you mean 'price'?",
    "left.n": "unknown field 'left.n'. There is: caller, n, price, time.",
    "sqr(n)": "unknown function 'sqr'. Did you mean 'sqrt'?",
    "sqrt(caller)": "sqrt() needs float as x, got caller (str).",
    "abs(caller)": "abs() needs int or float as x, got caller (str).",
    "sqrt()": "sqrt() takes 1 argument, got 0: sqrt(x).",
    "substr(caller)": "substr() takes 2 to 3 arguments, got 1: substr(text, start, length?).",
    "coalesce()": "coalesce() takes 1 or more arguments, got 0: coalesce(x...).",
    "coalesce(caller, 5)": "coalesce() needs arguments of one type, got caller (str) and 5 (int).",
    "round(price, n)": "round() needs a constant as digits, got n.",
    "lower(n)": "lower() needs str as text, got n (int): write CAST(n AS str).",
    "caller = 5": "can't compare caller (str) with 5 (int).",
    "n > 'a'": "can't compare n (int) with 'a' (str).",
    "n IN (1, 'a')": "can't compare n (int) with 'a' (str).",
    "caller + 'x'": "+ needs numbers, got caller (str) and 'x' (str). Join texts with ||.",
    "caller * 2": "* needs numbers, got caller (str) and 2 (int).",
    "caller || n": "|| needs texts, got n (int): write CAST(n AS str).",
    "price AND n > 1": "AND needs a bool, got price (float).",
    "NOT n": "NOT needs a bool, got n (int).",
    "-caller": "- needs a number, got caller (str).",
    "n LIKE 'a%'": "LIKE needs a text, got n (int).",
    "caller LIKE caller": "LIKE needs a pattern in quotes, got caller (str).",
    "CASE WHEN n > 1 THEN 'a' ELSE 2 END": (
        "the branches of CASE must have one type, got 'a' (str) and 2 (int)."
    ),
    "time > 'noon'": "'noon' is not a timestamp: write it like '2024-12-31 23:59:59'.",
    "time + time": "+ needs numbers, got time (timestamp).",
    "CAST(n AS decimal)": (
        "unknown type 'decimal'. There is: bigint, binary, blob, bool, boolean, bytes, datetime, "
        "double, float, int, integer, long, ...."
    ),
    "CAST(time AS bool)": "can't cast time (timestamp) to bool.",
    "9223372036854775808": "9223372036854775808 is too large for a 64-bit int.",
    "NULL": "the type of 'NULL' is unknown: write it like CAST(NULL AS int).",
    "sum(n)": "'sum' is an aggregate function: use it in an aggregate box.",
    "count(distinct n)": (
        "can't read 'count(distinct n)': unexpected 'n' at column 16 "
        "(write count_distinct(x) for the number of distinct values)."
    ),
    "time < now()": (
        "there is no 'now': the output is a function of the input alone. Use a field of the stream."
    ),
    "time < CURRENT_TIMESTAMP": (
        "there is no 'CURRENT_TIMESTAMP': the output is a function of the input alone. "
        "Use a field of the stream."
    ),
    "in_subnet(caller, '10.0/99')": "'10.0/99' is not a subnet: write it like '10.0.0.0/8'.",
    "regexp_like(caller, '(')": "'(' is not a regular expression.",
    "date_trunc('our', time)": "unknown unit 'our' of time. Did you mean 'hour'?",
    "date_format(time, 'yyyy-MM-dd HH:mm:ss')": (
        "'yyyy-MM-dd HH:mm:ss' gives the same text for every timestamp: a format needs strftime "
        "directives with %. Write '%Y-%m-%d %H:%M:%S'."
    ),
    "strftime(time, 'yyyy-MM-dd''T''HH:mm')": (
        "'yyyy-MM-dd'T'HH:mm' gives the same text for every timestamp: a format needs strftime "
        "directives with %. Write '%Y-%m-%dT%H:%M'."
    ),
    "to_timestamp(caller, 'dd.MM.yyyy')": (
        "'dd.MM.yyyy' gives the same text for every timestamp: a format needs strftime directives "
        "with %. Write '%d.%m.%Y'."
    ),
    "date_format(time, 'day')": (
        "'day' gives the same text for every timestamp: a format needs strftime directives with "
        "%. Write '%Y-%m-%d %H:%M:%S'."
    ),
    "strftime(time, '%Q')": "'%Q' is not a timestamp format.",
    "strftime(time, '%H%f')": (
        "'%H%f': %f is the fraction of a second, after a point: write '%S.%f'."
    ),
    "time > timestamp '2024-02-30'": (
        "'2024-02-30' is not a timestamp: write it as '2024-05-19 10:20:30'."
    ),
    "price >": "can't read 'price >': something is missing at the end.",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes(text):
    with pytest.raises(Wrong) as error:
        Expr.of(text).type_in(CALLS)
    assert str(error.value) == MISTAKES[text]


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("n + 1", "int"),
        ("n + 1.5", "float"),
        ("n / 2", "float"),
        ("caller", "str"),
        ("time", "timestamp"),
        ("time - time", "float"),
        ("caller = 'x'", "bool"),
        ("length(caller)", "int"),
        ("CAST(caller AS bytes)", "bytes"),
        ("if(n > 1, 1, 2.5)", "float"),
    ],
)
def test_types(text, type_):
    assert Expr.of(text).type_in(CALLS) is Type(type_)


def test_sources():
    assert Expr.of("  price + 1 ") == Expr("price + 1")
    assert [Expr.of(x).plain() for x in (5, -2.5, 1e-7, True)] == ["5", "-2.5", "1e-07", "true"]
    assert [Expr.of(x).type_in(CALLS).value for x in (5, -2.5, 1e-7, True)] == [
        "int",
        "float",
        "float",
        "bool",
    ]
    assert Expr.of(Expr("a")) == Expr("a")
    for value in (None, [1], {"a": 1}, float("nan")):
        with pytest.raises(Wrong, match="expected an expression, got"):
            Expr.from_plain(value)


def test_expect():
    Expr.of("n").expect(Type.FLOAT, CALLS)
    with pytest.raises(Wrong, match=r"^expected a bool, got 'price \+ 1' of type float\.$"):
        Expr.of("price + 1").expect(Type.BOOL, CALLS)
    with pytest.raises(Wrong, match=r"^expected an int, got 'caller' of type str\.$"):
        Expr.of("caller").expect(Type.INT, CALLS)


def test_unknown_types_are_not_reported():
    broken = CALLS.with_fields({**CALLS.fields, "x": Type.UNKNOWN})
    assert Expr.of("nowhere + 'a' * foo(1)").type_in(UNKNOWN_SCHEMA) is Type.UNKNOWN
    assert Expr.of("x + 1 > caller").type_in(broken) is Type.UNKNOWN
    assert Expr.of(pl.col("x") + 1).type_in(broken) is Type.UNKNOWN
    Expr.of("x").expect(Type.BOOL, broken)
    with pytest.raises(Wrong, match="can't read"):
        Expr.of("a +").type_in(UNKNOWN_SCHEMA)


def test_fields_and_is_field():
    assert Expr.of('left.k = right.k AND "my field" > abs(n)').fields == {
        *("left.k", "right.k", "my field", "n")
    }
    assert Expr.of("(time)").is_field() == "time"
    assert Expr.of("left.k").is_field() == "left.k"
    assert Expr.of("time + 1").is_field() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t", True),
        ("t + 5", True),
        ("5 + t", True),
        ("t - 5", True),
        ("t + -5", True),
        ("t * 2", True),
        ("2 * t", True),
        ("t / 60", True),
        ("t // 60", True),
        ("floor(t / 60) * 60", True),
        ("CAST(t AS int)", True),
        ("CAST(t AS double) + INTERVAL '1' HOUR", True),
        ("5 - t", False),
        ("t * -1", False),
        ("t * 0", False),
        ("2 / t", False),
        ("-t", False),
        ("t + n", False),
        ("t + t", False),
        ("n", False),
        ("5", False),
        ("t % 60", False),
        ("abs(t)", False),
        ("CAST(t AS str)", False),
    ],
)
def test_increasing(text, expected):
    assert Expr.of(text).increasing_in("t") is expected


def test_conjuncts():
    found = conjuncts(Expr.of("a = 1 AND (b OR c) AND (d AND x BETWEEN 1 AND 2)"))
    assert [e.text for e in found] == ["a = 1", "b OR c", "d", "x BETWEEN 1 AND 2"]
    assert conjuncts(Expr.of("a OR b")) == (Expr("a OR b"),)
    assert len(conjuncts(Expr.of(" AND ".join(["a"] * 2000)))) == 2000


def test_call():
    assert call(Expr.of("MyAgg( price * 2 , 'x')")) == ("myagg", (Expr("price * 2"), Expr("'x'")))
    assert call(Expr.of("count()")) == call(Expr.of("COUNT(*)")) == ("count", ())
    assert call(Expr.of("sum(x) + 1")) is None


def test_polars_expressions():
    expr = Expr.of(pl.col("i").cast(pl.Int32) * 2)
    assert Expr.from_plain(expr.plain()) == expr
    assert expr.type_in(SCHEMA) is Type.INT
    assert FRAME.select(expr.compile(SCHEMA)).to_series().dtype == pl.Int64
    assert expr.fields == {"i"}
    assert expr.is_field() is None
    assert Expr.of(pl.col("i")).is_field() == "i"
    assert Expr.of(pl.col("i")).increasing_in("i")
    assert conjuncts(expr) == (expr,)
    assert call(expr) is None


@pytest.mark.parametrize(
    ("expr", "complaint"),
    [
        (pl.col("j"), r"unknown field 'j'\."),
        (pl.col("s").str.split(","), r"the Polars type List\(String\) is not a field type\."),
        (pl.col("s") - 1, "Polars can't compute it: "),
    ],
)
def test_errors_of_polars_expressions(expr, complaint):
    with pytest.raises(Wrong, match=complaint):
        Expr.of(expr).type_in(SCHEMA)


def test_python_in_a_polars_expression_is_refused():
    with pytest.raises(Wrong, match=r"register the function with bx\.function"):
        Expr.of(pl.col("i").map_batches(lambda s: s, return_dtype=pl.Int64))
    with pytest.raises(Wrong, match="a stored Polars expression can run code"):
        Expr("polars:{}").type_in(SCHEMA)
    vouch("polars:{}")
    with pytest.raises(Wrong, match="can't read the stored Polars expression"):
        Expr("polars:{}").type_in(SCHEMA)
