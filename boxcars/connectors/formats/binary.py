"""Fixed-length binary records: each field has a fixed offset and a NumPy type.

Null is only possible in datetime fields, as NaT. A str is UTF-8; str and bytes are padded with NUL,
so they can't end with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from boxcars.connectors.formats.format import Decoded, Encoded, Format
from boxcars.connectors.formats.records import Reasons, Records, flat, slices, utf8
from boxcars.connectors.formats.rows import encoded
from boxcars.connectors.formats.texts import shown, where
from boxcars.model.problem import Wrong, nearest
from boxcars.model.timestamps import FIRST, LAST
from boxcars.model.types import Type

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]

LARGEST = 2**63 - 1
NAT = -(2**63)

_DEFAULTS = {Type.INT: "i8", Type.FLOAT: "f8", Type.BOOL: "?", Type.TIMESTAMP: "i8"}
_ORDERS = {"little": "<", "big": ">"}
_KINDS = {
    Type.STR: "S",
    Type.INT: "iu",
    Type.FLOAT: "f",
    Type.BOOL: "b",
    Type.TIMESTAMP: "iM",
    Type.BYTES: "S",
}
_UNITS = ("s", "ms", "us", "ns")
_PER_UNIT = {"s": 10**6, "ms": 1000, "us": 1}
"""Microseconds per unit; nanoseconds are converted separately."""


class Binary(Format):
    r"""Records of fixed length.

    ``layout`` maps fields to NumPy types, such as ``"<i4"``, ``">f8"``, ``"S9"`` or
    ``"<M8[us]"``. By default an int, float or timestamp (in microseconds) has 8 bytes and a bool 1,
    in ``byteorder``; only str and bytes need a layout.

    >>> format = Binary({"who": Type.STR, "time": Type.INT}, layout={"who": "S3", "time": ">i2"})
    >>> format.encode(pl.DataFrame({"who": ["al"], "time": [7]})).data.to_list()
    [b'al\x00\x00\x07']
    >>> format.decode(pl.Series([b"al\0\0\7bob\0\10?"])).tuples.rows()
    [('al', 7), ('bob', 8)]
    """

    name = "binary"
    defaults: ClassVar[Mapping[str, object]] = {"layout": {}, "byteorder": "little"}

    def check(self) -> None:
        """Raise ``Wrong`` if the layout does not match the fields."""
        order, layout = self.options["byteorder"], self.options["layout"]
        if order not in _ORDERS:
            raise Wrong(f"option 'byteorder' must be little or big, got {order!r}.")
        for name in layout:
            if name not in self.fields:
                raise Wrong(f"layout: unknown field '{name}'.{nearest(name, self.fields)}")
        self.dtype = np.dtype(
            [(name, _dtype(name, t, layout.get(name), order)) for name, t in self.fields.items()]
        )

    def decode(self, data: pl.Series) -> Decoded:
        """Return the tuples in records, and a dead letter for an incomplete last record."""
        raw, offsets = flat(data)
        size = self.dtype.itemsize
        lengths = np.diff(offsets)
        counts = -(-lengths // size)
        origin = np.repeat(np.arange(len(lengths)), counts)
        nth = np.arange(len(origin)) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = offsets[:-1][origin] + nth * size
        stops = np.minimum(starts + size, offsets[1:][origin])
        records = Records(pl.Series("origin", origin, pl.UInt32), slices(raw, starts, stops))
        whole = stops - starts == size
        reasons: Reasons = {
            int(row): f"{stops[row] - starts[row]} bytes instead of {size}"
            for row in np.flatnonzero(~whole)
        }
        rows = np.flatnonzero(whole)
        table = np.frombuffer(flat(records.data.filter(pl.Series(whole)))[0], self.dtype)
        columns = []
        for name, type_ in self.fields.items():
            column, bad = _read(table[name], type_)
            columns.append(column.alias(name))
            for row, why in bad.items():
                reasons.setdefault(int(rows[row]), f"{name}: {why}")
        return records.decoded(pl.DataFrame(columns), pl.Series(rows, dtype=pl.UInt32), reasons)

    def encode(self, train: pl.DataFrame) -> Encoded:
        """Return a record for each row."""
        table = np.zeros(len(train), self.dtype)
        reasons: Reasons = {}
        for name, type_ in self.fields.items():
            values = train[name]
            column, good = _write(values, type_, self.dtype[name])
            table[name][good] = column[good]
            for row in np.flatnonzero(~good):
                why = _refusal(values, int(row), self.dtype[name])
                reasons.setdefault(int(row), f"{name}: {why}")
        buffers = [None, pa.py_buffer(table.tobytes())]
        array = pa.Array.from_buffers(pa.binary(self.dtype.itemsize), len(train), buffers)
        return encoded(train, pl.Series(array.cast(pa.large_binary())), reasons)


def _dtype(name: str, type_: Type, code: object, order: str) -> np.dtype[Any]:
    """Return the NumPy type of a field. Raises ``Wrong`` if it can't represent the field's type."""
    if code is None:
        if type_ not in _DEFAULTS:
            raise Wrong(f"field '{name}' is a {type_}: give its length in the layout, as in 'S9'.")
        return np.dtype(_ORDERS[order] + _DEFAULTS[type_])
    try:
        dtype = np.dtype(code) if isinstance(code, str) else None
    except TypeError:
        dtype = None
    if dtype is None or "," in str(code):
        raise Wrong(f"layout of field '{name}': {code!r} is not a NumPy type.")
    if dtype.kind not in _KINDS[type_] or not dtype.itemsize or not _fits(dtype, type_):
        raise Wrong(f"layout of field '{name}': {code!r} can't hold {type_}.")
    return dtype


def _fits(dtype: np.dtype[Any], type_: Type) -> bool:
    if dtype.kind == "M":
        return np.datetime_data(dtype)[0] in _UNITS and np.datetime_data(dtype)[1] == 1
    return (
        dtype.itemsize == 8 if type_ is Type.TIMESTAMP else dtype.itemsize <= 8 or dtype.kind == "S"
    )


def _read(column: Array, type_: Type) -> tuple[pl.Series, Reasons]:
    """Return the values of a column of records, and the reasons for invalid ones."""
    match type_:
        case Type.STR | Type.BYTES:
            raw = pl.Series(column.tolist(), dtype=pl.Binary)
            text = utf8(raw) if type_ is Type.STR else raw
            return text, dict.fromkeys(text.is_null().arg_true(), "not UTF-8")
        case Type.BOOL:
            codes = np.ascontiguousarray(column).view(np.uint8)
            odd = np.flatnonzero(codes > 1)
            return pl.Series(codes == 1), {int(n): f"{codes[n]} is not a bool" for n in odd}
        case Type.TIMESTAMP:
            return _moments(column)
        case Type.FLOAT:
            return pl.Series(column.astype(np.float64)), {}
        case _:
            values = column.astype(np.int64)
            big = np.flatnonzero(values < 0) if column.dtype.kind == "u" else values[:0]
            return pl.Series(values), {
                int(n): f"{column[n]} is out of range for an int" for n in big
            }


def _moments(column: Array) -> tuple[pl.Series, Reasons]:
    plain = column.dtype.kind == "i"
    unit = "us" if plain else np.datetime_data(column.dtype)[0]
    counts = column.astype("<i8" if plain else f"<M8[{unit}]").view(np.int64)
    there = np.full(len(counts), fill_value=True) if plain else counts != NAT
    per = _PER_UNIT.get(unit, 1)
    near = (counts >= FIRST // per) & (counts <= LAST // per)  # all 64-bit nanoseconds are in range
    if unit == "ns":
        near, micros = there, counts // 1000
    else:
        micros = np.where(near, counts, 0) * per
    moments = pl.Series(micros).cast(Type.TIMESTAMP.dtype)
    return where(pl.Series(there), moments), {
        int(n): f"{counts[n]} is out of range for a timestamp"
        for n in np.flatnonzero(there & ~near)
    }


def _write(values: pl.Series, type_: Type, dtype: np.dtype[Any]) -> tuple[Array, Bools]:
    """Return a column of records, and a mask of the values that it can represent."""
    there = values.is_not_null().to_numpy()
    match type_:
        case Type.STR | Type.BYTES:
            raw = values.cast(pl.Binary).fill_null(b"")
            fits = (raw.bin.size() <= dtype.itemsize) & ~raw.bin.ends_with(b"\0")
            return np.array(raw.to_list(), dtype), there & fits.to_numpy()
        case Type.BOOL:
            return values.fill_null(value=False).to_numpy(), there
        case Type.TIMESTAMP if dtype.kind == "M":
            return _dates(values, dtype)
        case Type.FLOAT:
            wide = values.fill_null(0.0).to_numpy()
            with np.errstate(over="ignore"):
                floats = wide.astype(dtype)
            return floats, there & (np.isfinite(floats) | ~np.isfinite(wide))
        case _:
            ints = values.to_physical().fill_null(0).to_numpy()
            limits = np.iinfo(dtype)
            return ints, there & (ints >= limits.min) & (ints <= limits.max)


def _dates(values: pl.Series, dtype: np.dtype[Any]) -> tuple[Array, Bools]:
    """Return datetimes in the unit of the layout, truncated; null is NaT."""
    unit = np.datetime_data(dtype)[0]
    micros = values.to_physical().fill_null(0).to_numpy()
    good = abs(micros) <= LARGEST // 1000 if unit == "ns" else micros != NAT
    counts = np.where(good, micros, 0) * 1000 if unit == "ns" else micros // _PER_UNIT[unit]
    counts = np.where(values.is_null().to_numpy(), NAT, counts)
    return counts.view(f"<M8[{unit}]").astype(dtype), good


def _refusal(values: pl.Series, row: int, dtype: np.dtype[Any]) -> str:
    """Return the reason why a record can't represent the value in a row."""
    if values.is_null()[row]:
        return "a binary record can't hold null"
    value = shown(values, row)
    if dtype.kind != "S":
        return f"{value} is out of range for {dtype.str}"
    if values.cast(pl.Binary).bin.size()[row] > dtype.itemsize:
        return f"{value} is longer than {dtype.itemsize} bytes"
    return f"{value} ends with NUL, which is padding"
