"""The log in a folder: torn and damaged lines, rotation, many readers, and following it."""

import logging
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from boxcars.events.event import Event, Kind
from boxcars.events.event_log import CURRENT, PREVIOUS, EventLog


def event(epoch: int) -> Event:
    return Event(float(epoch), Kind.RETRIED, f"epoch {epoch} runs again.", epoch=epoch)


def numbers(log: EventLog, after: int = 0, limit: int | None = None) -> list[int]:
    return [found.number for found in log.read(after, limit).events]


def test_numbers_go_on_in_the_next_process(tmp_path: Path) -> None:
    assert not EventLog(tmp_path).exists
    for epoch in (1, 2):
        EventLog(tmp_path).append(event(epoch))
    log = EventLog(tmp_path)
    log.append(event(3))
    assert log.exists
    assert [(e.number, e.epoch) for e in log.read().events] == [(1, 1), (2, 2), (3, 3)]
    assert (numbers(log, after=1), numbers(log, after=1, limit=1)) == ([2, 3], [2])
    assert (numbers(log, after=3), log.last()) == ([], 3)


@pytest.mark.parametrize("kept", [1, 20, -2])
def test_a_torn_line_loses_that_event_only(tmp_path: Path, kept: int) -> None:
    log = EventLog(tmp_path)
    log.append(event(1))
    with (tmp_path / CURRENT).open("ab") as file:
        file.write(replace(event(2), number=2).line()[:kept])
    assert (numbers(log), log.read().damaged) == ([1], 0)  # it may still be under way
    log = EventLog(tmp_path)
    log.append(event(3))
    page = log.read()
    assert ([e.epoch for e in page.events], page.damaged) == ([1, 3], 1)
    log.append(event(4))
    assert (numbers(log), log.read(after=2).damaged) == ([1, 2, 3], 0)


def test_a_line_without_its_end_is_complete(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    with (tmp_path / CURRENT).open("ab") as file:
        file.write(replace(event(1), number=1).line()[:-1])
    log.append(event(2))
    assert [(e.number, e.epoch) for e in log.read().events] == [(1, 1), (2, 2)]


def test_damage_in_the_middle_is_skipped_and_counted(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    for epoch in range(1, 6):
        log.append(event(epoch))
    path = tmp_path / CURRENT
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\x00" * 30 + b"\n"
    lines[3] = lines[3].replace(b"epoch 4", b"epoch 5")
    path.write_bytes(b"".join(lines))
    page = log.read()
    assert ([e.number for e in page.events], page.damaged) == ([1, 3, 5], 2)
    assert log.read(after=3).damaged == 1
    log.append(event(6))
    assert numbers(log) == [1, 3, 5, 6]


def test_rotation_bounds_the_size(tmp_path: Path) -> None:
    largest = 1000
    log = EventLog(tmp_path, largest)
    for epoch in range(1, 101):
        log.append(event(epoch))
    sizes = [(tmp_path / name).stat().st_size for name in (CURRENT, PREVIOUS)]
    assert max(sizes) <= largest
    found = numbers(log)
    assert found == list(range(found[0], 101))
    assert len(found) > 5
    EventLog(tmp_path, largest).append(event(101))
    assert numbers(log)[-1] == 101


def test_an_event_that_is_larger_than_a_file_is_written(tmp_path: Path) -> None:
    log = EventLog(tmp_path, 10)
    log.append(event(1))
    log.append(event(2))
    assert numbers(log) == [1, 2]


def test_readers_miss_nothing_while_files_are_exchanged(tmp_path: Path) -> None:
    """Readers see increasing numbers without gaps after the first that is still there."""
    log, over = EventLog(tmp_path, 3000), threading.Event()
    wrong: list[list[int]] = []

    def look() -> None:
        while not over.is_set():
            found = numbers(EventLog(tmp_path))
            if found and found != list(range(found[0], found[-1] + 1)):
                wrong.append(found)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()

    def write() -> None:
        for epoch in range(150):
            log.append(event(epoch))

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    over.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert log.last() == 300


def test_two_writers_keep_the_numbers_apart(tmp_path: Path) -> None:
    """A driver that was paused may write once more, after its successor has begun."""
    paused, successor = EventLog(tmp_path), EventLog(tmp_path)
    paused.append(event(1))
    successor.append(event(2))
    paused.append(event(3))
    successor.append(event(4))
    assert [e.epoch for e in successor.read().events] == [1, 2, 3, 4]


def test_a_log_that_cannot_be_written_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = EventLog(tmp_path / "removed")
    with caplog.at_level(logging.WARNING, "boxcars.events"):
        log.append(event(1))
        log.append(event(2))
    assert len(caplog.records) == 1
    assert "events are not recorded" in caplog.text
    (tmp_path / "removed").mkdir()
    log.append(event(3))
    assert [e.epoch for e in log.read().events] == [3]


def test_following(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    tail = EventLog(tmp_path).tail()
    assert tail.news().events == ()
    log.append(event(1))
    log.append(event(2))
    assert [e.number for e in tail.news().events] == [1, 2]
    assert tail.news().events == ()
    log.append(event(3))
    assert [e.number for e in tail.news().events] == [3]
    (tmp_path / CURRENT).unlink()  # the checkpoint was removed, and the run started over
    EventLog(tmp_path).append(event(9))
    assert [(e.number, e.epoch) for e in tail.news().events] == [(1, 9)]
