"""State files: all new frames of one piece and epoch in one file, with a footer that describes it.

A file is a magic number, the frames as Arrow files, a sealed footer
(:mod:`boxcars.connectors.documents`) and the length of that footer. It is never changed, and no
other task writes a file of its name: the name has the term of the driver and a token of the
attempt. A :class:`StateRef` says where a frame is, so that a task reads only what is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any
from urllib.parse import quote
from uuid import uuid4
from zlib import crc32

import polars as pl
import pyarrow as pa

from boxcars.connectors.conform import DATA_ERRORS, first_line
from boxcars.connectors.documents import CHANGED, damaged, seal, unseal
from boxcars.engine.state.storage import Data, Missing, Storage

FOLDER = "state"
_MAGIC = b"BOXSTATE"
_ALIGNED = 64
"""Bytes to which frames are aligned, as Arrow wants them."""
_LENGTH = 8
"""Bytes of the length at the end of a file."""


@dataclass(frozen=True)
class StateRef:
    """Where a frame of a state is, and what it must be.

    ``box`` is the box or input that it belongs to, ``subquery`` and ``instance`` the piece that
    wrote it, ``name`` the name of the frame in the state.
    """

    box: str
    subquery: str
    instance: int
    name: str
    file: str
    offset: int
    length: int
    checksum: int
    rows: int
    file_size: int = 0
    """Bytes of all frames in the file."""

    @classmethod
    def of(cls, plain: Sequence[Any]) -> StateRef:
        """The reference again, from JSON; it can only name a state file."""
        found = cls(*plain)
        numbers = (found.instance, *plain[5:])
        texts = (found.box, found.subquery, found.name, found.file)
        if not all(isinstance(n, int) and n >= 0 for n in numbers):
            raise ValueError(f"{plain!r} is no reference to a state")
        if not all(isinstance(t, str) for t in texts) or not is_state_file(found.file):
            raise ValueError(f"{found.file!r} is no state file")
        return found

    def plain(self) -> tuple[Any, ...]:
        """The reference as JSON has it."""
        return astuple(self)


@dataclass(frozen=True)
class Origin:
    """Which piece writes a state file, in which epoch, under which term; the buckets it owns."""

    epoch: int
    term: int
    subquery: str
    instance: int
    buckets: tuple[tuple[int, int], ...] = ()
    """Ranges of buckets, first and last."""

    def file_name(self) -> str:
        """A name that no other attempt has."""
        piece = f"{quote(self.subquery, safe='')[:80]}-{self.instance}"
        return f"{FOLDER}/{self.epoch:08d}-{self.term:04d}-{piece}-{uuid4().hex[:12]}.state"


def worth_keeping(kept: Sequence[StateRef]) -> set[str]:
    """The files of which at least half is still in use, by the references that a piece keeps.

    Frames in other files are written again, so that a checkpoint is at most about twice as large
    as the state, and a byte is copied at most once for each byte that became garbage.
    """
    used: dict[str, int] = {}
    size: dict[str, int] = {}
    for ref in kept:
        used[ref.file] = used.get(ref.file, 0) + ref.length
        size[ref.file] = ref.file_size
    return {file for file, length in used.items() if 2 * length >= size[file]}


def is_state_file(name: str) -> bool:
    """Whether a name is that of a state file, directly in its folder."""
    folder, _, file = name.partition("/")
    return folder == FOLDER and file.endswith(".state") and "/" not in file and "\0" not in file


def epoch_and_term(name: str) -> tuple[int, int]:
    """The epoch and the term in which a state file or manifest was written, by its name.

    >>> epoch_and_term("state/00000012-0003-counts-0-a1b2c3.state")
    (12, 3)
    """
    found = re.match(r"[a-z]+/(\d+)-(\d+)", name)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def write_state(
    storage: Storage, origin: Origin, frames: Iterable[tuple[str, str, pl.DataFrame]]
) -> list[StateRef]:
    """Write frames, given as (box, name, frame), as one synced file; nothing if there are none."""
    parts: list[Data] = [_MAGIC]
    at, refs, file = len(_MAGIC), [], origin.file_name()
    for box, name, frame in frames:
        gap = -at % _ALIGNED
        data = _encode(frame)
        parts += [bytes(gap), data]
        at += gap
        place = (file, at, len(data), crc32(data), frame.height)
        refs.append(StateRef(box, origin.subquery, origin.instance, name, *place))
        at += len(data)
    refs = [replace(ref, file_size=at) for ref in refs]
    if refs:
        about = {name: getattr(origin, name) for name in Origin.__dataclass_fields__}
        plain = [ref.plain() for ref in refs]
        footer = seal("state", {**about, "checksum": _checksum(parts), "frames": plain})
        storage.put(file, *parts, footer, len(footer).to_bytes(_LENGTH, "little"))
        storage.sync([file])
    return refs


def read_frame(storage: Storage, ref: StateRef) -> pl.DataFrame:
    """Read a frame and check it; raises Damaged."""
    try:
        data = storage.get(ref.file, ref.offset, ref.length)
    except Missing:
        raise damaged(storage.where(ref.file), "there is no such file") from None
    if len(data) != ref.length or crc32(data) != ref.checksum:
        raise damaged(storage.where(ref.file), CHANGED)
    try:
        frame = pl.from_arrow(pa.ipc.open_file(pa.py_buffer(data)).read_all())
    except DATA_ERRORS as error:
        raise damaged(storage.where(ref.file), first_line(error)) from None
    assert isinstance(frame, pl.DataFrame)
    return frame


def read_footer(storage: Storage, file: str) -> Mapping[str, Any]:
    """Read a whole state file and check it; return its origin and frames. Raises Damaged."""
    data = storage.get(file)
    length = int.from_bytes(data[-_LENGTH:], "little")
    if not data.startswith(_MAGIC) or not 0 < length < len(data):
        raise damaged(storage.where(file), "it is no state file, or not whole")
    found = unseal("state", data[-_LENGTH - length : -_LENGTH], storage.where(file))
    assert isinstance(found, Mapping)
    if found["checksum"] != _checksum([data[: -_LENGTH - length]]):
        raise damaged(storage.where(file), CHANGED)
    return found


def _checksum(parts: Iterable[Data]) -> int:
    found = 0
    for part in parts:
        found = crc32(part, found)
    return found


def _encode(frame: pl.DataFrame) -> memoryview:
    """A frame as an Arrow file; PyArrow takes a third of the time of Polars for small ones."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    stream = pa.BufferOutputStream()
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return memoryview(stream.getvalue())
