"""The aggregate, one tuple at a time, from the definition in the thesis (2.1.1)."""

import math
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from tests.expression_oracle import is_nan

Row = dict[str, Any]
Fields = Mapping[str, tuple[Any, ...]]
"""For each new field a function, the field that it is of, and its constants."""


def _values(rows: list[Row], field: str) -> list[Any]:
    return [row[field] for row in rows if row[field] is not None]


def _or_none(
    function: Callable[[list[Any]], Any], least: int = 1
) -> Callable[[list[Row], str], Any]:
    def compute(rows: list[Row], field: str) -> Any:
        values = _values(rows, field)
        return function(values) if len(values) >= least else None

    return compute


def _median(values: list[float]) -> float:
    """The value in the middle, or half way between the two there; NaN is above all numbers."""
    ordered = sorted(values, key=lambda value: (is_nan(value), value))
    half = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[half])
    return ordered[half - 1] + (ordered[half] - ordered[half - 1]) * 0.5


def _without_nan(function: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def compute(values: list[Any]) -> Any:
        assert not any(map(is_nan, values)), "the docs do not say where NaN stands"
        return function(values)

    return compute


def _concat(rows: list[Row], field: str, between: str = "") -> str:
    return between.join(_values(rows, field))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "count": lambda rows, field: len(_values(rows, field)),
    "sum": _or_none(sum),
    "avg": _or_none(lambda values: sum(values) / len(values)),
    "min": _or_none(_without_nan(min)),
    "max": _or_none(_without_nan(max)),
    "first": lambda rows, field: rows[0][field],
    "last": lambda rows, field: rows[-1][field],
    "delta": lambda rows, field: (
        None
        if rows[0][field] is None or rows[-1][field] is None
        else rows[-1][field] - rows[0][field]
    ),
    "median": _or_none(_median),
    "variance": _or_none(statistics.variance, least=2),
    "count_distinct": lambda rows, field: len(
        {key_of(row, [field]) for row in rows if row[field] is not None}
    ),
    "concat": _concat,
}


def result(rows: list[Row], fields: Fields, timed_out: bool = False) -> Row:
    return {
        name: timed_out if function == "timed_out" else FUNCTIONS[function](rows, *given)
        for name, (function, *given) in fields.items()
    }


def key_of(row: Row, by: list[str]) -> tuple[Any, ...]:
    """Whatever is not a number is one key: one object, since it does not equal itself."""
    return tuple(math.nan if is_nan(row[name]) else row[name] for name in by)


