"""Storage, in a folder and in memory: the same contract."""

import os
from pathlib import Path

import pytest

from boxcars.engine.state.storage import LocalStorage, Missing, Storage
from boxcars.model.problem import BoxcarsError
from boxcars.sim.storage import MemoryStorage


@pytest.fixture(params=["local", "not durable", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "memory":
        return MemoryStorage()
    return LocalStorage(tmp_path / "new" / "folder", durable=request.param == "local")


def test_what_is_put_is_there(storage: Storage) -> None:
    storage.put("state/a", b"one", memoryview(b"two"))
    storage.sync(["state/a"])
    assert storage.get("state/a") == b"onetwo"
    assert storage.get("state/a", 2, 2) == b"et"
    assert storage.get("state/a", 4) == b"wo"
    storage.put("state/a", b"")
    assert storage.get("state/a") == b""


def test_lists_and_deletions(storage: Storage) -> None:
    assert storage.list("state") == []
    for name in ("state/b", "state/a", "other/c"):
        storage.put(name, b"x")
    assert storage.list("state") == ["state/a", "state/b"]
    storage.delete(["state/a", "state/never"])
    assert storage.list("state") == ["state/b"]
    with pytest.raises(Missing, match="there is no such"):
        storage.get("state/a")


def test_a_swap_compares(storage: Storage) -> None:
    assert not storage.swap("head", b"0", b"1")
    assert storage.swap("head", None, b"1")
    assert not storage.swap("head", None, b"2")
    assert not storage.swap("head", b"0", b"2")
    assert storage.swap("head", b"1", b"2")
    assert storage.get("head") == b"2"


def test_two_processes_swap_once(tmp_path: Path) -> None:
    """Of many processes that swap the same head, one succeeds."""
    storage = LocalStorage(tmp_path)
    storage.swap("head", None, b"0")
    children = []
    for number in range(8):
        child = os.fork()
        if child == 0:
            os._exit(0 if storage.swap("head", b"0", b"%d" % (number + 1)) else 1)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0, *[1] * 7]


def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    storage = LocalStorage(tmp_path / "file")
    with pytest.raises(BoxcarsError, match=r"file/a: can't be written: Not a directory"):
        storage.put("a", b"")
    with pytest.raises(BoxcarsError, match=r"can't be read: Not a directory"):
        storage.get("a")


def test_nothing_unfinished_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = LocalStorage(tmp_path)
    storage.put("a", b"old")

    def breaks(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", breaks)
        with pytest.raises(BoxcarsError, match="a: can't be written: No space left on device"):
            storage.put("a", b"new")
    assert storage.get("a") == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
