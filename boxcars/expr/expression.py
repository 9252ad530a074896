"""An expression over the fields of a tuple: the interface of this package.

Evaluating an expression never fails: what can't be computed is null. That holds for division by
zero, for casts, for numbers outside a function's domain and for texts that are not addresses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl
from sqlglot import exp

from boxcars.expr.cursor import shorten
from boxcars.expr.functions import version
from boxcars.expr.parse import parse
from boxcars.expr.shape import conjuncts_of, fields_of, increasing
from boxcars.expr.stored import POLARS, restore, store
from boxcars.expr.translate import translate, unknown_field
from boxcars.model.problem import Wrong, a
from boxcars.model.schema import Schema
from boxcars.model.timestamps import bounded
from boxcars.model.types import Type

_NO_FIELDS = Schema.of({"t": "int"}, "t")
"""The schema of an expression without fields; any would do."""


@dataclass(frozen=True)
class Expr:
    """An expression, identified by its text.

    >>> calls = Schema.of({"caller": "str", "price": "float", "time": "int"}, ts="time")
    >>> Expr.of("price * 2 > 5").type_in(calls)
    <Type.BOOL: 'bool'>
    >>> Expr.of("prise > 5").type_in(calls)
    Traceback (most recent call last):
    boxcars.model.problem.Wrong: unknown field 'prise'. Did you mean 'price'?
    """

    text: str

    @classmethod
    def of(cls, source: str | int | float | bool | pl.Expr | Expr) -> Expr:
        """Return an expression from SQL, a constant, or a Polars expression.

        >>> Expr.of(5), Expr.of(True)
        (Expr(text='5'), Expr(text='true'))
        """
        if isinstance(source, Expr):
            return source
        if isinstance(source, pl.Expr):
            return cls(store(source))
        return cls.from_plain(source)

    @classmethod
    def from_plain(cls, value: object) -> Expr:
        """Return an expression from a value in a file."""
        if isinstance(value, pl.Expr):
            return cls.of(value)
        if isinstance(value, bool):
            return cls(str(value).lower())
        if isinstance(value, str):
            return cls(value.strip())
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return cls(repr(value))
        raise Wrong(f"expected an expression, got {shorten(repr(value))}.")

    def __str__(self) -> str:
        return self.text

    def plain(self) -> str:
        """Return its text, as in files."""
        return self.text

    def type_in(self, schema: Schema) -> Type:
        """Return the type of its values; UNKNOWN if the schema or one of its fields is unknown."""
        return _compiled(self.text, schema, version())[0]

    def expect(self, expected: Type, schema: Schema) -> None:
        """Raise :class:`Wrong` unless it is of a type.

        >>> calls = Schema.of({"price": "float", "time": "int"}, ts="time")
        >>> Expr.of("price + 1").expect(Type.BOOL, calls)
        Traceback (most recent call last):
        boxcars.model.problem.Wrong: expected a bool, got 'price + 1' of type float.
        """
        found = self.type_in(schema)
        if not expected.accepts(found):
            words = shorten(self.text)
            raise Wrong(f"expected {a(expected)}, got '{words}' of type {found}.")

    def compile(self, schema: Schema) -> pl.Expr:
        """Return the Polars expression that computes it, cast to the Polars type of its type.

        >>> calls = Schema.of({"price": "float", "time": "int"}, ts="time")
        >>> frame = pl.DataFrame({"price": [1.5, None], "time": [1, 2]})
        >>> frame.select(Expr.of("price / 0.5").compile(calls)).to_series().to_list()
        [3.0, None]
        """
        return _compiled(self.text, schema, version())[1]

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields it reads.

        >>> sorted(Expr.of("left.k = right.k AND n > 1").fields)
        ['left.k', 'n', 'right.k']
        """
        if self.polars is not None:
            return frozenset(self.polars.meta.root_names())
        return fields_of(parse(self.text).root)

    @property
    def polars(self) -> pl.Expr | None:
        """The Polars expression it was made from, if any; raises Wrong if it is not trusted."""
        return restore(self.text) if self.text.startswith(POLARS) else None

    def is_field(self) -> str | None:
        """Return the name of the field if it is just a field."""
        try:
            if self.polars is not None:
                return self.polars.meta.output_name() if self.polars.meta.is_column() else None
            root = parse(self.text).root
        except Wrong:
            return None
        return root.name if isinstance(root, exp.Column) else None

    def increasing_in(self, field: str) -> bool:
        """Whether it never decreases while ``field``, the only one it reads, increases.

        >>> Expr.of("floor(time / 60)").increasing_in("time")
        True
        >>> Expr.of("time * -1").increasing_in("time")
        False
        """
        try:
            if self.polars is not None:
                return self.is_field() == field
            return increasing(parse(self.text).root, field)
        except Wrong:
            return False


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Return the terms that AND connects.

    >>> conjuncts(Expr.of("a = 1 AND (b = 2 AND c)"))
    (Expr(text='a = 1'), Expr(text='b = 2'), Expr(text='c'))
    """
    if expr.polars is not None:
        return (expr,)
    tree = parse(expr.text)
    return tuple(Expr(tree.words(node)) for node in conjuncts_of(tree.root))


def constant_value(expr: Expr) -> Any:
    """The value of a constant expression.

    >>> constant_value(Expr.of("1 / 2.0"))
    0.5
    """
    if expr.fields:
        raise Wrong(f"needs a constant, got '{expr.text}'.")
    return pl.select(expr.compile(_NO_FIELDS)).item()


def call(expr: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    """Return the function and its arguments if the expression is a call, known or not.

    >>> call(Expr.of("First(time)")), call(Expr.of("count(*)")), call(Expr.of("a + 1"))
    (('first', (Expr(text='time'),)), ('count', ()), None)
    """
    if expr.polars is not None:
        return None
    tree = parse(expr.text)
    if not isinstance(tree.root, exp.Anonymous):
        return None
    arguments = tuple(Expr(tree.words(node)) for node in tree.root.expressions)
    return str(tree.root.this), arguments


@lru_cache(maxsize=10_000)
def _compiled(text: str, schema: Schema, _version: int) -> tuple[Type, pl.Expr]:
    """Return type and Polars expression of a text; cached per version of the catalogue."""
    expr = Expr(text)
    names = expr.fields
    if not schema.known:
        return Type.UNKNOWN, pl.lit(None)
    if any(name in schema and schema[name] is Type.UNKNOWN for name in names):
        return Type.UNKNOWN, pl.lit(None)
    if expr.polars is not None:
        return _typed_by_polars(expr.polars, schema)
    value = translate(parse(text), schema)
    if value.type is Type.UNKNOWN:
        words = shorten(text)
        raise Wrong(f"the type of '{words}' is unknown: write it like CAST(NULL AS int).")
    return value.type, value.expr


def _typed_by_polars(expr: pl.Expr, schema: Schema) -> tuple[Type, pl.Expr]:
    for name in expr.meta.root_names():
        if name not in schema:
            raise unknown_field(name, schema)
    try:
        (dtype,) = schema.empty().select(expr.alias("result")).dtypes
    except pl.exceptions.PolarsError as error:
        raise Wrong(f"Polars can't compute it: {str(error).partition(chr(10))[0]}.") from None
    found = Type.of(dtype)
    if found is None:
        raise Wrong(f"the Polars type {dtype} is not a field type.")
    result = expr if dtype == found.dtype else expr.cast(found.dtype, strict=False)
    return found, bounded(result.to_physical()) if found is Type.TIMESTAMP else result
