"""Names with dots are paths into JSON objects: ``bid.auction`` is ``auction`` of ``bid``.

If an object has a member with the full dotted name, that member is the value. If there is also a
field ``bid``, which then is not an object, ``bid.auction`` is a plain name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connectors.formats.texts import quote


class Paths:
    """Finds the fields of a record in an object.

    >>> Paths(["bid.auction"]).find({"bid": {"auction": 7}}, "bid.auction")
    7
    """

    def __init__(self, names: Collection[str]) -> None:
        self._parts = {
            name: name.split(".")
            for name in names
            if "." in name and not any(name.startswith(f"{outer}.") for outer in names)
        }

    def find(self, row: Mapping[str, Any], name: str) -> Any:
        """The value at a name or path of an object; None if there is none."""
        value = row.get(name)
        if value is not None or name not in self._parts:
            return value
        *outer, last = self._parts[name]
        inner: Any = row
        for depth, part in enumerate(outer, 1):
            inner = inner.get(part)
            if inner is None:
                return None
            if not isinstance(inner, Mapping):
                path = ".".join(outer[:depth])
                raise ValueError(f"{path}: expected an object, got {quote(inner)}")
        return inner.get(last)

    def schema(self, kinds: Mapping[str, pa.DataType]) -> pa.Schema:
        """The schema for Arrow: each name verbatim, and the nested objects of each path."""
        tree: dict[str, Any] = {}
        for name, (*outer, last) in self._parts.items():
            inside = tree
            for part in outer:
                inside = inside.setdefault(part, {})
            inside[last] = kinds[name]
        objects = [(name, _struct(inner)) for name, inner in tree.items()]
        return pa.schema([*kinds.items(), *objects])

    def column(self, name: str) -> pl.Expr:
        """The column of a name in a table that Arrow has read with that schema."""
        if name not in self._parts:
            return pl.col(name)
        first, *inner = self._parts[name]
        found = pl.col(first)
        for part in inner:
            found = found.struct.field(part)
        return pl.coalesce(pl.col(name), found).alias(name)


def _struct(inner: Any) -> pa.DataType:
    if not isinstance(inner, dict):
        return inner
    return pa.struct([(name, _struct(kind)) for name, kind in inner.items()])
