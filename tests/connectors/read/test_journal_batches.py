"""Batches that one thread adds while another removes them."""

import threading
from pathlib import Path

from boxcars.connectors.read.journal_batches import Batches


def fill(folder: Path) -> None:
    folder.mkdir()
    (folder / "0.parquet").touch()


def test_two_threads(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    wrong: list[BaseException] = []

    def bring() -> None:
        try:
            for number in range(300):
                batches.add(number, fill)
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=bring)
    thread.start()
    read: list[int] = []
    while thread.is_alive() or read[-1] < 299_000_000:
        for number, _ in batches.files(read[-1] + 1 if read else 0):
            read.append(number)
            batches.take(number + 1)
            batches.remove(number + 1)
    thread.join()
    assert not wrong
    assert read == [number * 1_000_000 for number in range(300)]
    assert batches.last() == 299
