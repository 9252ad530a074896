"""The semantics of the operators.

Rules that are easy to get wrong:

- ``+ - *`` of ints is an int and wraps around at 64 bits; ``/`` and ``^`` are always floats.
- Division by zero is null, for ``/``, ``//`` and ``%``, also by 0.0.
- ``a // b`` is ``a / b`` rounded down; ``a % b`` has the sign of ``b``: ``-7 % 3`` is 2.
- ``AND`` and ``OR`` are three-valued; a comparison with null is null.
- NaN only arises from input data or from infinities. As in Polars it equals itself and is greater
  than every other number.
- An int combined with a float becomes a float, also in comparisons: exact up to 2 ** 53.
- A timestamp minus a timestamp is a float of seconds; a timestamp plus or minus a number is shifted
  by seconds.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from sqlglot import exp

from boxcars.expr.cast import micros, timestamp_of, to_seconds
from boxcars.expr.division import divide, floor_divide, modulo
from boxcars.expr.value import Value, common, listed
from boxcars.model.problem import Wrong
from boxcars.model.timestamps import bounded
from boxcars.model.types import Type

Typed = tuple[Type, pl.Expr]
Operator = Callable[[Value, Value], Typed]


def power(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a ^ b`` in floats: inf on overflow, null where the result is not real."""
    return a.pow(b).fill_nan(None)


def same_type(a: Value, b: Value) -> tuple[Value, Value]:
    """Convert two values to a common type, so that they can be compared."""
    type_ = common((a.type, b.type))
    if type_ is None:
        a, b = _as_timestamp(a, b), _as_timestamp(b, a)
        type_ = common((a.type, b.type))
    if type_ is None:
        raise Wrong(f"can't compare {a} with {b}.")
    return a.to(type_), b.to(type_)


def _as_timestamp(a: Value, other: Value) -> Value:
    """Convert a quoted text that is compared with a timestamp to a timestamp."""
    if not (a.type is Type.STR and a.is_constant and other.type is Type.TIMESTAMP):
        return a
    moment = timestamp_of(a.constant)
    if moment is None:
        raise Wrong(f"{a.words} is not a timestamp: write it like '2024-12-31 23:59:59'.")
    expr = pl.lit(moment, dtype=Type.TIMESTAMP.dtype)
    return Value(Type.TIMESTAMP, expr, a.words, moment, is_constant=True)


def numbers(symbol: str, a: Value, b: Value) -> tuple[Type, Value, Value]:
    """Convert two numbers to a common type."""
    if not (a.type.numeric and b.type.numeric):
        texts = symbol == "+" and {a.type, b.type} == {Type.STR}
        hint = " Join texts with ||." if texts else ""
        raise Wrong(f"{symbol} needs numbers, got {listed((a, b))}.{hint}")
    type_ = Type.FLOAT if Type.FLOAT in (a.type, b.type) else Type.INT
    return type_, a.to(type_), b.to(type_)


