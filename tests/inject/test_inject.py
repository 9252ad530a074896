"""The load injector: data, pace and commands (fmt-09)."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from boxcars.inject import (
    AtRate,
    Batch,
    ByTime,
    Controller,
    Folders,
    Injector,
    Target,
    Unthrottled,
    cut,
)
from boxcars.model.problem import Wrong
from tests.patience import PATIENCE, until


class Clock:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Kept(Target):
    """A target that stores its batches."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.calls: list[str] = []

    def open(self) -> None:
        self.calls.append("open")

    def send(self, batch: Batch) -> None:
        self.batches.append(batch)

    def finish(self) -> None:
        self.calls.append("finish")

    def close(self) -> None:
        self.calls.append("close")

    def times(self) -> list[int]:
        return [t for batch in self.batches for t in batch["a"]["t"]]


def batches(*sizes: int) -> list[Batch]:
    found: list[Batch] = []
    first = 0
    for size in sizes:
        found.append({"a": pl.DataFrame({"t": range(first, first + size)})})
        first += size
    return found


def test_all_batches_in_order() -> None:
    target = Kept()
    injector = Injector(cut(batches(5, 3), 2), target)
    injector.inject()
    assert target.times() == list(range(8))
    assert max(batch["a"].height for batch in target.batches) == 2
    assert target.calls == ["open", "finish", "close"]
    assert injector.sent == 8


def test_a_rate_that_changes() -> None:
    clock = Clock()
    pace = AtRate(10, clock)
    (batch,) = batches(20)
    assert pace.due(batch) == 0
    pace.sent(batch)
    assert pace.due(batch) == 2
    clock.now += 1.5
    assert pace.due(batch) == 0.5
    pace.change(40)
    assert (pace.rate, pace.due(batch)) == (40, 0)
    pace.sent(batch)
    assert pace.due(batch) == 0.5
    with pytest.raises(Wrong, match="expected a rate or speed above 0, got 0"):
        pace.change(0)


@pytest.mark.parametrize("dated", [False, True])
def test_replay_by_timestamps(dated: bool) -> None:
    clock = Clock()
    pace = ByTime({"a": "t"}, speed=2, clock=clock)

    def at(second: int) -> Batch:
        value = datetime(2026, 1, 1, 0, 0, second) if dated else second
        return {"a": pl.DataFrame({"t": [value]})}

    assert pace.due(at(10)) == 0
    assert pace.due(at(14)) == 2
    clock.now += 2
    assert pace.due(at(14)) == 0
    assert pace.due({"a": at(14)["a"].clear()}) == 0
    pace.change(1)
    assert (pace.due(at(14)), pace.due(at(15))) == (0, 1)


def test_tuples_due_together_are_sent_together() -> None:
    """An input without a due tuple waits; a late tuple is sent with those before it."""
    calls = pl.DataFrame({"t": [1, 2, 5, None]})
    cells = pl.DataFrame({"at": [2.0, 4.9, 1.0, float("nan")]})
    pace = ByTime({"calls": "t", "cells": "at"}, speed=10)
    cut = pace.cut([{"calls": calls, "cells": cells}, {"calls": calls.clear()}])
    found = [{name: frame.to_series().len() for name, frame in batch.items()} for batch in cut]
    assert found == [{"calls": 2, "cells": 1}, {"calls": 2, "cells": 3}]


def test_the_cut_follows_the_speed() -> None:
    start = datetime(2026, 1, 1)
    frame = pl.DataFrame({"t": [start + timedelta(milliseconds=10 * n) for n in range(100)]})
    pace = ByTime({"a": "t"})
    cut = iter(pace.cut([{"a": frame}]))
    heights = []
    for speed in (1, 5, 100):
        pace.change(speed)
        heights.append(next(cut)["a"].height)
    assert heights == [11, 51, 38]


@pytest.mark.parametrize("pace", [AtRate(10, Clock()), ByTime({"a": "t"}, clock=Clock())])
def test_a_pause_is_not_caught_up(pace: AtRate | ByTime) -> None:
    one, _, three = batches(1, 20, 1)
    pace.due(one)
    pace.sent(one)
    pace._clock.now += 60  # type: ignore[attr-defined]
    pace.resume()
    assert pace.due(one) == 0
    pace.sent(one)
    assert pace.due(three) == pytest.approx(21 if isinstance(pace, ByTime) else 0.1)


def test_stamped_with_the_time_of_sending() -> None:
    frame = pl.DataFrame({"t": [1, 2], "at": [datetime(2000, 1, 1)] * 2, "f": [0.5, 0.5]})
    for field in frame.columns:
        target = Kept()
        before = time.time()
        Injector([{"a": frame}], target, stamp={"a": field}).inject()
        (value,) = set(target.batches[0]["a"][field])
        seconds = value.replace(tzinfo=UTC).timestamp() if field == "at" else value
        assert int(before) <= seconds <= time.time()


def test_pause_resume_and_stop() -> None:
    target = Kept()
    injector = Injector(batches(*[1] * 1000), target, AtRate(200))
    injector.pause()
    injector.start()
    time.sleep(0.3)
    assert injector.sent == 0
    injector.resume()
    until(lambda: injector.sent > 5)
    assert not injector.wait(0)
    injector.stop()
    assert injector.wait(PATIENCE)
    assert "finish" not in target.calls
    assert target.times() == list(range(injector.sent))


def test_an_error_is_stored_and_raised() -> None:
    class Full(Kept):
        def send(self, batch: Batch) -> None:
            raise Wrong("the disk is full.")

    injector = Injector(batches(1), Full())
    injector.start()
    with pytest.raises(Wrong, match="the disk is full"):
        injector.wait(PATIENCE)


def test_several_injectors_share_the_input_and_the_commands() -> None:
    """Commands for all injectors: start injection, stop injection, change injection rate."""
    targets = [Kept(), Kept(), Kept()]
    pace = AtRate(300)
    controller = Controller(batches(*[1] * 100), targets, pace)
    controller.command("stop")
    controller.start()
    time.sleep(0.3)
    assert controller.sent == 0
    controller.command("rate 100000")
    assert pace.rate == 100_000
    controller.command("start")
    assert controller.wait(PATIENCE)
    assert sorted(t for target in targets for t in target.times()) == list(range(100))
    assert all("finish" in target.calls for target in targets)
    for wrong, words in {"rate x": "expected a number", "strat": "Did you mean 'start'"}.items():
        with pytest.raises(Wrong, match=words):
            controller.command(wrong)
    with pytest.raises(Wrong, match="not throttled"):
        Controller([], targets, Unthrottled()).command("rate 5")


def test_end_before_all_is_sent() -> None:
    target = Kept()
    controller = Controller(batches(*[1] * 1000), [target], AtRate(50))
    controller.start()
    until(lambda: controller.sent > 2)
    controller.command("end")
    assert controller.wait(PATIENCE)
    assert 2 < controller.sent < 1000


def test_files_that_have_been_read_are_removed(tmp_path: Path) -> None:
    folders = Folders({"a": tmp_path / "a"}, complete=False)
    Injector(batches(2, 3), folders).inject()
    assert len(list((tmp_path / "a").iterdir())) == 2
    folders.remove("a", 4)
    (left,) = (tmp_path / "a").iterdir()
    assert pl.read_parquet(left)["t"].to_list() == [2, 3, 4]
    folders.remove("a", 5)
    assert not list((tmp_path / "a").iterdir())
