"""One schema of events: as a line, and again; what is damaged is not read."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxcars.events.event import FORMAT, LONGEST, Event, Kind, read_line

TEXT = st.text(max_size=50)
FIGURES = st.dictionaries(TEXT, st.floats(allow_nan=False, allow_infinity=False))
EVENTS = st.builds(
    Event,
    at=st.integers(0, 2**40).map(lambda milliseconds: milliseconds / 1000),
    kind=st.sampled_from(Kind),
    cause=TEXT,
    figures=FIGURES,
    epoch=st.integers(0, 2**40),
    box=TEXT,
    number=st.integers(0, 2**50),
)


@given(EVENTS)
def test_a_round_trip(event: Event) -> None:
    line = event.line()
    assert read_line(line) == event
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert "sum" in json.loads(line)


@given(EVENTS, st.data())
def test_a_damaged_line_is_not_read(event: Event, data: st.DataObject) -> None:
    line = event.line()
    at = data.draw(st.integers(0, len(line) - 2))
    assert read_line(line[:at]) is None
    flipped = bytes([line[at] ^ data.draw(st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128]))])
    assert read_line(line[:at] + flipped + line[at + 1 :]) is None


def test_kinds_and_fields_of_later_versions() -> None:
    found = Event.of({**Event(1.0, "balanced", "so.").plain(), "who": "planner"})
    assert (found.kind, isinstance(found.kind, Kind)) == ("balanced", False)
    assert read_line(found.line()) == found


def test_another_format_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boxcars.events.event.FORMAT", FORMAT + 1)
    line = Event(1.0, Kind.STARTED, "so.").line()
    monkeypatch.undo()
    assert read_line(line) is None


def test_what_json_has_no_number_for_is_left_out() -> None:
    figures = {"rate": math.inf, "worst": math.nan, "rows": 3.0}
    event = read_line(Event(1.0, Kind.SLOW_EPOCH, "so.", figures).line())
    assert event is not None
    assert event.figures == {"rows": 3.0}


def test_a_long_cause_is_shortened() -> None:
    cause = Event(1.0, Kind.FAILED, "a" * LONGEST + "b" * LONGEST).cause
    assert len(cause) == LONGEST + 3
    assert (cause[0], cause[-1]) == ("a", "b")
