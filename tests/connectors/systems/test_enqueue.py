"""Enqueue and dequeue in one process: exactly once, and readers can resume."""

import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.systems.mailbox import Closed, Mailbox, Message, Stopped
from boxcars.model.problem import Wrong
from tests.connectors.systems.test_connector import network


def rows(first: int, stop: int) -> pa.Table:
    return pa.table({"t": list(range(first, stop)), "who": ["ann"] * (stop - first)})


class TestMailbox:
    def test_in_order_and_once(self) -> None:
        box = Mailbox()
        box.open(None)
        for number in (1, 2, 2, 1, 3):
            assert box.put(Message(rows(number, number + 1), "me", number))
        received = box.pull(10, 0.1)
        assert received is not None
        assert isinstance(received.data, pa.Table)
        assert received.data["t"].to_pylist() == [1, 2, 3]
        assert received.position == {"me": 3}
        assert not box.wait_kept("me", 3, 0)
        box.safe(received.position)
        assert box.wait_kept("me", 3, 0)
        assert box.pull(10, 0) is None

    def test_without_a_number_a_message_gets_the_next_one(self) -> None:
        """It is assigned when there is room: two waiting messages get different numbers."""
        box = Mailbox(room=1)
        box.open({"me": 6})
        assert box.put(Message(b"7", "me"), 0) == 7
        assert box.put(Message(b"8", "me"), 0) is None
        assert box.put(Message(b"9", "me"), 0) is None
        for number in (7, 8, 9):
            received = box.pull(1, 1.0)
            assert received is not None
            assert received.data == [str(number).encode()]
            assert received.position == {"me": number}
            box.put(Message(str(number + 1).encode(), "me"), 0)

    def test_another_process_remembers(self) -> None:
        box = Mailbox()
        box.open({"me": 2})
        assert box.put(Message(b"2", "me", 2))
        assert box.put(Message(b"3", "me", 3))
        received = box.pull(10, 0.1)
        assert received is not None
        assert (received.data, received.position) == ([b"3"], {"me": 3})
        assert box.kept("me") == 2

    def test_the_capacity_is_limited(self) -> None:
        box = Mailbox(room=10)
        box.open(None)
        assert box.put(Message(b"123456789")) == 0
        assert box.put(Message(b"12"), 0) == 0
        assert box.put(Message(b"3"), 0) is None
        waiting = threading.Thread(target=box.put, args=(Message(b"4"),))
        waiting.start()
        received = box.pull(1, 0.1)
        waiting.join(10)
        assert received is not None
        assert received.data == [b"123456789"]

    def test_bytes_and_tables_are_not_mixed(self) -> None:
        box = Mailbox()
        box.open(None)
        for data in (b"1", b"2", rows(1, 2), b"3"):
            box.put(Message(data))
        box.finish()
        found = [box.pull(10, 0.1) for _ in range(3)]
        kinds = [type(r.data).__name__ for r in found if r is not None]
        assert kinds == ["list", "Table", "list"]
        assert [r.ended for r in found if r is not None] == [False, False, True]

    def test_a_late_sender_gets_an_error(self) -> None:
        box = Mailbox()
        box.open(None)
        box.put(Message(b"1", "me", 1))
        box.close()
        with pytest.raises(Stopped, match="accepts no tuples while it stops"):
            box.put(Message(b"2", "me", 2))
        with pytest.raises(Closed, match="send the last ones again"):
            box.wait_kept("me", 1)


def test_through_a_run(spark: SparkSession, tmp_path: Path) -> None:
    def start() -> bx.Run:
        return bx.run(
            network(),
            {"rows": "enqueue://"},
            {"out": "dequeue://"},
            checkpoint=tmp_path / "c",
            spark=spark,
        )

    running = start()
    with pytest.raises(Wrong, match="there is no enqueue:// input 'rws'"):
        running.enqueue("rws", rows(0, 1))
    running.enqueue("rows", rows(0, 10))
    running.enqueue("rows", [{"t": 10, "who": "bob"}])
    first = next(running.dequeue("out"))
    running.stop()
    with pytest.raises(Closed):
        running.enqueue("rows", rows(11, 12))
    again = start()
    again.enqueue("rows", rows(11, 20))
    again.feeds["rows"].finish()
    again.wait(60)
    later = [table for _, table in again.dequeue("out", after=first[0])]
    found = pa.concat_tables([first[1], *later])["t"].to_pylist()
    assert found == [t for t in range(20) if t != 13]
