"""Types of SQL expressions, without a database: sqlglot's annotations as our six types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from boxcars.model.problem import Wrong, a
from boxcars.model.types import Type
from boxcars.sql.parse import DIALECT

SQL_TYPES: dict[Type, str] = {
    Type.STR: "TEXT",
    Type.INT: "BIGINT",
    Type.FLOAT: "DOUBLE PRECISION",
    Type.BOOL: "BOOLEAN",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.BYTES: "BYTEA",
    Type.UNKNOWN: "UNKNOWN",
}
"""The column types in the user's SQL."""

_OURS: dict[Any, Type] = {
    exp.DataType.Type.BOOLEAN: Type.BOOL,
    exp.DataType.Type.TIMESTAMP: Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPNTZ: Type.TIMESTAMP,
    exp.DataType.Type.BINARY: Type.BYTES,
    exp.DataType.Type.VARBINARY: Type.BYTES,
    **dict.fromkeys(exp.DataType.TEXT_TYPES, Type.STR),
    **dict.fromkeys(exp.DataType.INTEGER_TYPES, Type.INT),
    **dict.fromkeys(exp.DataType.REAL_TYPES, Type.FLOAT),
}
_STAMP = "column"
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)


def type_of(node: exp.Expr, column: Callable[[exp.Column], Type]) -> Type:
    """The type of an expression, given those of its columns; raises Wrong on a type error."""

    def stamped(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        typed = exp.Cast(
            this=exp.Null(), to=exp.DataType.build(SQL_TYPES[column(part)], dialect=DIALECT)
        )
        typed.meta[_STAMP] = part
        return typed

    tree = annotate_types(node.copy().transform(stamped), dialect=DIALECT)
    for part in tree.walk():
        _check(part)
    return _found(tree)


def words(node: exp.Expr) -> str:
    """An expression as text, close to what the user wrote."""

    def unstamped(part: exp.Expr) -> exp.Expr:
        column: exp.Expr | None = part.meta.get(_STAMP)
        return part if column is None else column.copy()

    return node.copy().transform(unstamped).sql(DIALECT, comments=False)


def _found(node: exp.Expr) -> Type:
    return _OURS.get(node.type.this, Type.UNKNOWN) if node.type else Type.UNKNOWN


def _check(node: exp.Expr) -> None:
    if isinstance(node, exp.Cast):
        _check_cast(node)
        return
    for one, two in _compared(node):
        types = _found(one), _found(two)
        if not (types[0].accepts(types[1]) or types[1].accepts(types[0])):
            raise Wrong(
                f"can't compare {words(one)}, {a(types[0])}, with {words(two)}, {a(types[1])}."
            )
    for part, wanted in _wanted(node):
        got = _found(part)
        if not wanted.accepts(got):
            raise Wrong(f"expected {_noun(wanted)}, got {words(part)}, which is {a(got)}.")


def _noun(wanted: Type) -> str:
    return "a number" if wanted is Type.FLOAT else a(wanted)


def _check_cast(node: exp.Cast) -> None:
    if node.meta.get(_STAMP) is not None:
        return
    to = _found(node)
    if to is Type.UNKNOWN:
        raise Wrong(f"'{node.to.sql(DIALECT)}' in {words(node)} is not a field type.")
    if to is not Type.TIMESTAMP or isinstance(node.this, exp.Null):
        return
    if not isinstance(node.this, exp.Literal):
        raise Wrong(f"only a literal can be cast to a timestamp in SQL, not {words(node.this)}.")
    try:
        datetime.fromisoformat(node.this.name)
    except ValueError:
        raise Wrong(f"'{node.this.name}' is not a timestamp such as '2026-01-31 12:00'.") from None


def _compared(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    if isinstance(node, _COMPARISONS):
        yield node.this, node.expression
    elif isinstance(node, exp.In):
        yield from ((node.this, item) for item in node.expressions)
    elif isinstance(node, exp.Between):
        yield from ((node.this, node.args[end]) for end in ("low", "high"))


def _wanted(node: exp.Expr) -> Iterator[tuple[exp.Expr, Type]]:
    if isinstance(node, exp.And | exp.Or):
        yield from ((part, Type.BOOL) for part in (node.this, node.expression))
    elif isinstance(node, exp.Not):
        yield node.this, Type.BOOL
    elif isinstance(node, exp.Like | exp.ILike | exp.DPipe):
        yield from ((part, Type.STR) for part in (node.this, node.expression))
    elif isinstance(node, _ARITHMETIC):
        yield from ((part, Type.FLOAT) for part in (node.this, node.expression))
    elif isinstance(node, exp.Neg | exp.Sum | exp.Avg):
        yield node.this, Type.FLOAT
