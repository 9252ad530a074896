"""Windows that report while they grow, one tuple at a time."""

from dataclasses import dataclass, field
from math import floor
from typing import Any

from tests.aggregate_oracle import Fields, Row, key_of, result, sortable
from tests.expression_oracle import is_nan

Key = tuple[Any, ...]


@dataclass
class Kind:
    """A window: by time, tuples, value, runs or landmark, and when it reports."""

    by: str
    size: Any = 0
    advance: Any = 0
    field: str = "t"
    timeout: float | None = None
    emit: str = "change"
    every: float | None = None
    every_by: str = "tuples"
    flush: bool = False


@dataclass
class Grown:
    key: Key
    number: int
    rows: list[Row] = field(default_factory=list)
    told: int = 0


class Oracle:
    def __init__(self, kind: Kind, by: list[str], fields: Fields) -> None:
        self.kind, self.by, self.fields = kind, by, fields
        self.open: list[Grown] = []
        self.index: dict[Key, int] = {}
        self.last: dict[Key, Any] = {}
        self.greatest: dict[Key, Any] = {}
        self.session: dict[Key, int] = {}
        self.runs = 0
        self.results: list[tuple[Any, Row]] = []
        self.late: list[Row] = []

    def run(self, rows: list[Row], end: Any = None) -> tuple[list[Row], list[Row]]:
        for order, row in enumerate(rows):
            self.order: int | None = None
            self.time_passes(row["t"])
            self.order = order
            self.take(row)
        if rows:
            end = rows[-1]["t"] if end is None else end
            self.order = None
            self.time_passes(end)
            if self.kind.flush and self.kind.emit != "change":
                for window in sorted(self.open, key=lambda w: (sortable(w.key), w.number)):
                    self.report(window, end, unless_told=True, turn=2)
        self.results.sort(key=lambda item: item[0])
        return [row for _, row in self.results], self.late

    def report(
        self,
        window: Grown,
        moment: Any,
        unless_told: bool = False,
        turn: int = 0,
        timed_out: bool = False,
    ) -> None:
        """At one moment first what time brings, by key, then what each tuple brings."""
        if unless_told and window.told == len(window.rows):
            return
        window.told = len(window.rows)
        named = dict(zip(self.by, window.key, strict=True))
        row = {**named, "t": moment, **result(window.rows, self.fields, timed_out)}
        rank: Any = (moment, turn, sortable(window.key), window.number)
        if self.order is not None:
            rank = (moment, 1, self.order)
        self.results.append((rank, row))

    def close(self, window: Grown, moment: Any, timed_out: bool = False) -> None:
        if self.kind.emit != "change":
            self.report(window, moment, unless_told=True, timed_out=timed_out)
        self.open.remove(window)

    def moments(self, window: Grown, now: Any) -> list[Any]:
        """When time has something to do for a window, and whether it then closes."""
        kind, last = self.kind, window.rows[-1]["t"]
        found = []
        if kind.by == "time":
            found.append((window.number * kind.advance + kind.size, True))
        if kind.by == "tuples" and kind.timeout is not None:
            found.append((last + kind.timeout, True))
        if kind.emit == "every" and kind.every_by == "time" and window.told < len(window.rows):
            assert kind.every is not None
            found.append(((floor(last / kind.every) + 1) * kind.every, False))
        return [(moment, closes) for moment, closes in found if moment <= now]

    def time_passes(self, now: Any) -> None:
        while True:
            due = [
                (moment, sortable(window.key), window.number, not closes, window)
                for window in self.open
                for moment, closes in self.moments(window, now)
            ]
            if not due:
                break
            moment, *_, waits, window = min(due, key=lambda item: item[:4])
            if waits:
                self.report(window, moment)
            else:
                self.close(window, moment, timed_out=self.kind.by == "tuples")
        if self.kind.timeout is not None:
            for key, last in list(self.last.items()):
                if last + self.kind.timeout <= now:
                    del self.last[key], self.index[key]

    def take(self, row: Row) -> None:
        kind = self.kind
        key = key_of(row, self.by)
        value = row[kind.field]
        if kind.by == "value":
            absent = value is None or is_nan(value)
            if absent or (key in self.greatest and value < self.greatest[key]):
                self.late.append(row)
                return
            self.greatest[key] = value
        own = sorted((w for w in self.open if w.key == key), key=lambda w: w.number)
        if kind.by == "value":
            for window in own:
                if window.number * kind.advance + kind.size <= value:
                    self.close(window, row["t"])
        if kind.by == "runs":
            for window in list(self.open):
                if window.key != key:
                    self.close(window, row["t"])
        for number in self.numbers(key, row):
            self.add(key, number, row)

    def numbers(self, key: Key, row: Row) -> list[int]:
        """The windows that a tuple lies in."""
        kind = self.kind
        if kind.by == "landmark":
            return [0]
        if kind.by == "runs":
            if not self.open:
                self.runs += 1
            return [self.runs]
        at = row[kind.field]
        if kind.by == "tuples":
            if key not in self.index:
                self.index[key] = 0
                self.session[key] = self.session.get(key, 0) + 1
            at = self.index[key]
            self.index[key] += 1
            self.last[key] = row["t"]
        found = [
            number
            for number in range(max(int(at // kind.advance) + 1, 0))
            if number * kind.advance <= at < number * kind.advance + kind.size
        ]
        return [n + self.session.get(key, 0) * 10**6 for n in found]

    def add(self, key: Key, number: int, row: Row) -> None:
        kind = self.kind
        same = [w for w in self.open if (w.key, w.number) == (key, number)]
        window = same[0] if same else Grown(key, number)
        if not same:
            self.open.append(window)
        window.rows.append(row)
        if kind.emit == "change" or (
            kind.emit == "every"
            and kind.every_by == "tuples"
            and len(window.rows) % int(kind.every or 1) == 0
        ):
            self.report(window, row["t"])
        if kind.by == "tuples" and len(window.rows) == kind.size:
            self.close(window, row["t"])
