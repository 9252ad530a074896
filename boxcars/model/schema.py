"""What the tuples of an arc look like: their fields, and the field they are ordered by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from boxcars.model.ordered_map import Fields
from boxcars.model.types import Type

HIDDEN = "__"
"""Field names that start so belong to the engine."""


@dataclass(frozen=True)
class Schema:
    """The fields of an arc in their order, and ``ts``, its order attribute.

    ``ordered`` is false behind a box that computed ``ts`` anew, so that it may go back and forth.

    >>> Schema.of({"caller": "str", "time": "int"}, ts="time").fields["time"]
    <Type.INT: 'int'>
    """

    fields: Fields[Type]
    ts: str
    ordered: bool = True

    @classmethod
    def of(cls, fields: Mapping[str, Type | str], ts: str) -> Schema:
        """A schema from names of types."""
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
        """Whether the fields are known at all; behind a broken box they are not."""
        return bool(self.fields)

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """The Polars types of the columns."""
        return {name: type_.dtype for name, type_ in self.fields.items()}

    def with_fields(self, fields: Mapping[str, Type] | Iterable[tuple[str, Type]]) -> Schema:
        """The same order attribute over other fields."""
        return replace(self, fields=Fields(fields))

    def empty(self) -> pl.DataFrame:
        """A train without tuples."""
        return pl.DataFrame(schema=self.dtypes)


def name_problem(name: str) -> str | None:
    """Why a field can't have that name, if it can't.

    >>> name_problem("__pos")
    'names that start with __ belong to Boxcars.'
    """
    if name.startswith(HIDDEN):
        return f"names that start with {HIDDEN} belong to Boxcars."
    if name in ("", "*") or (name.startswith("^") and name.endswith("$")):
        return f"a field can't be called {name!r}."  # Polars would take it for a pattern
    return None


UNKNOWN_SCHEMA = Schema(Fields(), "")
"""The schema behind a broken box: nothing is known, so nothing is complained about."""
