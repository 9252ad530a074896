"""Writes a statement as SQL text for a store: its dialect, table names and parameters.

A value of the tuple is never part of the text: it is bound to a parameter of the statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlglot import exp

from boxcars.model.types import Type
from boxcars.sql.parse import Kind
from boxcars.sql.statement import INPUT, Statement
from boxcars.sql.types import SQL_TYPES

NUMBER = "__n"
"""The number of the tuple that a record belongs to, in a query for many tuples."""

_MARK = re.compile("\0(.*?)\0", re.S)
SQLITE_TIME = "%Y-%m-%d %H:%M:%S%.6f"
"""The text format of timestamps, whose order as text is that of time."""


@dataclass(frozen=True)
class Dialect:
    """The dialect of a store: its name, its parameter marker, and its type support."""

    name: str
    sign: str
    typed: bool
    """Whether parameters need types, timestamps are a type of their own, and arrays exist."""


SQLITE = Dialect("sqlite", "?", typed=False)
POSTGRES = Dialect("postgres", "%s", typed=True)


@dataclass(frozen=True)
class Text:
    """SQL text to execute, and the fields bound to its parameters, in order."""

    sql: str
    fields: tuple[str, ...]


def write_one(statement: Statement, dialect: Dialect, stored: Mapping[str, str]) -> Text:
    """The statement for one tuple; ``stored`` has the names of the tables in the store."""

    def marked(node: exp.Expr) -> exp.Expr:
        if not (isinstance(node, exp.Column) and node.table == INPUT):
            return node
        mark = exp.Var(this=f"\0{node.name}\0")
        return _typed(mark, statement.fields[node.name], dialect)

    tree = _stored(statement, dialect, stored).transform(marked)
    if statement.kind is Kind.SELECT and tree.args.get("order"):
        _break_ties(tree, first=1)
    if statement.kind in (Kind.UPDATE, Kind.DELETE):
        columns = [exp.column(column.name, quoted=True) for column in statement.columns]
        tree.set("returning", exp.Returning(expressions=columns))
    return _bound(tree.sql(dialect.name, identify=True, comments=False), dialect)


def write_many(
    statement: Statement, dialect: Dialect, stored: Mapping[str, str], tuples: int
) -> Text:
    """The query for many tuples at once: a join with their values.

    The first column of a record is the number of its tuple, starting at 1.
    """
    tree = _stored(statement, dialect, stored)
    number = exp.column(NUMBER, INPUT, quoted=True)
    first = tree.args["from_"].this
    tree.set("from_", exp.From(this=exp.to_table(INPUT)))
    tree.set("joins", [exp.Join(this=first, kind="CROSS"), *(tree.args.get("joins") or ())])
    tree.set("expressions", [number, *tree.expressions])
    if order := tree.args.get("order"):
        order.set("expressions", [exp.Ordered(this=number.copy()), *order.expressions])
        _break_ties(tree, first=2)
    names = [exp.to_identifier(n, quoted=True).sql() for n in (*statement.fields, NUMBER)]
    values = _arrays(statement) if dialect.typed else _rows(statement, tuples)
    head = f'WITH "{INPUT}" ({", ".join(names)}) AS ({values}) '
    return _bound(head + tree.sql(dialect.name, identify=True, comments=False), dialect)


def _arrays(statement: Statement) -> str:
    """Tuples from one array per field: the text is short, however many they are."""
    marks = (f"CAST(\0{name}\0 AS {SQL_TYPES[t]}[])" for name, t in statement.fields.items())
    return f"SELECT * FROM UNNEST({', '.join(marks)}) WITH ORDINALITY"


def _rows(statement: Statement, tuples: int) -> str:
    """Tuples from one parameter per value."""
    marks = ", ".join(f"\0{name}\0" for name in statement.fields)
    return "VALUES " + ", ".join(f"({marks}, {n})" for n in range(1, tuples + 1))


def _typed(mark: exp.Expr, type_: Type, dialect: Dialect) -> exp.Expr:
    """A parameter, cast to its type where the store requires it."""
    return exp.cast(mark, SQL_TYPES[type_], dialect="postgres") if dialect.typed else mark


def _stored(statement: Statement, dialect: Dialect, stored: Mapping[str, str]) -> exp.Expr:
    """The tree with the table names of the store, adapted to its dialect."""

    def renamed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table) and node.name in stored:
            name = stored[node.name]
            if name != node.name and not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, quoted=True)))
            node.set("this", exp.to_identifier(name, quoted=True))
        elif isinstance(node, exp.Cast) and node.is_type("timestamp") and not dialect.typed:
            return _moment(node.this)
        return node

    return statement.tree.copy().transform(renamed)


def _moment(node: exp.Expr) -> exp.Expr:
    """A literal timestamp as SQLite stores it: as text."""
    if isinstance(node, exp.Null):
        return node
    moment = datetime.fromisoformat(node.name).replace(tzinfo=None)
    return exp.Literal.string(moment.isoformat(" ", "microseconds"))


def _break_ties(tree: exp.Expr, first: int) -> None:
    """Break ties of the user's ORDER BY by the columns themselves."""
    order = tree.args["order"]
    numbers = range(first, len(tree.expressions) + 1)
    ties = [exp.Ordered(this=exp.Literal.number(n), nulls_first=True) for n in numbers]
    order.set("expressions", [*order.expressions, *ties])


def _bound(sql: str, dialect: Dialect) -> Text:
    """Replace every mark by the parameter marker."""
    fields = tuple(_MARK.findall(sql))
    if dialect.sign != "?":
        sql = sql.replace("%", "%%")
    return Text(_MARK.sub(dialect.sign, sql), fields)
