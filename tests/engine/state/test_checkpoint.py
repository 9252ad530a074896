"""Checkpoints: what is written is read again, and what was changed since is noticed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from boxcars.connectors.read.base import Place
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.state.checkpoint import Checkpoint, EpochPlan, Manifest
from boxcars.model.problem import BoxcarsError

PLACES = {"calls": Place(position=7, file=0, row=7)}
PLAN = EpochPlan(1, {"calls": ()}, {"calls": False}, PLACES)
FRAME = pl.DataFrame({"n": list(range(1000))})


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """One with an epoch that was begun and committed."""
    found = Checkpoint(tmp_path)
    network = found.keep_network("a network")
    state = (("box", 0, "tuples", found.save("00000001-0000-0000", FRAME)),)
    found.begin(PLAN)
    found.commit(Manifest(1, network, PLACES, False, Shape(1, 64), state))
    return found


def manifest_of(checkpoint: Checkpoint) -> Manifest:
    found = checkpoint.last()
    assert found is not None
    return found


def test_what_is_written_is_read_again(checkpoint: Checkpoint) -> None:
    manifest = manifest_of(checkpoint)
    assert checkpoint.plan_of(1) == PLAN
    assert manifest.places == PLACES
    assert checkpoint.network_of(manifest) == "a network"
    ((*_, file),) = manifest.state
    assert checkpoint.load(file).equals(FRAME)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "no states": lambda plain: {**plain, "state": []},
    "no places": lambda plain: {**plain, "places": {}},
    "a row before": lambda plain: {**plain, "places": {"calls": {"position": 7, "row": 1}}},
    "another epoch": lambda plain: {**plain, "epoch": 3},
    "no number": lambda plain: {**plain, "epoch": "x"},
    "final": lambda plain: {**plain, "final": "x"},
    "the same in other lines": lambda plain: plain,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_manifest(
    checkpoint: Checkpoint, tmp_path: Path, change: Callable[[Any], Any]
) -> None:
    path = tmp_path / "epochs" / "00000001.done.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(BoxcarsError, match=r"done\.json: the checkpoint is damaged: .*a new one"):
        checkpoint.last()


def test_one_bit_of_a_manifest_or_plan(checkpoint: Checkpoint, tmp_path: Path) -> None:
    for path in (tmp_path / "epochs").iterdir():
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(BoxcarsError, match="the checkpoint is damaged"):
                checkpoint.last() if "done" in path.name else checkpoint.plan_of(1)
        path.write_bytes(whole)


def test_one_bit_of_a_state(checkpoint: Checkpoint, tmp_path: Path) -> None:
    (path,) = (tmp_path / "state").iterdir()
    whole = path.read_bytes()
    for at in range(0, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(BoxcarsError, match=r"arrow: the checkpoint is damaged: it is not as"):
            checkpoint.load(path.name)


def test_a_changed_network(checkpoint: Checkpoint, tmp_path: Path) -> None:
    (path,) = tmp_path.glob("network-*")
    path.write_text("another network")
    with pytest.raises(BoxcarsError, match="the checkpoint is damaged: it is not as it was"):
        checkpoint.network_of(manifest_of(checkpoint))


@pytest.mark.parametrize("name", ["../../victim", "/victim", "00000001-0000-0000.arrow/../victim"])
def test_only_its_own_files_are_removed(checkpoint: Checkpoint, tmp_path: Path, name: str) -> None:
    """A manifest without a checksum, as older checkpoints have them, names what is not a state."""
    victim = tmp_path / "victim"
    victim.touch()
    path = tmp_path / "epochs" / "00000001.done.json"
    plain = json.loads(path.read_text())
    del plain["checksum"]
    plain["state"] = [["box", 0, "tuples", name.replace("/victim", str(victim))]]
    path.write_text(json.dumps(plain))
    last = Manifest(3, "n", PLACES, False, Shape(1, 64))
    with pytest.raises(BoxcarsError, match="is no state of it"):
        checkpoint.commit(last)
    assert victim.exists()


def test_an_older_checkpoint_is_read(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = tmp_path / "epochs" / "00000001.done.json"
    manifest = manifest_of(checkpoint)
    ((*owner, file),) = manifest.state
    (tmp_path / "state" / file).rename(tmp_path / "state" / "00000001-0000-0000.arrow")
    plain = json.loads(path.read_text())
    del plain["checksum"]
    plain["state"] = [[*owner, "00000001-0000-0000.arrow"]]
    path.write_text(json.dumps(plain))
    state = (("box", 0, "tuples", "00000001-0000-0000.arrow"),)
    assert checkpoint.last() == replace(manifest, state=state)
    assert checkpoint.load("00000001-0000-0000.arrow").equals(FRAME)