def _arithmetic(symbol: str, build: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> Operator:
    def operator(a: Value, b: Value) -> Typed:
        type_, a, b = numbers(symbol, a, b)
        return type_, build(a.expr, b.expr)

    return operator


def _in_floats(symbol: str, build: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> Operator:
    def operator(a: Value, b: Value) -> Typed:
        _, a, b = numbers(symbol, a, b)
        return Type.FLOAT, build(a.to(Type.FLOAT).expr, b.to(Type.FLOAT).expr)

    return operator


def _shift(time: Value, seconds: Value, sign: int) -> Typed:
    number = seconds.to(Type.INT) if seconds.type is Type.UNKNOWN else seconds
    return Type.TIMESTAMP, bounded(time.expr.cast(pl.Int64) + sign * micros(number.expr))


def _add(a: Value, b: Value) -> Typed:
    if a.type is Type.TIMESTAMP and b.type.numeric:
        return _shift(a, b, 1)
    if b.type is Type.TIMESTAMP and a.type.numeric:
        return _shift(b, a, 1)
    type_, a, b = numbers("+", a, b)
    return type_, a.expr + b.expr


def _subtract(a: Value, b: Value) -> Typed:
    if a.type is Type.TIMESTAMP and b.type is Type.TIMESTAMP:
        return Type.FLOAT, to_seconds(a.expr.cast(pl.Int64) - b.expr.cast(pl.Int64))
    if a.type is Type.TIMESTAMP and b.type.numeric:
        return _shift(a, b, -1)
    type_, a, b = numbers("-", a, b)
    return type_, a.expr - b.expr


def _compare(build: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> Operator:
    def operator(a: Value, b: Value) -> Typed:
        a, b = same_type(a, b)
        if a.type is Type.UNKNOWN:
            a, b = a.to(Type.INT), b.to(Type.INT)
        return Type.BOOL, build(a.expr, b.expr)

    return operator


def bools(symbol: str, *values: Value) -> list[pl.Expr]:
    """Return the expressions of values, which must be bools."""
    for value in values:
        if not Type.BOOL.accepts(value.type):
            raise Wrong(f"{symbol} needs a bool, got {value}.")
    return [value.to(Type.BOOL).expr for value in values]


def _and(a: Value, b: Value) -> Typed:
    left, right = bools("AND", a, b)
    return Type.BOOL, left & right


def _or(a: Value, b: Value) -> Typed:
    left, right = bools("OR", a, b)
    return Type.BOOL, left | right


def _join(a: Value, b: Value) -> Typed:
    for value in (a, b):
        if not Type.STR.accepts(value.type):
            raise Wrong(f"|| needs texts, got {value}: write CAST({value.words} AS str).")
    return Type.STR, a.to(Type.STR).expr + b.to(Type.STR).expr


def _like(symbol: str, flags: str) -> Operator:
    def operator(a: Value, b: Value) -> Typed:
        if not Type.STR.accepts(a.type):
            raise Wrong(f"{symbol} needs a text, got {a}.")
        if b.type is not Type.STR or not b.is_constant:
            raise Wrong(f"{symbol} needs a pattern in quotes, got {b}.")
        return Type.BOOL, a.to(Type.STR).expr.str.contains(f"(?{flags})" + like_regex(b.constant))

    return operator


def like_regex(pattern: str) -> str:
    r"""Return a LIKE pattern as a regular expression; a backslash makes the next character plain.

    >>> like_regex("a.b_%")
    '^a\\.b..*$'
    """
    parts, characters = [], iter(pattern)
    for character in characters:
        if character == "\\":
            parts.append(_escape(next(characters, "\\")))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or _escape(character))
    return "^" + "".join(parts) + "$"


def _escape(character: str) -> str:
    return "\\" + character if character in r"\.+*?()|[]{}^$#&-~" else character


OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.Add: _add,
    exp.Sub: _subtract,
    exp.Mul: _arithmetic("*", lambda a, b: a * b),
    exp.Div: _in_floats("/", divide),
    exp.IntDiv: _arithmetic("//", floor_divide),
    exp.Mod: _arithmetic("%", modulo),
    exp.Pow: _in_floats("^", power),
    exp.EQ: _compare(lambda a, b: a == b),
    exp.NEQ: _compare(lambda a, b: a != b),
    exp.LT: _compare(lambda a, b: a < b),
    exp.LTE: _compare(lambda a, b: a <= b),
    exp.GT: _compare(lambda a, b: a > b),
    exp.GTE: _compare(lambda a, b: a >= b),
    exp.NullSafeEQ: _compare(lambda a, b: a.eq_missing(b)),
    exp.NullSafeNEQ: _compare(lambda a, b: a.ne_missing(b)),
    exp.And: _and,
    exp.Or: _or,
    exp.DPipe: _join,
    exp.Like: _like("LIKE", "s"),
    exp.ILike: _like("ILIKE", "si"),
}
