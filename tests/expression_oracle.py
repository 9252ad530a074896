r"""Expressions, one tuple at a time: sqlglot reads them, and plain Python says what they mean.

The rules are those of docs/reference/expressions.md and docs/explanation/values.md. A tuple is a
dict; in a join its names are ``left.k`` and ``right.k``. What is not known here raises.

>>> row = {"n": None, "k": "ä", "x": float("nan"), "two words": 7}
>>> [evaluate(text, row) for text in ("n = n", "n is null", "n > 1 or true", "not n > 1")]
[None, True, True, None]
>>> [evaluate(text, row) for text in ("-7 // 2", "-7 % 3", "7 / 2", "7 / 0", "upper(k) || 's'")]
[-4, 2, 3.5, None, 'Äs']
>>> [evaluate(text, row) for text in ("x > 5", "x = x", "n in (1)", "2 in (1, n)", "2 in (2, n)")]
[True, True, None, None, True]
>>> evaluate("case when n > 1 then 'a' when \"two words\" between 7 and 8 then 'b' end", row)
'b'
>>> [evaluate(text, row) for text in ("'5'::int", "'five'::int", "coalesce(n, 1.5)", "n::float")]
[5, None, 1.5, None]
>>> evaluate("9223372036854775807 + 1", row)
-9223372036854775808
>>> evaluate("cosh(n)", row)
Traceback (most recent call last):
AssertionError: the oracle does not know COSH(n)
"""

import math
import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

Row = dict[str, Any]
Node = exp.Expr
INT64 = 2**63


@cache
def parsed(text: str) -> Node:
    """DuckDB writes ``//`` as we do."""
    return sqlglot.parse_one(text, read="duckdb", into=exp.Condition)


def evaluate(text: str, row: Row) -> Any:
    return value(parsed(text), row)


def read_call(text: str) -> tuple[str, list[str]]:
    """The name and the arguments of a call.

    >>> read_call("concat(k, '-')")
    ('concat', ['k', "'-'"])
    """
    name, _, rest = text.partition("(")
    call = parsed("call_of(" + rest)
    assert isinstance(call, exp.Anonymous), text
    return name.strip().lower(), [argument.sql(dialect="duckdb") for argument in call.expressions]


def fields_in(text: str) -> set[str]:
    return {column.name for column in parsed(text).find_all(exp.Column)}


def value(node: Node, row: Row) -> Any:
    kind = type(node)
    if kind in CONSTANT:
        return CONSTANT[kind](node)
    if kind in SPECIAL:
        return SPECIAL[kind](node, row)
    if kind not in STRICT:
        raise AssertionError(f"the oracle does not know {node.sql()}")
    given = [value(argument, row) for argument in arguments(node)]
    return None if any(a is None for a in given) else STRICT[kind](*given)


def arguments(node: Node) -> Iterator[Node]:
    for name in node.arg_types:
        given = node.args.get(name)
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, Node):
                yield one


def wrap(number: int) -> int:
    """An int that outgrows 64 bits wraps around."""
    return (number + INT64) % (2 * INT64) - INT64


def compare(a: Any, b: Any) -> int:
    """Below, at or above 0. What is not a number equals itself and is above all numbers."""
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(checked(a)), float(checked(b))
    if is_nan(a) or is_nan(b):
        return is_nan(a) - is_nan(b)
    return int(a > b) - int(a < b)


def is_nan(number: Any) -> bool:
    return isinstance(number, float) and math.isnan(number)


def checked(number: Any) -> Any:
    if type(number) not in (int, float):
        raise AssertionError(f"the oracle reckons with numbers, got {number!r}")
    return number


