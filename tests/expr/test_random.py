"""Random expressions over random data, compared with an evaluator in plain Python."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from boxcars.expr import Expr
from boxcars.model.schema import Schema

SCHEMA = Schema.of({"i": "int", "j": "int", "x": "float", "p": "bool", "q": "bool"}, ts="i")
Row = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """An expression as text, and as a function of a row."""

    text: str
    at: Callable[[Row], Any]


def wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def strict(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: None if None in values else function(*values)


def binary(symbol: str, a: Node, b: Node, function: Callable[..., Any]) -> Node:
    return Node(f"({a.text} {symbol} {b.text})", lambda row: function(a.at(row), b.at(row)))


def both(a: bool | None, b: bool | None) -> bool | None:
    return False if False in (a, b) else None if None in (a, b) else True


def either(a: bool | None, b: bool | None) -> bool | None:
    return True if True in (a, b) else None if None in (a, b) else False


def leaf(name: str) -> Node:
    return Node(name, lambda row: row[name])


def constant(number: float) -> Node:
    return Node(f"({number!r})", lambda _: number)


INT_OPERATORS = {
    "+": strict(lambda a, b: wrap(a + b)),
    "-": strict(lambda a, b: wrap(a - b)),
    "*": strict(lambda a, b: wrap(a * b)),
    "//": strict(lambda a, b: wrap(a // b) if b else None),
    "%": strict(lambda a, b: a % b if b else None),
}
FLOAT_OPERATORS = {
    "+": strict(lambda a, b: a + b),
    "-": strict(lambda a, b: a - b),
    "*": strict(lambda a, b: a * b),
    "/": strict(lambda a, b: a / b if b else None),
}
COMPARISONS = {
    "=": strict(lambda a, b: a == b),
    "<>": strict(lambda a, b: a != b),
    "<": strict(lambda a, b: a < b),
    ">=": strict(lambda a, b: a >= b),
    "IS DISTINCT FROM": lambda a, b: a != b,
    "IS NOT DISTINCT FROM": lambda a, b: a == b,
}
INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
FLOATS = st.floats(-1e3, 1e3, allow_subnormal=False) | st.integers(-3, 3).map(float)


def operations(
    operands: st.SearchStrategy[Node], table: dict[str, Callable[..., Any]]
) -> st.SearchStrategy[Node]:
    return st.builds(
        lambda symbol, a, b: binary(symbol, a, b, table[symbol]),
        st.sampled_from(sorted(table)),
        operands,
        operands,
    )


def choice(condition: Node, yes: Node, no: Node) -> Node:
    text = f"CASE WHEN {condition.text} THEN {yes.text} ELSE {no.text} END"
    return Node(text, lambda row: yes.at(row) if condition.at(row) else no.at(row))


def is_null(a: Node) -> Node:
    return Node(f"({a.text} IS NULL)", lambda row: a.at(row) is None)


def negation(a: Node) -> Node:
    negated = strict(lambda value: not value)
    return Node(f"(NOT {a.text})", lambda row: negated(a.at(row)))


ints = st.recursive(
    st.sampled_from([leaf("i"), leaf("j")]) | INTS.map(constant),
    lambda inner: operations(inner, INT_OPERATORS),
    max_leaves=6,
)
floats = st.recursive(
    st.just(leaf("x")) | FLOATS.map(constant),
    lambda inner: operations(inner, FLOAT_OPERATORS),
    max_leaves=5,
)
bools = st.recursive(
    st.sampled_from([leaf("p"), leaf("q"), Node("true", lambda _: True)])
    | operations(ints, COMPARISONS)
    | operations(floats, COMPARISONS)
    | st.one_of(ints, floats).map(is_null),
    lambda inner: (
        operations(inner, {"AND": both, "OR": either})
        | inner.map(negation)
        | st.builds(choice, inner, inner, inner)
    ),
    max_leaves=6,
)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.none() | INTS,
            "j": st.none() | INTS,
            "x": st.none() | FLOATS,
            "p": st.none() | st.booleans(),
            "q": st.none() | st.booleans(),
        }
    ),
    min_size=1,
    max_size=6,
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return a == b and type(a) is type(b)


@given(node=st.one_of(ints, floats, bools), rows=rows)
@settings(max_examples=200, deadline=None)
def test_polars_agrees_with_python(node, rows):
    frame = pl.DataFrame(rows, schema=SCHEMA.dtypes, orient="row")
    expr = Expr.of(node.text)
    found = frame.with_columns(expr.compile(SCHEMA).alias("result"))["result"]
    assert found.dtype == expr.type_in(SCHEMA).dtype
    for got, row in zip(found.to_list(), rows, strict=True):
        assert same(got, node.at(row)), (node.text, row, got, node.at(row))
