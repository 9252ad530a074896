"""Batches: one thread adds them while another removes them, and damage is noticed."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from boxcars.connectors.documents import Damaged
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


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"x")


@pytest.mark.parametrize("name", ["1.parquet", "position.json", "sums"])
@pytest.mark.parametrize("damage", [change, Path.unlink])
def test_damage_is_noticed(tmp_path: Path, name: str, damage: Callable[[Path], None]) -> None:
    def fill_all(folder: Path) -> None:
        folder.mkdir()
        for each in ("0.parquet", "1.parquet", "position.json"):
            (folder / each).write_bytes(b"some rows of " + each.encode())

    Batches(tmp_path).add(0, fill_all)
    assert Batches(tmp_path).note(0, "position.json") == b"some rows of position.json"
    batches = Batches(tmp_path)
    batches.verify(0)
    batches.remove(1)  # which is no damage
    Batches(tmp_path).verify(1)
    damage(tmp_path / "batches" / f"{0:012d}" / name)
    batches.verify(1)  # once in a process
    with pytest.raises(Damaged, match=f"{name}: the checkpoint is damaged"):
        Batches(tmp_path).verify(1)
