"""Parses one SQL statement and rejects what a box does not support."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from boxcars.expr.functions import refuse_clock
from boxcars.model.problem import Wrong

DIALECT = "postgres"
"""The SQL dialect of the user; it is translated to that of the store."""


class Kind(Enum):
    """The kinds of statements; there is a box for each."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


_NODES: Mapping[Kind, type[exp.Expr]] = {
    Kind.SELECT: exp.Select,
    Kind.INSERT: exp.Insert,
    Kind.UPDATE: exp.Update,
    Kind.DELETE: exp.Delete,
}
_PARTS: Mapping[Kind, str] = {
    Kind.SELECT: "expressions distinct from_ joins where group having order limit offset",
    Kind.INSERT: "this expression conflict",
    Kind.UPDATE: "this expressions where",
    Kind.DELETE: "this where",
}
"""The clauses that each kind of statement may have."""


@lru_cache(maxsize=1_000)
def parse(text: str, kind: Kind) -> exp.Expr:
    """The tree of a statement of that kind; cached, so do not modify it."""
    if "\0" in text:
        raise Wrong("the SQL contains a null character.")
    try:
        trees = [tree for tree in sqlglot.parse(text, read=DIALECT) if tree is not None]
    except SqlglotError as error:
        raise Wrong(f"the SQL can't be read: {_reason(error)}") from None
    if len(trees) != 1:
        raise Wrong(f"expected one statement, got {len(trees) or 'none'}.")
    (tree,) = trees
    if not isinstance(tree, _NODES[kind]):
        raise Wrong(f"expected {kind.value} ..., got '{_first_word(text)} ...'.")
    _refuse_parts(tree, kind)
    for node in tree.walk():
        _refuse(node, tree)
    return tree


def _reason(error: SqlglotError) -> str:
    if not isinstance(error, ParseError) or not error.errors:
        return "is a quote or a comment left open?"
    first = error.errors[0]
    near = first.get("highlight")
    return f"line {first['line']}, near '{near}'." if near else f"line {first['line']}."


def _first_word(text: str) -> str:
    return (text.split() or [""])[0]


def _refuse_parts(tree: exp.Expr, kind: Kind) -> None:
    for part, value in tree.args.items():
        if value and part not in _PARTS[kind].split():
            word = part.strip("_").replace("_", " ").upper()
            raise Wrong(f"{word} is not supported in the {kind.value} of a box.")


def _refuse(node: exp.Expr, root: exp.Expr) -> None:
    """Reject what a box does not support, or what is not deterministic."""
    if isinstance(node, exp.Query | exp.Subquery) and node is not root:
        if not isinstance(node, exp.Values | exp.Table):
            raise Wrong("subqueries are not supported in a box: use two boxes.")
    elif isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
        raise Wrong(f"write input.<field> for a value of the tuple, not '{node.sql(DIALECT)}'.")
    elif isinstance(node, exp.Join) and (node.args.get("using") or node.args.get("method")):
        raise Wrong("write JOIN ... ON, with the columns to compare.")
    elif isinstance(node, exp.Anonymous):
        refuse_clock(str(node.this))
        raise Wrong(f"unknown function '{node.this}'.")
    elif isinstance(node, exp.Func):
        refuse_clock(node.sql_name().lower())
        if isinstance(node, exp.Rand | exp.Uuid):
            refuse_clock("random")


def tables_of(text: str, kind: Kind) -> tuple[str, ...]:
    """The tables that a statement names, each once; none if it can't be parsed.

    >>> tables_of("SELECT a.x FROM a JOIN b ON a.k = b.k", Kind.SELECT)
    ('a', 'b')
    """
    try:
        tree = parse(text, kind)
    except Wrong:
        return ()
    return tuple(dict.fromkeys(table.name for table in tree.find_all(exp.Table)))
