"""An SQL statement that a box runs for each tuple, checked against tables and input.

The tuple is named ``input``: ``SELECT * FROM DB WHERE DB.Phone = input.Phone``. In the tree of a
checked statement every other column is qualified by its table, and stars are expanded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from boxcars.model.entities import Table
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong, a, nearest
from boxcars.model.schema import Schema, name_problem
from boxcars.model.types import Type
from boxcars.sql.parse import Kind, parse, tables_of
from boxcars.sql.types import type_of, words

__all__ = ["INPUT", "Column", "Kind", "Statement", "tables_of"]

INPUT = "input"
"""The name of the tuple in a statement."""
EXCLUDED = "excluded"
"""The name of the record that could not be inserted, after ON CONFLICT."""


@dataclass(frozen=True)
class Column:
    """A column of the result records; ``table`` is empty if the user named the column."""

    name: str
    type: Type
    table: str = ""


@dataclass(frozen=True)
class Match:
    """A term of WHERE such as ``DB.Phone = input.Caller``."""

    table: str
    column: str
    field: str


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement checked against its tables and its input.

    ``fields`` are the fields of the tuple that it reads, ``columns`` those of its result.
    ``matches`` are the columns that WHERE compares with a field for equality.
    """

    kind: Kind
    tree: exp.Expr
    tables: tuple[str, ...]
    fields: Fields[Type]
    columns: tuple[Column, ...]
    matches: tuple[Match, ...] = ()

    @classmethod
    def of(cls, kind: Kind, text: str, tables: Mapping[str, Table], schema: Schema) -> Statement:
        """Check a statement; raises :class:`Wrong` with one sentence."""
        return _checked(kind, text, Fields(tables), schema)

    @property
    def where_fields(self) -> tuple[str, ...]:
        """The fields of the tuple in WHERE, each once."""
        where = self.tree.args.get("where")
        columns = where.find_all(exp.Column, bfs=False) if where else ()
        return tuple(dict.fromkeys(c.name for c in columns if c.table == INPUT))

    @property
    def one_by_one(self) -> bool:
        """Whether it must run per tuple, since tuples can't be looked up together."""
        tree = self.tree
        return (
            self.kind is not Kind.SELECT
            or any(tree.args.get(part) for part in ("group", "having", "limit", "offset"))
            or tree.args.get("distinct") is not None
            or tree.find(exp.AggFunc, exp.Window) is not None
            or any(join.side in ("RIGHT", "FULL") for join in tree.args.get("joins") or ())
        )


@lru_cache(maxsize=1_000)
def _checked(kind: Kind, text: str, tables: Fields[Table], schema: Schema) -> Statement:
    return _Checker(kind, parse(text, kind).copy(), tables, schema).statement()