def reckon(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_numbers(*given: Any) -> Any:
        found = function(*map(checked, given))
        return wrap(found) if type(found) is int else found

    return of_numbers


def floor_divide(a: Any, b: Any) -> Any:
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    share = a / b
    return float(math.floor(share)) if math.isfinite(share) else share


def both(node: Node, row: Row) -> bool | None:
    return all_of(value(node.this, row), value(node.expression, row))


def either(node: Node, row: Row) -> bool | None:
    return any_of(value(node.this, row), value(node.expression, row))


def all_of(*truths: bool | None) -> bool | None:
    return False if False in truths else None if None in truths else True


def any_of(*truths: bool | None) -> bool | None:
    return True if True in truths else None if None in truths else False


def equal(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else compare(a, b) == 0


def within(node: exp.In, row: Row) -> bool | None:
    assert node.expressions, node.sql()
    own = value(node.this, row)
    return any_of(*(equal(own, value(other, row)) for other in node.expressions))


def between(node: exp.Between, row: Row) -> bool | None:
    own, low, high = (value(node.args[name], row) for name in ("this", "low", "high"))
    return all_of(
        None if own is None or low is None else compare(low, own) <= 0,
        None if own is None or high is None else compare(own, high) <= 0,
    )


def distinct(node: Node, row: Row) -> bool:
    a, b = value(node.this, row), value(node.expression, row)
    return (a is None) != (b is None) or equal(a, b) is False


def is_null(node: exp.Is, row: Row) -> bool:
    assert isinstance(node.expression, exp.Null), node.sql()
    return value(node.this, row) is None


def choice(node: exp.Case, row: Row) -> Any:
    """The first branch that holds."""
    for branch in node.args["ifs"]:
        holds = value(branch.this, row)
        if node.this is not None:
            holds = equal(value(node.this, row), holds)
        if holds is True:
            return value(branch.args["true"], row)
    return value(node.args["default"], row) if node.args.get("default") else None


def if_else(node: exp.If, row: Row) -> Any:
    branch = node.args["true" if value(node.this, row) is True else "false"]
    return None if branch is None else value(branch, row)


def coalesce(node: exp.Coalesce, row: Row) -> Any:
    found = (value(argument, row) for argument in arguments(node))
    return next((one for one in found if one is not None), None)


def nullif(node: exp.Nullif, row: Row) -> Any:
    own = value(node.this, row)
    return None if equal(own, value(node.expression, row)) is True else own


def cast(node: exp.Cast, row: Row) -> Any:
    """To numbers from ints and texts; to texts from ints. Others are for whoever needs them."""
    own, kind = value(node.this, row), node.to.sql().lower()
    if own is None:
        return None
    known = {"int": (int, str), "float": (int, float, str), "text": (int, str)}
    if type(own) not in known.get(kind, ()):
        raise AssertionError(f"the oracle does not know how to make {kind} of {own!r}")
    try:
        return {"int": int, "float": float, "text": str}[kind](own)
    except ValueError:
        return None


def column(node: exp.Column, row: Row) -> Any:
    return row[f"{node.table}.{node.name}" if node.table else node.name]


def literal(node: exp.Literal) -> Any:
    if node.is_string:
        return node.name
    return int(node.name) if node.name.isdigit() else float(node.name)


CONSTANT: dict[type[Node], Callable[[Any], Any]] = {
    exp.Literal: literal,
    exp.Boolean: lambda node: bool(node.this),
    exp.Null: lambda _: None,
}

SPECIAL: dict[type[Node], Callable[[Any, Row], Any]] = {
    exp.Column: column,
    exp.Paren: lambda node, row: value(node.this, row),
    exp.And: both,
    exp.Or: either,
    exp.In: within,
    exp.Between: between,
    exp.Is: is_null,
    exp.NullSafeEQ: lambda node, row: not distinct(node, row),
    exp.NullSafeNEQ: distinct,
    exp.Case: choice,
    exp.If: if_else,
    exp.Coalesce: coalesce,
    exp.Nullif: nullif,
    exp.Cast: cast,
}
"""What may look at a null and give something else."""

STRICT: dict[type[Node], Callable[..., Any]] = {
    exp.EQ: lambda a, b: compare(a, b) == 0,
    exp.NEQ: lambda a, b: compare(a, b) != 0,
    exp.LT: lambda a, b: compare(a, b) < 0,
    exp.LTE: lambda a, b: compare(a, b) <= 0,
    exp.GT: lambda a, b: compare(a, b) > 0,
    exp.GTE: lambda a, b: compare(a, b) >= 0,
    exp.Not: operator.not_,
    exp.Add: reckon(operator.add),
    exp.Sub: reckon(operator.sub),
    exp.Mul: reckon(operator.mul),
    exp.Neg: reckon(operator.neg),
    exp.Abs: reckon(abs),
    exp.Div: reckon(lambda a, b: None if b == 0 else float(a) / float(b)),
    exp.IntDiv: reckon(floor_divide),
    exp.Mod: reckon(lambda a, b: None if b == 0 else a % b),
    exp.DPipe: lambda a, b: "".join((a, b)),
    exp.Upper: str.upper,
    exp.Lower: str.lower,
    exp.Length: len,
}
"""What is null where one of its arguments is."""
