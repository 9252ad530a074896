"""State files: frames come back as they were, and garbage stays bounded."""

from dataclasses import replace
from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxcars.engine.state.frame_cache import FrameCache
from boxcars.engine.state.state_files import (
    Origin,
    StateRef,
    epoch_and_term,
    read_footer,
    read_frame,
    worth_keeping,
    write_state,
)
from boxcars.kernels.contract import StateChange
from boxcars.sim.storage import MemoryStorage

ORIGIN = Origin(3, 2, "counts", 1, ((0, 5), (9, 9)))
FRAMES = {
    "all types": pl.DataFrame(
        {
            "s": ["a", None, "x" * 40],
            "i": [1, None, -(2**63)],
            "u": pl.Series([0, 1, 2**64 - 1], dtype=pl.UInt64),
            "b": pl.Series([1, 2, 255], dtype=pl.UInt8),
            "f": [0.5, float("nan"), None],
            "y": [b"\xff", None, b""],
            "t": [datetime(2026, 1, 1), None, datetime(1, 1, 1)],
            "n": [True, None, False],
            "l": [[1, 2], None, []],
            "r": [{"a": 1, "b": "x"}, {"a": None, "b": None}, None],
        }
    ),
    "no rows": pl.DataFrame(schema={"s": pl.String, "t": pl.Datetime("us"), "u": pl.UInt64}),
    "chunks": pl.concat([pl.DataFrame({"i": [1]}), pl.DataFrame({"i": [2]})], rechunk=False),
}


def test_frames_come_back_as_they_were() -> None:
    storage = MemoryStorage()
    refs = write_state(storage, ORIGIN, [("box", name, frame) for name, frame in FRAMES.items()])
    assert len({ref.file for ref in refs}) == len(storage.objects) == 1
    for ref, frame in zip(refs, FRAMES.values(), strict=True):
        found = read_frame(storage, ref)
        assert found.schema == frame.schema
        assert found.equals(frame)
        assert ref.offset % 64 == 0
    footer = read_footer(storage, refs[0].file)
    assert [StateRef.of(plain) for plain in footer["frames"]] == refs
    assert footer["buckets"] == [[0, 5], [9, 9]]
    assert epoch_and_term(refs[0].file) == (3, 2)


def test_no_frames_are_no_file() -> None:
    storage = MemoryStorage()
    assert write_state(storage, ORIGIN, []) == []
    assert not storage.objects


def test_two_attempts_never_share_a_file() -> None:
    assert ORIGIN.file_name() != ORIGIN.file_name()
    assert "/" not in replace(ORIGIN, subquery="../../etc/x y").file_name().partition("/")[2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 50)), max_size=12))
def test_files_of_which_most_is_garbage_are_left(frames: list[tuple[int, int]]) -> None:
    """The files that stay are at most twice as large as what is used of them."""
    size = 60
    kept = [
        StateRef("b", "s", 0, str(n), f"state/{file}.state", 0, length, 0, 1, size)
        for n, (file, length) in enumerate(frames)
    ]
    files = worth_keeping(kept)
    for file in {ref.file for ref in kept}:
        used = sum(ref.length for ref in kept if ref.file == file)
        assert (file in files) == (2 * used >= size)


def test_the_cache_is_bounded() -> None:
    storage, cache = MemoryStorage(), FrameCache(3 * 8000)
    frames = [pl.DataFrame({"i": range(n, n + 1000)}) for n in range(6)]
    refs = write_state(storage, ORIGIN, [("b", str(n), frame) for n, frame in enumerate(frames)])
    for ref, frame in zip(refs, frames, strict=True):
        cache.note(storage, ref, frame)
    assert len(cache) == 3
    assert cache.load(storage, refs[5]) is frames[5]
    again = cache.load(storage, refs[0])
    assert again is not frames[0]
    assert again.equals(frames[0])
    assert cache.load(storage, refs[0]) is again
    assert len(cache) == 3


def test_frames_that_were_kept_are_known_whatever_their_names() -> None:
    one, two, three = (pl.DataFrame({"i": [n]}) for n in range(3))
    change = StateChange.between({"a.0": one, "a.1": two}, {"a.1": one, "a.2": two, "a.0": three})
    assert change.kept == {"a.1": "a.0", "a.2": "a.1"}
    assert list(change.added) == ["a.0"]
    assert change.added["a.0"] is three
    equal = one.clone()
    assert list(StateChange.between({"a": one}, {"a": equal}).added) == ["a"]


@pytest.mark.parametrize("plain", [[], ["b"], ["b", "s", -1, "f", "state/x.state", 0, 1, 2, 3, 4]])
def test_references_that_are_none(plain: list[object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        StateRef.of(plain)
