"""Translates a tree to one typed Polars expression."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from sqlglot import exp

from boxcars.expr.cast import cast, type_named
from boxcars.expr.cursor import shorten
from boxcars.expr.functions import lookup, refuse_clock
from boxcars.expr.operators import OPERATORS, bools, same_type
from boxcars.expr.parse import Tree
from boxcars.expr.value import Value, common, listed, literal
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type

_INT_MAX = 2**63 - 1


def translate(tree: Tree, schema: Schema) -> Value:
    """Return the value of a tree over the fields of a schema.

    >>> from boxcars.expr.parse import parse
    >>> translate(parse("price * 2"), Schema.of({"price": "float", "t": "int"}, "t")).type
    <Type.FLOAT: 'float'>
    """
    return _Translator(tree, schema).value(tree.root)


class _Translator:
    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.tree = tree
        self.schema = schema

    def value(self, node: exp.Expr) -> Value:
        """Return the value of a node; chains of operators are walked, not recursed into."""
        chain = []
        while type(node) in OPERATORS:
            chain.append(node)
            node = node.this
        value = _NODES[type(node)](self, node)
        for link in reversed(chain):
            type_, expr = OPERATORS[type(link)](value, self.value(link.expression))
            value = self.typed(link, type_, expr)
        return value

    def typed(self, node: exp.Expr, type_: Type, expr: pl.Expr) -> Value:
        return Value(type_, expr, self.tree.words(node))

    def field(self, node: exp.Expr) -> Value:
        if node.name not in self.schema:
            refuse_clock(node.name)
            raise unknown_field(node.name, self.schema)
        return self.typed(node, self.schema[node.name], pl.col(node.name))

    def literal(self, node: exp.Expr) -> Value:
        words = self.tree.words(node)
        if node.is_string:
            return literal(node.name, words)
        if not node.name.isdigit():
            return literal(float(node.name), words)
        return self.integer(node.name, 1, words)

    def integer(self, digits: str, sign: int, words: str) -> Value:
        short = (
            digits.lstrip("0")[:20] or "0"
        )  # 20 digits overflow 64 bits, and int() rejects 4,300
        number = sign * int(short)
        if not -_INT_MAX - 1 <= number <= _INT_MAX:
            raise Wrong(f"{shorten(words)} is too large for a 64-bit int.")
        return literal(number, words)

    def boolean(self, node: exp.Expr) -> Value:
        return literal(bool(node.this), self.tree.words(node))

    def null(self, node: exp.Expr) -> Value:
        return literal(None, self.tree.words(node))

    def negative(self, node: exp.Expr) -> Value:
        if isinstance(node.this, exp.Literal) and node.this.name.isdigit():
            return self.integer(node.this.name, -1, self.tree.words(node))
        value = self.value(node.this)
        if not value.type.numeric:
            raise Wrong(f"- needs a number, got {value}.")
        if value.is_constant and value.constant is not None:
            return literal(-value.constant, self.tree.words(node))
        return self.typed(node, value.type, -value.expr)

    def negation(self, node: exp.Expr) -> Value:
        (expr,) = bools("NOT", self.value(node.this))
        return self.typed(node, Type.BOOL, expr.not_())

    def is_constant(self, node: exp.Expr) -> Value:
        value = self.value(node.this)
        if isinstance(node.expression, exp.Null):
            return self.typed(node, Type.BOOL, value.expr.is_null())
        wanted = bool(node.expression.this)
        (expr,) = bools(f"IS {str(wanted).upper()}", value)
        return self.typed(node, Type.BOOL, expr.eq_missing(pl.lit(wanted)))

    def one_of(self, node: exp.Expr) -> Value:
        value = self.value(node.this)
        pairs = [same_type(value, self.value(item)) for item in node.expressions]
        constants = [item.constant for _, item in pairs]
        if all(item.is_constant for _, item in pairs) and None not in constants:
            type_ = common(left.type for left, _ in pairs) or value.type
            choices = pl.Series(constants, dtype=type_.dtype).implode()
            return self.typed(node, Type.BOOL, value.to(type_).expr.is_in(choices))
        equal = [left.expr == right.expr for left, right in pairs]
        return self.typed(node, Type.BOOL, pl.any_horizontal(equal).cast(pl.Boolean))

    def between(self, node: exp.Expr) -> Value:
        value = self.value(node.this)
        above, low = same_type(value, self.value(node.args["low"]))
        below, high = same_type(value, self.value(node.args["high"]))
        return self.typed(node, Type.BOOL, (above.expr >= low.expr) & (below.expr <= high.expr))

    def cast(self, node: exp.Expr) -> Value:
        to = type_named(node.args["to"].name)
        return self.typed(node, to, cast(self.value(node.this), to))

    def case(self, node: exp.Expr) -> Value:
        subject = self.value(node.this) if node.this else None
        conditions = [self.condition(branch.this, subject) for branch in node.args["ifs"]]
        results = [self.value(branch.args["true"]) for branch in node.args["ifs"]]
        default = node.args.get("default")
        results.append(self.value(default) if default else literal(None, "NULL"))
        type_ = common(result.type for result in results)
        if type_ is None:
            typed = [result for result in results if result.type is not Type.UNKNOWN]
            raise Wrong(f"the branches of CASE must have one type, got {listed(typed)}.")
        *exprs, last = [result.to(type_).expr for result in results]
        for condition, expr in zip(reversed(conditions), reversed(exprs), strict=True):
            last = pl.when(condition).then(expr).otherwise(last)
        return self.typed(node, type_, last)

    def condition(self, node: exp.Expr, subject: Value | None) -> pl.Expr:
        value = self.value(node)
        if subject is None:
            (expr,) = bools("WHEN", value)
            return expr
        left, right = same_type(subject, value)
        return left.expr == right.expr

    def call(self, node: exp.Expr) -> Value:
        name = str(node.this)
        function = lookup(name)
        type_, expr = function.apply(name, [self.value(item) for item in node.expressions])
        return self.typed(node, type_, expr)


def unknown_field(name: str, schema: Schema) -> Wrong:
    """Return the error about an unknown field."""
    return Wrong(f"unknown field '{name}'.{nearest(name, schema.fields)}")


_NODES: dict[type[exp.Expr], Callable[[_Translator, exp.Expr], Value]] = {
    exp.Column: _Translator.field,
    exp.Literal: _Translator.literal,
    exp.Boolean: _Translator.boolean,
    exp.Null: _Translator.null,
    exp.Neg: _Translator.negative,
    exp.Not: _Translator.negation,
    exp.Is: _Translator.is_constant,
    exp.In: _Translator.one_of,
    exp.Between: _Translator.between,
    exp.Cast: _Translator.cast,
    exp.Case: _Translator.case,
    exp.Anonymous: _Translator.call,
}
