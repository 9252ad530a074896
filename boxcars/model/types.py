"""The six types of a field, and the Polars types that carry them."""

from __future__ import annotations

from enum import Enum

import polars as pl


class Type(Enum):
    """The type of a field: ``str int float bool timestamp bytes``.

    ``UNKNOWN`` is the type of an expression with a type error. It is compatible with every type, so
    that one mistake is reported once and not again at every box downstream.

    >>> Type("int").dtype
    Int64
    """

    STR = "str"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TIMESTAMP = "timestamp"
    BYTES = "bytes"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value

    @property
    def dtype(self) -> pl.DataType:
        """The Polars type of a column of this type; timestamps are in microseconds, UTC."""
        return _DTYPES[self]

    @property
    def numeric(self) -> bool:
        """Whether arithmetic works on it."""
        return self in (Type.INT, Type.FLOAT, Type.UNKNOWN)

    def accepts(self, other: Type) -> bool:
        """Whether a value of type ``other`` is accepted where this type is expected.

        >>> Type.FLOAT.accepts(Type.INT), Type.INT.accepts(Type.FLOAT)
        (True, False)
        """
        return (
            self is other
            or Type.UNKNOWN in (self, other)
            or (self is Type.FLOAT and other is Type.INT)
        )

    @classmethod
    def of(cls, dtype: pl.DataType) -> Type | None:
        """Return the type for a Polars type, or None if there is none."""
        if dtype in _SAME:
            return _SAME[dtype]
        if dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128):
            return cls.INT
        if dtype.is_float() or dtype.is_decimal():
            return cls.FLOAT
        if isinstance(dtype, pl.Datetime | pl.Date):
            return cls.TIMESTAMP
        if isinstance(dtype, pl.Categorical | pl.Enum):
            return cls.STR
        return None


FIELD_TYPES: tuple[Type, ...] = tuple(t for t in Type if t is not Type.UNKNOWN)
ORDER_TYPES: tuple[Type, ...] = (Type.INT, Type.FLOAT, Type.TIMESTAMP)

_DTYPES: dict[Type, pl.DataType] = {
    Type.STR: pl.String(),
    Type.INT: pl.Int64(),
    Type.FLOAT: pl.Float64(),
    Type.BOOL: pl.Boolean(),
    Type.TIMESTAMP: pl.Datetime("us"),
    Type.BYTES: pl.Binary(),
    Type.UNKNOWN: pl.Null(),
}
_SAME: dict[pl.DataType, Type] = {dtype: type_ for type_, dtype in _DTYPES.items()}
