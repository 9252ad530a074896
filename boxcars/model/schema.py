"""The schema of an arc: its fields, and its order attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from boxcars.model.ordered_map import Fields
from boxcars.model.types import Type

HIDDEN = "__"
"""The prefix of field names that belong to the engine."""


@dataclass(frozen=True)
class Schema:
    """The ordered fields of an arc, and ``ts``, its order attribute.

    ``ordered`` is false downstream of a box that recomputed ``ts``, so that it may decrease.

    >>> Schema.of({"caller": "str", "time": "int"}, ts="time").fields["time"]
    <Type.INT: 'int'>
    """

    fields: Fields[Type]
    ts: str
    ordered: bool = True

    @classmethod
    def of(cls, fields: Mapping[str, Type | str], ts: str) -> Schema:
        """Make a schema from names of types."""
        return cls(Fields({name: Type(type_) for name, type_ in fields.items()}), ts)

    def __contains__(self, name: object) -> bool:
        return name in self.fields

    def __getitem__(self, name: str) -> Type:
        return self.fields[name]

    def __str__(self) -> str:
        marks = {self.ts: "*"} if self.ordered else {self.ts: "?"}
        return ", ".join(f"{name}{marks.get(name, '')}: {t}" for name, t in self.fields.items())

    @property
    def known(self) -> bool:
        """Whether the fields are known; downstream of a broken box they are not."""
        return bool(self.fields)

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """The Polars types of the columns."""
        return {name: type_.dtype for name, type_ in self.fields.items()}

    def with_fields(self, fields: Mapping[str, Type] | Iterable[tuple[str, Type]]) -> Schema:
        """Return a schema with other fields and the same order attribute."""
        return replace(self, fields=Fields(fields))

    def empty(self) -> pl.DataFrame:
        """Return an empty train."""
        return pl.DataFrame(schema=self.dtypes)


def name_problem(name: str) -> str | None:
    """Return why a field name is invalid; None if it is valid.

    >>> name_problem("__pos")
    'names that start with __ belong to Boxcars.'
    """
    if name.startswith(HIDDEN):
        return f"names that start with {HIDDEN} belong to Boxcars."
    if name in ("", "*") or (name.startswith("^") and name.endswith("$")):
        return f"a field can't be called {name!r}."  # Polars would treat it as a pattern
    return None


UNKNOWN_SCHEMA = Schema(Fields(), "")
"""The schema downstream of a broken box: unknown, so that no further problems are reported."""
