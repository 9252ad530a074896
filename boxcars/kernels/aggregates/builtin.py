"""Built-in aggregate functions: their types, and their values for all windows at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.kernels.aggregates.partials import PARTIALS, Columns, Partial
from boxcars.kernels.columns.folds import SUM, Windows, distinct_counts, fold, quantiles
from boxcars.kernels.columns.keys import encode_keys
from boxcars.model.problem import Wrong, a
from boxcars.model.types import Type

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Function:
    """An aggregate function.

    ``result`` is its type rule; ``compute`` returns its value for each window, given its arguments
    as columns. With ``partial`` it can also be computed incrementally. Repeated values make no
    difference to a ``distinct`` function. Where there is a ``constant``, the second argument must
    be a constant; the check raises :class:`Wrong` if its value is invalid.
    """

    name: str
    signature: str
    doc: str
    arity: tuple[int, int]
    result: Callable[[Sequence[Type]], Type]
    compute: Callable[[Windows, Columns], pl.Series]
    partial: Partial | None = None
    distinct: bool = False
    constant: Callable[[Any], None] | None = None


def _same(types: Sequence[Type]) -> Type:
    return types[0]


def _always(type_: Type) -> Callable[[Sequence[Type]], Type]:
    return lambda _types: type_


def _number(types: Sequence[Type]) -> Type:
    if not types[0].numeric:
        raise Wrong(f"needs a number, got {a(types[0])}.")
    return types[0]


def _float(types: Sequence[Type]) -> Type:
    _number(types)
    return Type.FLOAT


def _quantile_type(types: Sequence[Type]) -> Type:
    if not types[1].numeric:
        raise Wrong(f"needs a number between 0 and 1, got {a(types[1])}.")
    return _float(types)


def _check_fraction(value: Any) -> None:
    if value is None or not 0 <= value <= 1:
        raise Wrong(f"needs a fraction between 0 and 1, got {value}.")


def _check_number(value: Any) -> None:
    if value is None or value < 1:
        raise Wrong(f"needs a number of values of at least 1, got {value}.")


def _check_separator(value: Any) -> None:
    if value is None:
        raise Wrong("needs a separator text, got null.")


def _valid_counts(windows: Windows, column: pl.Series) -> Ints:
    """Number of non-null values in each window."""
    if column.null_count() == 0:
        return windows.counts
    valid = column.is_not_null().to_numpy().astype(np.int64)
    return fold(SUM, valid, windows)


def _count(windows: Windows, columns: Columns) -> pl.Series:
    return pl.Series(_valid_counts(windows, columns[0]) if columns else windows.counts)


def _nulled(values: pl.Series, counts: Ints) -> pl.Series:
    """Null where the count is 0."""
    if len(counts) == 0 or counts.min() > 0:
        return values
    return pl.select(pl.when(pl.Series(counts) > 0).then(values)).to_series()


def _sums(windows: Windows, column: pl.Series) -> NDArray[np.float64] | Ints:
    return fold(SUM, column.fill_null(0).to_numpy(), windows)


def _sum(windows: Windows, columns: Columns) -> pl.Series:
    return _nulled(pl.Series(_sums(windows, columns[0])), _valid_counts(windows, columns[0]))


def _avg(windows: Windows, columns: Columns) -> pl.Series:
    counts = _valid_counts(windows, columns[0])
    sums = _sums(windows, columns[0].cast(pl.Float64))
    with np.errstate(invalid="ignore"):
        return _nulled(pl.Series(np.divide(sums, counts, out=sums)), counts)


def _from_partials(name: str, doc: str, result: Callable[[Sequence[Type]], Type]) -> Function:
    """A function of one argument that is computed from partial results, just as fast."""
    partial = PARTIALS[name]
    combined = partial.fold
    assert combined is not None

    def compute(windows: Windows, columns: Columns) -> pl.Series:
        return partial.finish(combined(partial.lift(columns, len(windows.blocks)), windows))

    return Function(name, f"{name}(x)", doc, (1, 1), result, compute)


def _quantile(windows: Windows, columns: Columns) -> pl.Series:
    share = columns[1][0] if len(columns[1]) else 0.5
    return _quantile_of(windows, columns[0], float(share))


def _median(windows: Windows, columns: Columns) -> pl.Series:
    return _quantile_of(windows, columns[0], 0.5)


def _quantile_of(windows: Windows, column: pl.Series, share: float) -> pl.Series:
    values = column.cast(pl.Float64)
    valid, s = values.is_not_null().to_numpy(), windows.slices
    found = quantiles(values.fill_null(0).to_numpy(), valid, s.lo, s.hi, share)
    return _nulled(pl.Series(found), _valid_counts(windows, values))


def _count_distinct(windows: Windows, columns: Columns) -> pl.Series:
    keys = encode_keys(columns[0].to_frame("x"), ["x"])
    codes = np.where(columns[0].is_not_null().to_numpy(), keys.codes, -1)
    s = windows.slices
    return pl.Series(distinct_counts(codes, max(keys.number, 1), s.lo, s.hi))


def _lists(windows: Windows, column: pl.Series) -> pl.Series:
    """The values of each window as a list."""
    counts = windows.counts
    ends = np.cumsum(counts)
    rows = np.repeat(np.arange(len(counts)), counts)
    offsets = np.arange(len(rows)) - np.repeat(ends - counts, counts)
    index = np.repeat(windows.slices.lo, counts) + offsets
    frame = pl.DataFrame({"row": rows, "value": column.gather(index)})
    return frame.group_by("row", maintain_order=True).agg("value")["value"]


def _concat(windows: Windows, columns: Columns) -> pl.Series:
    between = columns[1][0] if len(columns) > 1 and len(columns[1]) else ""
    return _lists(windows, columns[0]).list.drop_nulls().list.join(between)


def _top(windows: Windows, columns: Columns) -> pl.Series:
    number = int(columns[1][0]) if len(columns[1]) else 1
    lists = _lists(windows, columns[0]).list.drop_nulls()
    return (
        lists.list.sort(descending=True).list.head(number).cast(pl.List(pl.String)).list.join(", ")
    )


def _timed_out(windows: Windows, _columns: Columns) -> pl.Series:
    flags = windows.timed_out
    return pl.Series(np.zeros(len(windows.counts), np.bool_) if flags is None else flags)


def _concat_type(types: Sequence[Type]) -> Type:
    for type_ in types:
        if type_ not in (Type.STR, Type.UNKNOWN):
            raise Wrong(f"needs text, got {a(type_)}: cast it.")
    return Type.STR


def _top_type(types: Sequence[Type]) -> Type:
    if types[1] not in (Type.INT, Type.UNKNOWN):
        raise Wrong(f"needs a whole number, got {a(types[1])}.")
    return Type.STR


_FUNCTIONS = (
    Function(
        "count",
        "count(x?)",
        "The number of tuples, or of those where x is not null.",
        (0, 1),
        _always(Type.INT),
        _count,
    ),
    Function("sum", "sum(x)", "The sum; nulls are ignored.", (1, 1), _number, _sum),
    Function("avg", "avg(x)", "The mean; nulls are ignored.", (1, 1), _float, _avg),
    _from_partials("min", "The least value.", _same),
    _from_partials("max", "The greatest value.", _same),
    _from_partials("first", "The value of the first tuple.", _same),
    _from_partials("last", "The value of the last tuple.", _same),
    _from_partials("delta", "The last value minus the first.", _number),
    Function("median", "median(x)", "The median.", (1, 1), _float, _median),
    Function(
        "quantile",
        "quantile(x, fraction)",
        "The value below which a constant fraction of the values lies, interpolated.",
        (2, 2),
        _quantile_type,
        _quantile,
        constant=_check_fraction,
    ),
    _from_partials("variance", "The sample variance; null for fewer than two values.", _float),
    _from_partials("stddev", "The square root of the variance.", _float),
    Function(
        "count_distinct",
        "count_distinct(x)",
        "The number of distinct values.",
        (1, 1),
        _always(Type.INT),
        _count_distinct,
        distinct=True,
    ),
    Function(
        "concat",
        "concat(text, separator?)",
        "All texts in order, joined by a constant separator.",
        (1, 2),
        _concat_type,
        _concat,
        constant=_check_separator,
    ),
    Function(
        "top",
        "top(x, n)",
        "The n greatest values as text, greatest first.",
        (2, 2),
        _top_type,
        _top,
        constant=_check_number,
    ),
    Function(
        "timed_out",
        "timed_out()",
        "Whether the window was closed by its timeout.",
        (0, 0),
        _always(Type.BOOL),
        _timed_out,
    ),
)
FUNCTIONS: Mapping[str, Function] = {
    f.name: replace(f, partial=PARTIALS.get(f.name)) for f in _FUNCTIONS
}
SYNONYMS: Mapping[str, str] = {
    "firstval": "first",
    "first_val": "first",
    "lastval": "last",
    "last_val": "last",
    "mean": "avg",
    "cnt": "count",
}


_registered: dict[str, Function] = {}
"""The functions that the user has registered."""


def register_function(new: Function) -> None:
    """Register a user-defined function; it may replace another one, but no built-in."""
    if new.name in FUNCTIONS or new.name in SYNONYMS:
        raise Wrong(f"'{new.name}' is a built-in aggregate: give yours another name.")
    _registered[new.name] = new


def find_function(name: str) -> Function | None:
    """The function of that name or synonym."""
    return FUNCTIONS.get(SYNONYMS.get(name, name)) or _registered.get(name)