def sortable(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Nulls first, NaN last."""
    return tuple((value is not None, is_nan(value), value) for value in key)


def time_windows(
    rows: list[Row],
    size: float,
    advance: float,
    by: list[str],
    fields: Fields,
    flush: bool = False,
    origin: float = 0,
    end: float | None = None,
) -> list[Row]:
    """Every window that ends by the end of time and holds a tuple, by start and then by key."""
    if not rows:
        return []
    end = max(row["t"] for row in rows) if end is None else end
    results = []
    for k in range(int((end - origin) // advance) + 1 if end >= origin else 0):
        start = origin + k * advance
        if start + size > end and not flush:
            break
        inside = [row for row in rows if start <= row["t"] < start + size]
        for key in sorted({key_of(row, by) for row in inside}, key=sortable):
            group = [row for row in inside if key_of(row, by) == key]
            results.append({**dict(zip(by, key, strict=True)), "t": start, **result(group, fields)})
    return results


def tuple_windows(
    rows: list[Row],
    size: int,
    advance: int,
    by: list[str],
    fields: Fields,
    flush: bool = False,
    timeout: float | None = None,
    end: float | None = None,
) -> list[Row]:
    """When a window is full it has a result, and its first tuples go."""
    advance = advance or 1
    end = rows[-1]["t"] if rows and end is None else end
    windows: dict[tuple[Any, ...], list[Row]] = {}
    skip: dict[tuple[Any, ...], int] = {}
    results: list[tuple[float, int, Any, Row]] = []

    def emit(key: tuple[Any, ...], time: float, order: Any, group: list[Row], rank: int) -> None:
        found = result(group, fields, timed_out=rank == 0)
        results.append((time, rank, order, {**dict(zip(by, key, strict=True)), "t": time, **found}))

    def expire(key: tuple[Any, ...], now: float) -> None:
        seen = last.get(key)
        if timeout is None or seen is None or seen[0] + timeout > now:
            return
        if windows[key]:
            emit(key, seen[0] + timeout, sortable(key), windows[key], 0)
        windows[key], skip[key] = [], 0
        del last[key]

    last: dict[tuple[Any, ...], tuple[float, int]] = {}
    for order, row in enumerate(rows):
        key = key_of(row, by)
        windows.setdefault(key, [])
        skip.setdefault(key, 0)
        expire(key, row["t"])
        last[key] = (row["t"], order)
        if skip[key]:
            skip[key] -= 1
            continue
        windows[key].append(row)
        if len(windows[key]) == size:
            emit(key, row["t"], order, windows[key], 1)
            skip[key] = max(advance - size, 0)
            windows[key] = windows[key][advance:]
    if rows and end is not None:
        for key in list(windows):
            expire(key, end)
            if flush and windows[key]:
                emit(key, end, sortable(key), windows[key], 2)
    results.sort(key=lambda item: item[:3])
    return [row for *_, row in results]


def value_windows(
    rows: list[Row],
    field: str,
    size: float,
    advance: float,
    by: list[str],
    fields: Fields,
    flush: bool = False,
    end: float | None = None,
) -> tuple[list[Row], list[Row]]:
    """A window closes when a tuple of its key has a value at or behind its end; else it is late."""
    results: list[tuple[float, int, tuple[Any, ...], int, Row]] = []
    late: list[Row] = []
    kept: dict[tuple[Any, ...], list[Row]] = {}
    done: dict[tuple[Any, ...], int] = {}

    def emit(key: tuple[Any, ...], k: int, time: float, order: int) -> None:
        start = k * advance
        inside = [row for row in kept[key] if start <= row[field] < start + size]
        if inside:
            row = {**dict(zip(by, key, strict=True)), "t": time, **result(inside, fields)}
            results.append((time, order, sortable(key), k, row))

    for order, row in enumerate(rows):
        if row[field] is None or is_nan(row[field]):
            late.append(row)
            continue
        key = key_of(row, by)
        before = kept.setdefault(key, [])
        done.setdefault(key, 0)
        if before and row[field] < max(other[field] for other in before):
            late.append(row)
            continue
        while done[key] * advance + size <= row[field]:
            emit(key, done[key], row["t"], order)
            done[key] += 1
        before.append(row)
    if flush and rows:
        for key, before in kept.items():
            while done[key] * advance <= max(row[field] for row in before):
                emit(key, done[key], rows[-1]["t"] if end is None else end, len(rows))
                done[key] += 1
    results.sort(key=lambda item: item[:4])
    return [row for *_, row in results], late


def run_windows(
    rows: list[Row],
    by: list[str],
    fields: Fields,
    flush: bool = False,
    end: float | None = None,
) -> list[Row]:
    """Tuples in a row with the same key; the next tuple closes them."""
    results: list[Row] = []
    run: list[Row] = []

    def emit(time: float) -> None:
        results.append({**{name: run[0][name] for name in by}, "t": time, **result(run, fields)})

    for row in rows:
        if run and key_of(run[0], by) != key_of(row, by):
            emit(row["t"])
            run.clear()
        run.append(row)
    if flush and run:
        emit(rows[-1]["t"] if end is None else end)
    return results


def moving_windows(
    rows: list[Row],
    field: str,
    size: float,
    by: list[str],
    fields: Fields,
) -> tuple[list[Row], list[Row]]:
    """Each tuple has a window of its own: those of its key so far within a window's size of it."""
    results: list[Row] = []
    late: list[Row] = []
    kept: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = key_of(row, by)
        before = kept.setdefault(key, [])
        absent = row[field] is None or is_nan(row[field])
        if absent or (before and row[field] < before[-1][field]):
            late.append(row)
            continue
        before.append(row)
        inside = [other for other in before if row[field] - size < other[field]]
        results.append({**dict(zip(by, key, strict=True)), "t": row["t"], **result(inside, fields)})
    return results, late


def dropped_windows(
    rows: list[Row],
    size: float,
    advance: float,
    timeout: float,
    by: list[str],
    fields: Fields,
) -> list[Row]:
    """Time windows that a tuple of their key closes, if it comes before they are obsolete."""
    results: list[Row] = []
    kept: dict[tuple[Any, ...], list[Row]] = {}
    done: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = key_of(row, by)
        before = kept.setdefault(key, [])
        k = done.get(key, 0)
        while k * advance + size <= row["t"]:
            end = k * advance + size
            inside = [other for other in before if k * advance <= other["t"] < end]
            if inside and row["t"] < end + timeout:
                named = dict(zip(by, key, strict=True))
                results.append({**named, "t": row["t"], **result(inside, fields)})
            k += 1
        done[key] = k
        before.append(row)
    return results


def dropped_tuple_windows(
    rows: list[Row],
    size: int,
    advance: int,
    timeout: float,
    by: list[str],
    fields: Fields,
) -> list[Row]:
    """Tuple windows that are forgotten when their key was silent for longer than the timeout."""
    results: list[Row] = []
    windows: dict[tuple[Any, ...], list[list[Row]]] = {}
    number: dict[tuple[Any, ...], int] = {}
    last: dict[tuple[Any, ...], float] = {}
    for row in rows:
        key = key_of(row, by)
        if key not in last or row["t"] - last[key] > timeout:
            windows[key], number[key] = [], 0
        if number[key] % advance == 0:
            windows[key].append([])
        number[key] += 1
        last[key] = row["t"]
        for window in windows[key]:
            window.append(row)
            if len(window) == size:
                named = dict(zip(by, key, strict=True))
                results.append({**named, "t": row["t"], **result(window, fields)})
        windows[key] = [window for window in windows[key] if len(window) < size]
    return results
