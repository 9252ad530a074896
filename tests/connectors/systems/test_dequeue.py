"""Epochs that a dequeue:// output retains for its readers."""

import threading
from pathlib import Path

import pytest

from boxcars.connectors.files import write_table
from boxcars.connectors.write.subscription import Expired, RetainedOutput
from tests.connectors.systems.test_enqueue import rows
from tests.patience import until


def output_at(home: Path, keep: int = 10**9) -> RetainedOutput:
    (home / "staged").mkdir(parents=True, exist_ok=True)
    return RetainedOutput(home, keep)


def deliver(output: RetainedOutput, epoch: int) -> None:
    write_table(rows(epoch, epoch + 1), output.folder / f"part-{epoch:08d}.parquet")
    output.deliver(epoch)


def test_readers_resume(tmp_path: Path) -> None:
    output = output_at(tmp_path)
    deliver(output, 2)
    output.deliver(3)  # an epoch without rows
    deliver(output, 5)
    assert [epoch for epoch, _ in output.rows(0, 0)] == [2, 5]
    assert [epoch for epoch, _ in output.rows(2, 0)] == [5]
    again = output_at(tmp_path)
    assert [table["t"].to_pylist() for _, table in again.rows(0, 0)] == [[2], [5]]
    assert again.newest == 5


def test_a_reader_waits_for_new_epochs(tmp_path: Path) -> None:
    output = output_at(tmp_path)
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.extend(e for e, _ in output.rows()))
    reader.start()
    try:
        deliver(output, 1)
        deliver(output, 2)
        until(lambda: found == [1, 2])
    finally:
        output.close()
    reader.join(10)
    assert found == [1, 2]


def test_a_reader_that_is_too_slow_gets_an_error(tmp_path: Path) -> None:
    output = output_at(tmp_path, keep=1)
    deliver(output, 1)
    deliver(output, 2)
    assert len(list((tmp_path / "parts").iterdir())) == 1
    for reader in (output, output_at(tmp_path)):
        with pytest.raises(Expired, match="continue with after=1"):
            reader.read(0, 0)
        found = reader.read(1, 0)
        assert found is not None
        assert found[0] == 2
