"""Drawings of the windows of an aggregate: the tuples in each, and when its result leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

from boxcars.draw.windows import Bar, Chart, Dot, Heading, Lane, number_text
from boxcars.engine.preview import preview
from boxcars.model.network import Network
from boxcars.model.window import Window

Tuple = dict[str, Any]
_TONES = ("left", "right", "stateless")


def window_chart(described: Mapping[str, Any]) -> Chart:
    """The tuples above, and below them the windows that an aggregate assigns them to.

    ``tuples`` are names with order values, or with mappings of ``time``, ``value`` and ``key``.
    ``windows`` are names with windows as in a file; they are drawn one below the other.
    """
    tuples = [_read(name, given) for name, given in described["tuples"].items()]
    windows = {name: Window.from_plain(plain) for name, plain in described["windows"].items()}
    along = "value" if any(window.by == "value" for window in windows.values()) else "time"
    keys = list(dict.fromkeys(t["key"] for t in tuples))
    tones: dict[str, Any] = dict(zip(keys, _TONES, strict=False))
    dots = {t["id"]: Dot(t[along], t["id"], tones[t["key"]]) for t in tuples}
    rows: list[Bar | Heading] = []
    for name, window in windows.items():
        if len(windows) > 1:
            rows.append(Heading(name))
        rows += _bars(window, tuples, dots, along)
    one_lane = len(keys) == 1 or any(window.by == "runs" for window in windows.values())
    lanes = (
        (Lane("tuples", tuple(dots.values())),)
        if one_lane
        else tuple(Lane(k, tuple(dots[t["id"]] for t in tuples if t["key"] == k)) for k in keys)
    )
    low, high, step = described["axis"]
    name = described.get("along", "time")
    columns = ("holds", "leaves at" if along == "time" else "leaves at time")
    return Chart(described["title"], name, low, high, step, lanes, tuple(rows), columns)


def _read(name: str, given: Any) -> Tuple:
    more = given if isinstance(given, dict) else {"time": given}
    return {"id": name, "key": "", "value": 0, **more}


def _bars(
    window: Window, tuples: list[Tuple], dots: Mapping[str, Dot], along: str
) -> Iterator[Bar]:
    """The results of a window, in the order in which they leave."""
    for number, row in enumerate(_run(window, tuples)):
        held = tuple(dots[name] for name in row["ids"].split())
        name, start, end = _extent(window, row["time"], held, number)
        cells = [f"{row['ids']}", f"{row['time']}"]
        around = window.by not in ("time", "value")
        if row["late"]:
            cells[1] += ", timed out"
            end = row["time"]
        yield Bar(
            name,
            start,
            end,
            held,
            None if along == "value" else row["time"],
            tuple(cells),
            around=(around, end == held[-1].at),
        )


def _run(window: Window, tuples: list[Tuple]) -> list[dict[str, Any]]:
    """Run an aggregate with the window; each result names the tuples in it."""
    net = Network("windows")
    fields = {"time": "int", "id": "str", "key": "str", "value": "int"}
    stream = net.input("tuples", ts="time", fields=fields, slack=1_000_000 if window.slack else 0)
    functions = {"ids": "concat(id, ' ')", "late": "timed_out()"}
    results = stream.aggregate(window, by="key", fields=functions)
    net.output("out", results)
    columns = {name: [t[name] for t in tuples] for name in fields}
    rows: list[dict[str, Any]] = preview(net, {"tuples": columns})["out"].to_pylist()
    return rows


def _extent(
    window: Window, time: float, held: tuple[Dot, ...], number: int
) -> tuple[str, float, float]:
    """The name of a window and the interval of the axis that it covers."""
    first, last = held[0].at, held[-1].at
    if window.by in ("time", "value") and window.advance == 0:
        return f"({number_text(last - window.size)}, {last:g}]", last - window.size, last
    if window.by in ("time", "value"):
        closed = window.by == "time" and window.emit == "close" and window.obsolete == "close"
        start = time if closed else floor(first / window.step) * window.step
        name = f"[{start:g}, {start + window.size:g})"
        end = start + window.size if window.emit == "close" else min(time, start + window.size)
        return name, start, end
    return f"{'report' if window.emit != 'close' else 'window'} {number + 1}", first, last
