"""Windows: which tuples a stateful box processes together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, Self, get_args

from boxcars.model.problem import Wrong, a, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type

Number = int | float
By = Literal["time", "tuples", "value", "landmark", "runs"]
_SIZELESS = ("landmark", "runs")
Emit = Literal["close", "change", "every"]
Unit = Literal["tuples", "time"]
Obsolete = Literal["close", "drop"]


@dataclass(frozen=True)
class Window:
    """A window by time, by tuples, by the value of a field, since a landmark, or over a run.

    Sizes are in units of the order attribute (seconds for a timestamp), tuples, or units of
    ``field``. Without ``advance`` windows tumble: each starts where the last one ended. An input
    that is not in order is sorted first, with ``slack`` in tuples or in time. ``obsolete`` says
    whether a window closes or is dropped if its key gets no tuple for its ``timeout``.

    >>> Window("time", size=3600, advance=600).plain()
    {'time': 3600, 'advance': 600}
    """

    by: By
    size: Number = 0
    advance: Number | None = None
    field: str | None = None
    timeout: Number | None = None
    slack: Number = 0
    slack_by: Unit = "tuples"
    emit: Emit = "close"
    every: Number | None = None
    every_by: Unit = "tuples"
    obsolete: Obsolete = "close"
    origin: Number = 0
    flush: bool = False

    @property
    def step(self) -> Number:
        """The advance; by default the size."""
        return self.size if self.advance is None else self.advance

    @property
    def timed(self) -> bool:
        """Whether passing time alone can close it or let it report; not only its tuples.

        >>> [w.timed for w in (time(60), tuples(2), tuples(2, timeout=5))]
        [True, False, True]
        """
        by_tuples = self.by in ("tuples", "landmark", "runs") and not self.slack
        every = self.emit == "every" and self.every_by == "time"
        return not by_tuples or self.timeout is not None or every

    def plain(self) -> dict[str, object]:
        """Return the window as in a network file."""
        plain: dict[str, object] = {}
        if self.by in _SIZELESS:
            plain[self.by] = True
        elif self.by == "value":
            plain |= {"value": self.field, "size": self.size}
        else:
            plain[self.by] = self.size
        for name in ("advance", "timeout", "obsolete", "slack", "origin", "flush"):
            if getattr(self, name) != _DEFAULTS[name]:
                plain[name] = getattr(self, name)
        if self.slack_by == "time":
            plain["slack"] = {"time": self.slack}
        if self.emit != "close":
            plain["emit"] = self.emit
        if self.emit == "every":
            by = {"by": self.every_by} if self.every_by != _every_by(self.by) else {}
            plain["emit"] = {"every": self.every, **by}
        return plain

    @classmethod
    def from_plain(cls, plain: object) -> Self:
        """Parse the output of :meth:`plain`."""
        if not isinstance(plain, Mapping):
            raise Wrong(f"expected a window such as {{time: 60, advance: 10}}, got {plain!r}.")
        kinds = [key for key in get_args(By) if key in plain]
        if len(kinds) != 1:
            got = " and ".join(kinds) if kinds else ", ".join(plain) or "nothing"
            raise Wrong(f"a window has exactly one of {', '.join(get_args(By))}; got {got}.")
        by = kinds[0]
        known = {by, "advance", "timeout", "obsolete", "slack", "origin", "flush", "emit"}
        known |= {"size"} if by == "value" else set()
        for key in plain:
            if key not in known:
                raise Wrong(f"{a(by)} window has no '{key}'.{nearest(key, known)}")
        given: dict[str, Any] = {
            key: plain[key] for key in plain if key not in (by, "slack", "emit")
        }
        if by == "value":
            given["field"] = plain[by]
        elif by not in _SIZELESS:
            given["size"] = plain[by]
        slack, emit = plain.get("slack", 0), plain.get("emit", "close")
        return cls(by, **given, **_read_slack(slack), **_read_emit(by, emit))

    def problems(self, schema: Schema) -> Iterator[tuple[str, str]]:
        """Yield the problems of the window over tuples of a schema: (parameter, sentence)."""
        for name in ("size", "advance", "timeout", "slack", "every", "origin"):
            number = getattr(self, name)
            if number is None and name == "size":
                yield name, "expected a number, got nothing."
                return
            if number is not None and (isinstance(number, bool) or not isinstance(number, Number)):
                yield name, f"expected a number, got {number!r}."
                return
            if isinstance(number, float) and not isfinite(number):
                yield name, f"expected a finite number, got {number}."
                return
        if self.flush not in (True, False):
            yield "flush", f"expected true or false, got {self.flush!r}."
        if self.obsolete not in get_args(Obsolete):
            yield "obsolete", f"expected close or drop, got {self.obsolete!r}."
        yield from self._size_problems(schema)
        yield from self._emit_problems()
        yield from self._timeout_problems()
        if self.by == "value":
            if self.slack:
                yield "slack", "a value window has no slack: put a bsort before it."
            yield from self._field_problems(schema)

    def _size_problems(self, schema: Schema) -> Iterator[tuple[str, str]]:
        if self.by not in _SIZELESS and self.size <= 0:
            yield "size", f"a window needs a size above 0, got {self.size}."
        if self.advance is not None and self.advance < 0:
            yield "advance", f"a window can't move backwards, got {self.advance}."
        if self.slack < 0 or (self.timeout is not None and self.timeout < 0):
            yield "slack" if self.slack < 0 else "timeout", "expected 0 or more."
        whole = self.by == "tuples" or (
            self.by == "time" and schema.known and schema.fields.get(schema.ts) is Type.INT
        )
        if whole and any(number != int(number) for number in (self.size, self.step)):
            unit = "tuples" if self.by == "tuples" else f"the int '{schema.ts}'"
            yield "size", f"size and advance count {unit}, so they must be whole numbers."

    def _emit_problems(self) -> Iterator[tuple[str, str]]:
        if self.emit == "every" and (self.every is None or self.every <= 0):
            yield "emit", f"expected emit: {{every: n}} with n above 0, got {self.every}."
        every = self.every or 0
        if self.emit == "every" and self.every_by == "tuples" and every != int(every):
            yield "emit", f"tuples are counted in whole numbers, got {every}."
        if self.emit != "close" and self.by in ("time", "value") and self.advance == 0:
            yield "emit", "a window with advance 0 already emits a result for each tuple."
        if self.by == "landmark" and self.emit == "close" and not self.flush:
            yield (
                "emit",
                "a landmark window never closes: set emit to change or {every: n}, or flush: true.",
            )

    def _timeout_problems(self) -> Iterator[tuple[str, str]]:
        if self.obsolete == "drop":
            if self.timeout is None:
                yield "obsolete", "set the timeout after which a window is obsolete."
            if self.emit != "close" or self.by not in ("time", "tuples") or self.advance == 0:
                yield (
                    "obsolete",
                    "only time and tuple windows that emit when they close can be dropped.",
                )
        elif self.timeout is not None and self.by != "tuples":
            only = "only tuple windows, and windows with obsolete: drop, have a timeout"
            yield "timeout", f"{only}; this is {a(self.by)} window."

    def _field_problems(self, schema: Schema) -> Iterator[tuple[str, str]]:
        if not schema.known:
            return
        if not self.field or self.field not in schema:
            yield "value", f"unknown field '{self.field}'.{nearest(str(self.field), schema.fields)}"
        elif not schema[self.field].numeric and schema[self.field] is not Type.TIMESTAMP:
            kind = schema[self.field]
            yield "value", f"a window needs a number or timestamp, '{self.field}' is {a(kind)}."


_DEFAULTS = {field.name: field.default for field in fields(Window)}


def _every_by(by: By) -> Unit:
    """Return the default unit of ``emit: {every: n}``."""
    return "time" if by == "time" else "tuples"


def _read_emit(by: By, plain: object) -> dict[str, Any]:
    if isinstance(plain, Mapping) and {"every"} <= set(plain) <= {"every", "by"}:
        unit = plain.get("by", _every_by(by))
        if unit not in get_args(Unit):
            raise Wrong(f"emit: {{every: n, by: ...}} is by tuples or time; got {unit!r}.")
        return {"emit": "every", "every": plain["every"], "every_by": unit}
    if plain in ("close", "change"):
        return {"emit": plain}
    raise Wrong(f"emit is close, change or {{every: n}}; got {plain!r}.")


def _read_slack(plain: object) -> dict[str, Any]:
    if not isinstance(plain, Mapping):
        return {"slack": plain}
    if len(plain) == 1 and set(plain) <= set(get_args(Unit)):
        ((unit, number),) = plain.items()
        return {"slack": number, "slack_by": unit}
    raise Wrong(f"slack is a number of tuples, or {{time: n}}; got {plain!r}.")


def time(size: Number, advance: Number | None = None, **more: Any) -> Window:
    """Make a window over ``size`` units of the order attribute, moved by ``advance``.

    >>> time(3600, advance=600).step
    600
    """
    return _make("time", size=size, advance=advance, **more)


def tuples(size: Number, advance: Number | None = None, **more: Any) -> Window:
    """Make a window over the last ``size`` tuples, moved by ``advance`` tuples."""
    return _make("tuples", size=size, advance=advance, **more)


def value(field: str, size: Number, advance: Number | None = None, **more: Any) -> Window:
    """Make a window over ``size`` units of the value of ``field``."""
    return _make("value", size=size, advance=advance, field=field, **more)


def runs(**more: Any) -> Window:
    """Make a window over consecutive tuples with the same group-by values (Aurora's Tumble)."""
    return _make("runs", **more)


def landmark(**more: Any) -> Window:
    """Make a window that grows from the first tuple on."""
    return _make("landmark", **more)


def _make(by: By, emit: object = "close", slack: object = 0, **given: Any) -> Window:
    return Window(by, **given, **_read_slack(slack), **_read_emit(by, emit))
