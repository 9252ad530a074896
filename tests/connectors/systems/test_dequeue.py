"""What a dequeue:// output keeps for its readers."""

import threading
import time
from pathlib import Path

import pytest

from boxcars.connectors.files import write_table
from boxcars.connectors.write.subscription import Gone, Tap
from tests.connectors.systems.test_enqueue import rows


def tap_at(home: Path, keep: int = 10**9) -> Tap:
    (home / "parts").mkdir(parents=True, exist_ok=True)
    return Tap(home, keep)


def deliver(tap: Tap, epoch: int) -> None:
    write_table(rows(epoch, epoch + 1), tap.folder / f"part-{epoch:08d}.parquet")
    tap.deliver(epoch)


def test_readers_go_on_where_they_were(tmp_path: Path) -> None:
    tap = tap_at(tmp_path)
    deliver(tap, 2)
    tap.deliver(3)  # an epoch without rows
    deliver(tap, 5)
    assert [epoch for epoch, _ in tap.rows(0, 0)] == [2, 5]
    assert [epoch for epoch, _ in tap.rows(2, 0)] == [5]
    again = tap_at(tmp_path)
    assert [table["t"].to_pylist() for _, table in again.rows(0, 0)] == [[2], [5]]
    assert again.newest == 5


def test_a_reader_waits_for_what_is_new(tmp_path: Path) -> None:
    tap = tap_at(tmp_path)
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.extend(e for e, _ in tap.rows()))
    reader.start()
    deliver(tap, 1)
    deliver(tap, 2)
    time.sleep(0.05)
    tap.close()
    reader.join(10)
    assert found == [1, 2]


def test_a_reader_who_is_too_slow_is_told(tmp_path: Path) -> None:
    tap = tap_at(tmp_path, keep=1)
    deliver(tap, 1)
    deliver(tap, 2)
    assert len(list(tap.folder.iterdir())) == 1
    for reader in (tap, tap_at(tmp_path)):
        with pytest.raises(Gone, match="read on with after=1"):
            reader.read(0, 0)
        found = reader.read(1, 0)
        assert found is not None
        assert found[0] == 2
