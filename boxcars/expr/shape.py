"""Properties of a tree: the fields it reads, and whether it increases with a field."""

from __future__ import annotations

from sqlglot import exp

from boxcars.expr.cast import type_named
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

_INCREASING = ("floor", "ceil", "ceiling", "epoch", "from_epoch")


def fields_of(root: exp.Expr) -> frozenset[str]:
    """Return the names of the fields a tree reads."""
    return frozenset(node.name for node in root.find_all(exp.Column))


def conjuncts_of(root: exp.Expr) -> list[exp.Expr]:
    """Return the terms of a chain of ANDs, from left to right."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.And):
            waiting += [node.expression, node.this]
        else:
            found.append(node)
    return found


def increasing(node: exp.Expr, field: str) -> bool:
    """Whether a tree reads a single field and never decreases while the field increases."""
    if isinstance(node, exp.Column):
        return node.name == field
    if isinstance(node, exp.Add) and _number(node.this) is not None:
        return increasing(node.expression, field)
    if isinstance(node, exp.Add | exp.Sub):
        return _number(node.expression) is not None and increasing(node.this, field)
    if isinstance(node, exp.Mul) and (_number(node.this) or 0) > 0:
        return increasing(node.expression, field)
    if isinstance(node, exp.Mul | exp.Div | exp.IntDiv):
        return (_number(node.expression) or 0) > 0 and increasing(node.this, field)
    return _increasing_call(node, field)


def _increasing_call(node: exp.Expr, field: str) -> bool:
    if isinstance(node, exp.Anonymous):
        single = str(node.this) in _INCREASING and len(node.expressions) == 1
        return single and increasing(node.expressions[0], field)
    return isinstance(node, exp.Cast) and _to_number(node) and increasing(node.this, field)


def _to_number(node: exp.Cast) -> bool:
    try:
        return type_named(node.args["to"].name) in (Type.INT, Type.FLOAT)
    except Wrong:
        return False


def _number(node: exp.Expr) -> float | None:
    """Return the number of a literal node, or None."""
    if isinstance(node, exp.Neg):
        positive = _number(node.this)
        return None if positive is None else -positive
    return float(node.name) if isinstance(node, exp.Literal) and not node.is_string else None
