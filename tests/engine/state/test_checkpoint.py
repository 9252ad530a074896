"""Checkpoints: what is written is read again, damage is noticed, and only one driver commits."""

from dataclasses import replace
from pathlib import Path
from zlib import crc32

import polars as pl
import pytest

from boxcars.connectors.read.base import Offset
from boxcars.control.decisions import Decision
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.state.checkpoint import Checkpoint, Fenced
from boxcars.engine.state.epoch_records import EpochPlan, Manifest
from boxcars.engine.state.state_files import Origin, StateRef, read_footer, read_frame, write_state
from boxcars.model.problem import BoxcarsError, Wrong
from tests.engine.checkpoints import edit

OFFSETS = {"calls": Offset(position=7, file=0, row=7, mark="9-00000000")}
SHAPE = Shape(2, 64, apart=(("f", 3),), owners=(("f", (0, 1, 2)),))
PLAN = EpochPlan(
    1, {"calls": ()}, {"calls": False}, OFFSETS, {"calls": 3}, SHAPE, (Decision("f", 3, (0, 1, 2)),)
)
FRAME = pl.DataFrame({"n": list(range(1000)), "s": ["x", None] * 500})


def state_of(checkpoint: Checkpoint, epoch: int) -> tuple[StateRef, ...]:
    origin = Origin(epoch, checkpoint.term, "sub query/ä", 0, ((0, 63),))
    return tuple(write_state(checkpoint.storage, origin, [("box", "tuples", FRAME)]))


def run_epoch(checkpoint: Checkpoint, plan: EpochPlan = PLAN) -> Manifest:
    checkpoint.begin(plan)
    network = checkpoint.keep_network("a network")
    state = state_of(checkpoint, plan.epoch)
    manifest = Manifest(plan.epoch, network, OFFSETS, False, SHAPE, state, letters=("a",))
    checkpoint.commit(manifest)
    return manifest


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """One with two committed epochs, and a third that was begun."""
    found = Checkpoint.at(tmp_path)
    found.claim()
    run_epoch(found)
    run_epoch(found, replace(PLAN, epoch=2))
    found.begin(replace(PLAN, epoch=3))
    return found


def test_what_is_written_is_read_again(checkpoint: Checkpoint, tmp_path: Path) -> None:
    again = Checkpoint.at(tmp_path)
    manifest = again.last()
    assert manifest is not None
    assert manifest == checkpoint.last()
    assert again.pending() == replace(PLAN, epoch=3)
    assert again.network_of(manifest) == "a network"
    (ref,) = manifest.state
    assert read_frame(again.storage, ref).equals(FRAME)
    footer = read_footer(again.storage, ref.file)
    assert footer["subquery"] == "sub query/ä"
    assert footer["buckets"] == [[0, 63]]
    assert [StateRef.of(plain) for plain in footer["frames"]] == [ref]


def test_only_what_two_manifests_need_stays(checkpoint: Checkpoint, tmp_path: Path) -> None:
    run_epoch(checkpoint, replace(PLAN, epoch=3))
    assert sorted(path.name[:8] for path in (tmp_path / "epochs").iterdir()) == [
        "00000002",
        "00000003",
    ]
    assert sorted(path.name[:8] for path in (tmp_path / "state").iterdir()) == [
        "00000002",
        "00000003",
    ]