class _Checker:
    def __init__(
        self, kind: Kind, tree: exp.Expr, tables: Mapping[str, Table], schema: Schema
    ) -> None:
        self.kind = kind
        self.tree = tree
        self.tables = tables
        self.schema = schema
        self.named: dict[str, str] = {}
        """The tables by their aliases in the statement."""

    def statement(self) -> Statement:
        for table in list(self.tree.find_all(exp.Table)):
            self._table(table)
        if self.kind is Kind.SELECT:
            self._write_out_stars()
            self._write_out_order()
        if self.kind is Kind.INSERT:
            self._insert_names()
        for column in list(self.tree.find_all(exp.Column)):
            self._column(column)
        columns = self._types()
        taken = (c for c in self.tree.find_all(exp.Column) if c.table == INPUT)
        fields = {c.name: self._type(c) for c in taken}
        tables = tuple(dict.fromkeys(self.named.values()))
        return Statement(
            self.kind, self.tree, tables, Fields(fields), columns, tuple(self._matches())
        )

    # Names.

    def _table(self, table: exp.Table) -> None:
        if not isinstance(table.this, exp.Identifier) or table.db:
            raise Wrong(f"expected a table of the network, got '{words(table)}'.")
        if table.name not in self.tables:
            raise Wrong(f"there is no table '{table.name}'.{nearest(table.name, self.tables)}")
        alias = table.alias_or_name
        if alias in (INPUT, EXCLUDED):
            raise Wrong(f"'{alias}' can't be the name of a table: it is a reserved name.")
        if alias in self.named:
            raise Wrong(f"two tables are named '{alias}': give one an alias.")
        self.named[alias] = table.name

    def _write_out_stars(self) -> None:
        written: list[exp.Expr] = []
        for node in self.tree.expressions:
            if not node.is_star or isinstance(node, exp.Func):
                written.append(node)
                continue
            if isinstance(node, exp.Column) and node.table not in self.named:
                raise self._unknown_table(node.table)
            aliases = [node.table] if isinstance(node, exp.Column) else list(self.named)
            written += [
                exp.column(name, alias)
                for alias in aliases
                for name in self.tables[self.named[alias]].fields
            ]
        self.tree.set("expressions", written)

    def _write_out_order(self) -> None:
        """Replace names and numbers of columns in ORDER BY by their SELECT expressions."""
        named = {node.alias: node for node in self.tree.expressions if isinstance(node, exp.Alias)}
        for node in order.expressions if (order := self.tree.args.get("order")) else ():
            what, found = node.this, None
            if isinstance(what, exp.Literal) and what.is_int:
                number = int(what.name)
                if not 1 <= number <= len(self.tree.expressions):
                    raise Wrong(f"ORDER BY {number}: there is no such column.")
                found = self.tree.expressions[number - 1]
            elif isinstance(what, exp.Column) and not what.table:
                found = named.get(what.name)
            if found is not None:
                node.set("this", found.unalias().copy())

    def _insert_names(self) -> None:
        """Bare names in VALUES are fields of the tuple, as in the thesis."""
        values = self.tree.expression
        if not isinstance(values, exp.Values):
            raise Wrong("expected INSERT INTO ... VALUES (...).")
        for column in values.find_all(exp.Column):
            if column.table not in ("", INPUT):
                raise Wrong(f"VALUES takes values of the tuple, not {words(column)}.")
            column.set("table", exp.to_identifier(INPUT))
        conflict = self.tree.args.get("conflict")
        if conflict is None:
            return
        keys = [key.find(exp.Column) or key for key in conflict.args.get("conflict_keys") or ()]
        conflict.set("conflict_keys", [exp.to_identifier(key.name) for key in keys])
        (table,) = self.named
        for key in keys:
            self._known_column(table, key.name)

    def _column(self, column: exp.Column) -> None:
        if column.args.get("db"):
            raise Wrong(f"expected a column or a table and its column, got '{words(column)}'.")
        name, table = column.name, column.table
        if table == INPUT:
            if self.schema.known and name not in self.schema:
                raise Wrong(f"the input has no field '{name}'.{nearest(name, self.schema.fields)}")
        elif table == EXCLUDED and self.tree.args.get("conflict"):
            self._known_column(next(iter(self.named)), name)
        elif table:
            if table not in self.named:
                raise self._unknown_table(table)
            self._known_column(table, name)
        else:
            column.set("table", exp.to_identifier(self._owner(name)))

    def _known_column(self, alias: str, name: str) -> None:
        fields = self.tables[self.named[alias]].fields
        if name not in fields:
            raise Wrong(
                f"table '{self.named[alias]}' has no column '{name}'.{nearest(name, fields)}"
            )

    def _owner(self, name: str) -> str:
        """The table of an unqualified column."""
        owners = [alias for alias, t in self.named.items() if name in self.tables[t].fields]
        if len(owners) > 1:
            raise Wrong(
                f"'{name}' is ambiguous: write {' or '.join(f'{o}.{name}' for o in owners)}."
            )
        if owners:
            return owners[0]
        if name in self.schema:
            raise Wrong(
                f"no table has a column '{name}': for the field of the tuple write input.{name}."
            )
        every = [n for table in self.named.values() for n in self.tables[table].fields]
        raise Wrong(f"no table has a column '{name}'.{nearest(name, every)}")

    def _unknown_table(self, name: str) -> Wrong:
        hint = nearest(name, [INPUT, *self.named])
        return Wrong(f"the statement does not name a table '{name}'.{hint}")

    # Types.

    def _type(self, column: exp.Column) -> Type:
        if column.table == INPUT:
            return self.schema[column.name] if self.schema.known else Type.UNKNOWN
        table = self.named.get(column.table) or next(iter(self.named.values()))
        return self.tables[table].fields[column.name]

    def _types(self) -> tuple[Column, ...]:
        """Check the types of all clauses; returns the columns of the result."""
        for part in ("where", "having"):
            if node := self.tree.args.get(part):
                self._expect(node.this, Type.BOOL, part.upper())
        for join in self.tree.args.get("joins") or ():
            if condition := join.args.get("on"):
                self._expect(condition, Type.BOOL, "ON")
        if self.kind is Kind.SELECT:
            return self._select_types()
        self._assignments()
        (table,) = self.named.values()
        fields = self.tables[table].fields
        return tuple(Column(name, type_, table) for name, type_ in fields.items())

    def _expect(self, node: exp.Expr, expected: Type, where: str) -> None:
        got = type_of(node, self._type)
        if not expected.accepts(got):
            raise Wrong(f"{where}: expected {a(expected)}, got {words(node)}, which is {a(got)}.")

    def _select_types(self) -> tuple[Column, ...]:
        if not self.named:
            raise Wrong("expected SELECT ... FROM a table of the network.")
        if self.tree.args.get("limit") and not self.tree.args.get("order"):
            raise Wrong("LIMIT needs ORDER BY: otherwise the records returned are arbitrary.")
        for node in self.tree.find_all(exp.Ordered):
            type_of(node.this, self._type)
        return tuple(map(self._projection, self.tree.expressions))

    def _projection(self, node: exp.Expr) -> Column:
        inner = node.unalias()
        type_ = type_of(inner, self._type)
        if type_ is Type.UNKNOWN and self.schema.known:
            raise Wrong(
                f"the type of {words(inner)} is unknown: write CAST({words(inner)} AS ...)."
            )
        if isinstance(node, exp.Column):
            return Column(node.name, type_, "" if node.table == INPUT else self.named[node.table])
        if not isinstance(node, exp.Alias):
            raise Wrong(f"give {words(node)} a name: {words(node)} AS ...")
        if problem := name_problem(node.alias):
            raise Wrong(problem)
        return Column(node.alias, type_)

    def _assignments(self) -> None:
        """Check the types of assigned values."""
        (alias,) = self.named
        fields = self.tables[self.named[alias]].fields
        for name, value in self._assigned(alias):
            got = type_of(value, self._type)
            if not fields[name].accepts(got):
                raise Wrong(f"column '{name}' is {a(fields[name])}, {words(value)} is {a(got)}.")

    def _assigned(self, alias: str) -> Iterator[tuple[str, exp.Expr]]:
        conflict = self.tree.args.get("conflict")
        changes = [*(self.tree.expressions if self.kind is Kind.UPDATE else ())]
        changes += [*(conflict.expressions if conflict else ())]
        for change in changes:
            if not isinstance(change, exp.EQ) or not isinstance(change.this, exp.Column):
                raise Wrong(f"expected SET column = ..., got '{words(change)}'.")
            if change.this.table != alias:
                raise Wrong(f"only columns of '{alias}' can be set, not {words(change.this)}.")
            change.this.set("table", None)
            yield change.this.name, change.expression
        if self.kind is Kind.INSERT:
            names = self._insert_columns(alias)
            for record in self.tree.expression.expressions:
                if len(record.expressions) != len(names):
                    raise Wrong(
                        f"expected {len(names)} values, for {', '.join(names)}; "
                        f"got {len(record.expressions)}."
                    )
                yield from zip(names, record.expressions, strict=True)

    def _insert_columns(self, alias: str) -> list[str]:
        into = self.tree.this
        if not isinstance(into, exp.Schema):
            names = list(self.tables[self.named[alias]].fields)
            columns = [exp.to_identifier(name) for name in names]
            self.tree.set("this", exp.Schema(this=into, expressions=columns))
            return names
        names = [column.name for column in into.expressions]
        for name in names:
            self._known_column(alias, name)
        return names

    def _matches(self) -> Iterator[Match]:
        where = self.tree.args.get("where")
        if where is None:
            return
        for term in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
            sides = (term.this, term.expression) if isinstance(term, exp.EQ) else ()
            if len(sides) == 2 and all(isinstance(side, exp.Column) for side in sides):
                stored = [side for side in sides if side.table != INPUT]
                given = [side for side in sides if side.table == INPUT]
                if stored and given:
                    table = self.named[stored[0].table]
                    yield Match(table, stored[0].name, given[0].name)
