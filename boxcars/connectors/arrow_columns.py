"""Convert Arrow to Polars: only columns and types that a tuple can have, without metadata.

Arrow has more types than Polars, which panics at some of them, even in unused columns. So the
columns that Polars sees are chosen here, one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from boxcars.model.problem import Wrong, a, nearest
from boxcars.model.timestamps import FIRST, LAST
from boxcars.model.types import Type

_SECOND = 1_000_000
_BINARY = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_NUMBER = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
_TIME = (pa.types.is_timestamp, pa.types.is_date)


def fields_frame(table: pa.Table, fields: Mapping[str, Type]) -> pl.DataFrame:
    """The columns of a table that are fields. Raises Wrong if one is missing or has a bad type."""
    names = table.column_names
    columns = {}
    for name, type_ in fields.items():
        if name not in names:
            raise Wrong(f"the data has no field '{name}'.{nearest(name, names)}")
        if names.count(name) > 1:
            raise Wrong(f"the data has more than one field '{name}'.")
        column = _storage(table.column(names.index(name)))
        if not carried(column.type):
            raise Wrong(f"field '{name}' is {column.type} in the data, expected {a(type_)}.")
        columns[name] = _plain(column)
    return _frame(columns, table.num_rows)


def shown_frame(table: pa.Table) -> pl.DataFrame:
    """The columns of a table that Polars can represent, without duplicate names."""
    found = zip(table.column_names, map(_storage, table.columns), strict=True)
    return _frame({name: _plain(c) for name, c in found if carried(c.type)}, table.num_rows)


def carried(type_: pa.DataType) -> bool:
    """Whether a field can have values of an Arrow type, directly or dictionary-encoded.

    >>> carried(pa.int8()), carried(pa.decimal256(40)), carried(pa.list_(pa.int8()))
    (True, False, False)
    """
    if pa.types.is_dictionary(type_):
        return any(test(type_.value_type) for test in _TEXT)
    if pa.types.is_decimal(type_):
        return not pa.types.is_decimal256(type_)
    if pa.types.is_fixed_size_binary(type_):
        return True
    return any(test(type_) for test in (*_BINARY, *_TEXT, *_NUMBER, *_TIME))


def _frame(columns: Mapping[str, pa.ChunkedArray], height: int) -> pl.DataFrame:
    """A frame of columns with supported types; without columns it still has its height."""
    if not columns:
        return pl.DataFrame(height=height)
    schema = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
    frame = pl.from_arrow(pa.Table.from_arrays(list(columns.values()), schema=schema))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The storage values of an extension type."""
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Remove the time zone of timestamps, which may be invalid; the values are in UTC anyway.

    Polars converts seconds to a finer unit, which may overflow, so they are clamped just outside
    the valid range of timestamps.
    """
    if not pa.types.is_timestamp(column.type):
        return column
    unit = column.type.unit
    counts = pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64())
    if unit == "s":
        least, most = FIRST // _SECOND - 1, LAST // _SECOND + 1
        counts = pc.max_element_wise(counts, least, skip_nulls=False)
        counts = pc.min_element_wise(counts, most, skip_nulls=False)
    times = pa.timestamp(unit)
    return pa.chunked_array([chunk.view(times) for chunk in counts.chunks], times)
