"""Names with dots are paths into the objects of JSON: ``bid.auction`` is ``auction`` of ``bid``.

An object that has the whole name as a name of its own, dots and all, has the value there. Beside a
field ``bid``, which is then no object, ``bid.auction`` is nothing but a name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connectors.formats.texts import quote


class Paths:
    """Where the fields of a record are in an object.

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
        """What an object has by a name or path, None if that leads nowhere."""
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
                place = ".".join(outer[:depth])
                raise ValueError(f"{place}: expected an object, got {quote(inner)}")
        return inner.get(last)

    def schema(self, kinds: Mapping[str, pa.DataType]) -> pa.Schema:
        """What to tell Arrow: each name as it is, and the objects on the way of each path."""
        tree: dict[str, Any] = {}
        for name, (*outer, last) in self._parts.items():
            inside = tree
            for part in outer:
                inside = inside.setdefault(part, {})
            inside[last] = kinds[name]
        objects = [(name, _struct(inner)) for name, inner in tree.items()]
        return pa.schema([*kinds.items(), *objects])

    def column(self, name: str) -> pl.Expr:
        """The column of a name in what Arrow read by that schema."""
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
