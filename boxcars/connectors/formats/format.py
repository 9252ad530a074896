"""The interface of formats: convert bytes to tuples and back; bad records never fail a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong, nearest
from boxcars.model.types import FIELD_TYPES, Type

LETTER: dict[str, pl.DataType] = {
    "origin": pl.UInt32(),
    "record": pl.Binary(),
    "reason": pl.String(),
}
"""The columns of dead letters: the index of the value, the bytes of the record, and the reason."""


@dataclass(frozen=True)
class Decoded:
    """The result of decoding a series: each record is either a tuple or a dead letter.

    ``origin`` is the index of the value of each tuple, in ascending order.
    """

    tuples: pl.DataFrame
    origin: pl.Series
    dead: pl.DataFrame


@dataclass(frozen=True)
class Encoded:
    """The bytes of each row of a train; null for a row that could not be encoded.

    Such a row is a dead letter: ``origin`` is its index and ``record`` the row as JSON.
    """

    data: pl.Series
    dead: pl.DataFrame


class Format(ABC):
    """Converts tuples to bytes and back.

    ``defaults`` has the options with their default values; an option must have the type of its
    default. For a custom format subclass ``RecordFormat``, or this class to work on whole columns,
    and register it with ``@converter``.

    >>> from boxcars.connectors.formats import make_format
    >>> csv = make_format("csv", {"caller": Type.STR, "time": Type.INT}, {"delimiter": ";"})
    >>> csv.decode(pl.Series([b"ann;7", b"bob;x"])).dead["reason"].to_list()
    ["time: 'x' is not an int"]
    """

    name: ClassVar[str]
    defaults: ClassVar[Mapping[str, object]] = {}

    fields: Fields[Type]
    options: Mapping[str, Any]

    def __init__(self, fields: Mapping[str, Type], **options: object) -> None:
        self.fields = _checked_fields(fields)
        self.options = {**self.defaults, **self._checked_options(options)}
        self.check()

    def check(self) -> None:
        """Raise ``Wrong`` if fields and options do not match."""
        return

    @abstractmethod
    def decode(self, data: pl.Series) -> Decoded:
        """Return the tuples in a Binary series; each value has zero or more whole records."""

    @abstractmethod
    def encode(self, train: pl.DataFrame) -> Encoded:
        """Return the bytes of each row of a train whose columns are exactly the fields."""

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """The Polars types of the fields."""
        return {name: type_.dtype for name, type_ in self.fields.items()}

    def _checked_options(self, options: Mapping[str, object]) -> Mapping[str, object]:
        for name, value in options.items():
            if name not in self.defaults:
                hint = nearest(name, self.defaults) or " It has no options."
                raise Wrong(f"unknown option '{name}' of format '{self._title}'.{hint}")
            kind = type(self.defaults[name])
            wanted: type = Mapping if issubclass(kind, Mapping) else kind
            if not isinstance(value, wanted) or (kind is int and isinstance(value, bool)):
                raise Wrong(
                    f"option '{name}' of format '{self._title}' must be "
                    f"{_KINDS.get(kind, kind.__name__)}, got {value!r}."
                )
        return options

    @property
    def _title(self) -> str:
        return getattr(self, "name", type(self).__name__)


def letters(origin: Iterable[int], record: Iterable[bytes], reason: Iterable[str]) -> pl.DataFrame:
    """Return a frame of dead letters.

    >>> letters([3], [b"x"], ["not JSON"]).row(0)
    (3, b'x', 'not JSON')
    """
    return pl.DataFrame(
        {"origin": origin, "record": record, "reason": reason}, schema=LETTER, strict=True
    )


def _checked_fields(fields: Mapping[str, Type]) -> Fields[Type]:
    if not fields:
        raise Wrong("a format needs at least one field.")
    for name, type_ in fields.items():
        if type_ not in FIELD_TYPES:
            raise Wrong(f"field '{name}' has no type that a format can represent.")
    return Fields(fields)


_KINDS: dict[type, str] = {str: "a text", bool: "true or false", int: "an int", dict: "a mapping"}