class TestTerms:
    def test_a_driver_that_was_paused_can_neither_begin_nor_commit(self, tmp_path: Path) -> None:
        """Its number is free: the other driver has gone on, and removed the old manifests."""
        paused = Checkpoint.at(tmp_path)
        paused.claim()
        run_epoch(paused)
        paused.begin(replace(PLAN, epoch=2))
        other = Checkpoint.at(tmp_path)
        other.claim()
        assert other.pending() == replace(PLAN, epoch=2)
        for epoch in (2, 3, 4):
            run_epoch(other, replace(PLAN, epoch=epoch))
        last = other.last()
        assert last is not None
        state = state_of(paused, 2)
        with pytest.raises(Fenced, match="another run has taken over this checkpoint"):
            paused.commit(replace(last, epoch=2, state=state))
        with pytest.raises(Fenced):
            paused.begin(replace(PLAN, epoch=3))
        assert Checkpoint.at(tmp_path).last() == last
        for ref in last.state:
            assert read_frame(other.storage, ref).equals(FRAME)

    def test_leftovers_are_removed_but_not_those_of_the_epoch_under_way(
        self, checkpoint: Checkpoint, tmp_path: Path
    ) -> None:
        """A database may have recorded the result of that epoch, with its state files."""
        (under_way,) = state_of(checkpoint, 3)
        (old,) = state_of(checkpoint, 1)
        Checkpoint.at(tmp_path).claim()
        assert (tmp_path / under_way.file).exists()
        assert not (tmp_path / old.file).exists()


class TestDamage:
    @pytest.mark.parametrize("kind", ["head", "epochs", "state", "network"])
    def test_one_bit(self, checkpoint: Checkpoint, tmp_path: Path, kind: str) -> None:
        """Of each kind of file, every byte in turn has one other bit."""
        last = checkpoint.last()
        assert last is not None
        (ref,) = last.state
        path = {
            "head": tmp_path / "head",
            "epochs": max((tmp_path / "epochs").iterdir()),
            "state": tmp_path / ref.file,
            "network": next(tmp_path.glob("network-*")),
        }[kind]
        whole = path.read_bytes()
        for at in range(0, len(whole), 7 if kind == "state" else 1):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
            with pytest.raises(BoxcarsError, match=r"checkpoint is damaged|has format"):
                read_all(tmp_path)
        for shorter in (whole[:-1], whole[: len(whole) // 2], b"", bytes(len(whole))):
            path.write_bytes(shorter)
            with pytest.raises(BoxcarsError, match="checkpoint is damaged"):
                read_all(tmp_path)
        path.unlink()
        if kind != "head":
            with pytest.raises(BoxcarsError, match="damaged: there is no such file"):
                read_all(tmp_path)

    def test_a_file_of_a_state_that_is_not_one(
        self, checkpoint: Checkpoint, tmp_path: Path
    ) -> None:
        """A manifest names files that are removed with it, so they can only be state files."""
        for name in ("../victim", "state/../../victim.state", "state/a/b.state", "head", "state/a"):

            def change(manifest: dict[str, object], name: str = name) -> dict[str, object]:
                return {**manifest, "state": [["b", "s", 0, "f", name, 0, 1, 2, 3, 4]]}

            edit(tmp_path, "manifest", change)
            with pytest.raises(BoxcarsError, match="is no state file"):
                Checkpoint.at(tmp_path).last()

    def test_a_format_of_the_future(self, checkpoint: Checkpoint, tmp_path: Path) -> None:
        path = tmp_path / "head"
        body = path.read_bytes().partition(b"\n")[2]
        checksum = crc32(body, crc32(b"head 99"))
        path.write_bytes(b"boxcars head 99 %08x\n" % checksum + body)
        with pytest.raises(BoxcarsError, match=r"head: it has format 99, and this version of Box"):
            Checkpoint.at(tmp_path).last()

    def test_a_checkpoint_of_the_first_release(self, tmp_path: Path) -> None:
        (tmp_path / "epochs").mkdir()
        (tmp_path / "epochs" / "00000001.done.json").write_text("{}")
        with pytest.raises(Wrong, match="before checkpoints had a format"):
            Checkpoint.at(tmp_path).claim()


def read_all(folder: Path) -> None:
    """Everything that a run reads when it resumes; the footer only with ``boxcars verify``."""
    found = Checkpoint.at(folder)
    found.pending()
    last = found.last()
    assert last is not None
    found.network_of(last)
    for ref in last.state:
        read_frame(found.storage, ref)
        read_footer(found.storage, ref.file)
