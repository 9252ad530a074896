"""Custom boxes of the tests once more, each as a plain loop over the tuples."""

from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def numbered(rows: list[Row], by: list[str], end: Any) -> list[Row]:
    """Tuples get the number that they have in their key.

    A key says farewell 2 after its last tuple, before any tuple of that moment, and once more at
    the end of the input. Those who do so at once stand as their first tuples came.
    """
    count: dict[tuple[Any, ...], int] = {}
    due: dict[tuple[Any, ...], Any] = {}
    names = list(rows[0]) if rows else []
    out: list[Row] = []

    def farewell(key: tuple[Any, ...], time: Any) -> None:
        known = {**dict(zip(by, key, strict=True)), "t": time, "n": -1, "x": None}
        out.append({name: known[name] for name in names})

    def time_passes(now: Any) -> None:
        for time in sorted({time for time in due.values() if time <= now}):
            for key in [key for key in count if due.get(key) == time]:
                farewell(key, time)
                del due[key]

    for row in rows:
        time_passes(row["t"])
        key = tuple(row[name] for name in by)
        count[key] = count.get(key, 0) + 1
        due[key] = row["t"] + 2
        out.append({**row, "n": count[key]})
    if rows:
        time_passes(end)
        for key in count:
            farewell(key, end)
    return out


CLASSES: dict[str, Callable[[list[Row], list[str], Any], list[Row]]] = {
    "tests.engine.layout.test_pieces:Numbered": numbered,
}
