"""Enqueue and dequeue in one process: what is put in comes out, once, and readers go on."""

import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.io.files import write_table
from boxcars.io.tap import Gone, Tap
from boxcars.model.problem import Wrong
from boxcars.outside.mailbox import Closed, Mailbox, Message
from tests.outside.test_connector import network


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

    def test_another_process_remembers(self) -> None:
        box = Mailbox()
        box.open({"me": 2})
        assert box.put(Message(b"2", "me", 2))
        assert box.put(Message(b"3", "me", 3))
        received = box.pull(10, 0.1)
        assert received is not None
        assert (received.data, received.position) == ([b"3"], {"me": 3})
        assert box.kept("me") == 2

    def test_there_is_only_so_much_room(self) -> None:
        box = Mailbox(room=10)
        box.open(None)
        assert box.put(Message(b"123456789"))
        assert box.put(Message(b"12"), 0)
        assert not box.put(Message(b"3"), 0)
        waiting = threading.Thread(target=box.put, args=(Message(b"4"),))
        waiting.start()
        received = box.pull(1, 0.1)
        waiting.join(10)
        assert received is not None
        assert received.data == [b"123456789"]

    def test_bytes_and_tables_come_apart(self) -> None:
        box = Mailbox()
        box.open(None)
        for data in (b"1", b"2", rows(1, 2), b"3"):
            box.put(Message(data))
        box.finish()
        found = [box.pull(10, 0.1) for _ in range(3)]
        kinds = [type(r.data).__name__ for r in found if r is not None]
        assert kinds == ["list", "Table", "list"]
        assert [r.ended for r in found if r is not None] == [False, False, True]

    def test_who_comes_too_late_is_told(self) -> None:
        box = Mailbox()
        box.open(None)
        box.put(Message(b"1", "me", 1))
        box.close()
        with pytest.raises(Closed, match="takes no more tuples"):
            box.put(Message(b"2", "me", 2))
        with pytest.raises(Closed, match="send the last ones again"):
            box.wait_kept("me", 1)


class TestTap:
    def tap(self, home: Path, keep: int = 10**9) -> Tap:
        (home / "parts").mkdir(parents=True, exist_ok=True)
        return Tap(home, keep)

    def deliver(self, tap: Tap, epoch: int) -> None:
        write_table(rows(epoch, epoch + 1), tap.folder / f"part-{epoch:08d}.parquet")
        tap.deliver(epoch)

    def test_readers_go_on_where_they_were(self, tmp_path: Path) -> None:
        tap = self.tap(tmp_path)
        self.deliver(tap, 2)
        tap.deliver(3)  # an epoch without rows
        self.deliver(tap, 5)
        assert [epoch for epoch, _ in tap.rows(0, 0)] == [2, 5]
        assert [epoch for epoch, _ in tap.rows(2, 0)] == [5]
        again = self.tap(tmp_path)
        assert [table["t"].to_pylist() for _, table in again.rows(0, 0)] == [[2], [5]]
        assert again.newest == 5

    def test_a_reader_waits_for_what_is_new(self, tmp_path: Path) -> None:
        tap = self.tap(tmp_path)
        found: list[int] = []
        reader = threading.Thread(target=lambda: found.extend(e for e, _ in tap.rows()))
        reader.start()
        self.deliver(tap, 1)
        self.deliver(tap, 2)
        time.sleep(0.05)
        tap.close()
        reader.join(10)
        assert found == [1, 2]

    def test_a_reader_who_is_too_slow_is_told(self, tmp_path: Path) -> None:
        tap = self.tap(tmp_path, keep=1)
        self.deliver(tap, 1)
        self.deliver(tap, 2)
        assert len(list(tap.folder.iterdir())) == 1
        for reader in (tap, self.tap(tmp_path)):
            with pytest.raises(Gone, match="read on with after=1"):
                reader.read(0, 0)
            found = reader.read(1, 0)
            assert found is not None
            assert found[0] == 2


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
