"""A checkpoint: the folder from which a run goes on, and the ledger of its epochs.

For each epoch there are two small files. Its *plan* is written before it runs and says what it
reads, so that a repeated epoch reads the same. Its *manifest* is written when everything else is
there, under its name at once or not at all; with it the epoch is committed. States are Arrow files
that are never changed: a manifest names those that make up the states of its epoch, and what did
not change since the last epoch is named again and not written again.

All of them have checksums: a run does not go on from a file that is not as it was written.
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar
from zlib import crc32

import polars as pl

from boxcars.connectors.files import replacing, writing
from boxcars.connectors.read.base import Place
from boxcars.connectors.read.splits import Split, split_of
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.measure.counters import Totals, read_totals
from boxcars.model.problem import BoxcarsError, Wrong

T = TypeVar("T")
Files = tuple[tuple[str, int, str, str], ...]
"""The files of states: the box or input, the instance of its subquery, the frame, the file."""

_KEPT = 2
"""How many manifests back states are kept: the last one, and the one before it."""
_STATE = re.compile(r"[0-9]{8,}-[0-9]{4,}-[0-9]{4,}(?:-(?P<checksum>[0-9a-f]{8}))?\.arrow")
"""The name of a state file; those of older checkpoints have no checksum."""
_CHUNK = 1 << 20
"""Bytes of a file that are read at a time."""
_SEALED = '{\n "checksum": "%s",\n'
"""The beginning of a plan or manifest, with the checksum of what follows."""


@dataclass(frozen=True)
class EpochPlan:
    """What an epoch reads of each input, whether that is the end of it, and the place behind."""

    epoch: int
    splits: Mapping[str, tuple[Split, ...]]
    final: Mapping[str, bool]
    places: Mapping[str, Place] = field(default_factory=dict)
    ahead: Mapping[str, int | float] = field(default_factory=dict)
    """How far the others are, for inputs that have been idle for too long."""


@dataclass(frozen=True)
class Manifest:
    """What an epoch left: how far each input was read, the files of all states, and counts."""

    epoch: int
    network: str
    places: Mapping[str, Place]
    final: bool
    shape: Shape
    state: Files = ()
    heads: Mapping[str, int | float] = field(default_factory=dict)
    """The greatest order value of each input."""
    stats: Totals = field(default_factory=Totals)


class Checkpoint:
    """The folder of a run."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._epochs, self._state = self.folder / "epochs", self.folder / "state"
        with writing(folder):
            for part in (self._epochs, self._state):
                part.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else may use the folder; what a run that broke off has left there is removed."""
        with writing(self.folder):
            lock = (self.folder / "lock").open("w")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Wrong(
                    f"{self.folder}: another run uses this checkpoint: stop it first, or give this "
                    "one a folder of its own."
                ) from None
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Remove states of committed epochs that no manifest names; one behind may be repeated."""
        paths = self._epochs.glob("*.done.json")
        manifests = [_read(path, _manifest) for path in paths]
        needed, last = _files(manifests), max((m.epoch for m in manifests), default=0)
        for path in self._state.glob("*.arrow"):
            if path.name not in needed and path.name < f"{last + 1:08d}":
                path.unlink()

    def last(self) -> Manifest | None:
        """The manifest of the last epoch that was committed."""
        names = sorted(path.name for path in self._epochs.glob("*.done.json"))
        return None if not names else _read(self._epochs / names[-1], _manifest)

    def plan_of(self, epoch: int) -> EpochPlan | None:
        """What was planned for an epoch, if it was begun."""
        path = self._epochs / f"{epoch:08d}.plan.json"
        return _read(path, _plan) if path.exists() else None

    def begin(self, plan: EpochPlan) -> None:
        """Write down what an epoch reads, before it runs."""
        self._write(self._epochs / f"{plan.epoch:08d}.plan.json", asdict(plan))

    def commit(self, manifest: Manifest) -> None:
        """The epoch is done."""
        self._write(self._epochs / f"{manifest.epoch:08d}.done.json", asdict(manifest))
        self._forget(manifest.epoch - _KEPT)

    def _write(self, path: Path, content: Mapping[str, Any]) -> None:
        rest = json.dumps(content, indent=1).removeprefix("{\n")
        with writing(path), replacing(path) as part:
            part.write_text(_SEALED % _checksum(rest.encode()) + rest, encoding="utf-8")

    def keep_network(self, network: str) -> str:
        """Keep the text of a network, so that a changed one can take over; gives its mark."""
        mark = fingerprint(network)
        path = self.folder / f"network-{mark}.json"
        if not path.exists():
            with writing(path), replacing(path) as part:
                part.write_text(network, encoding="utf-8")
        return mark

    def network_of(self, manifest: Manifest) -> str:
        """The network of an epoch."""
        path = self.folder / f"network-{manifest.network}.json"
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _damaged(path, error) from None
        if fingerprint(text) != manifest.network:
            raise _damaged(path, _CHANGED)
        return text

    def state_path(self, name: str) -> Path:
        """Where a frame of a state is."""
        return self._state / name

    def save(self, part: str, frame: pl.DataFrame) -> str:
        """Write a frame of a state; gives the name of its file, which has its checksum."""
        path = self._state / f"{part}.arrow"
        with writing(path):
            with replacing(path) as new:
                frame.write_ipc(new, compat_level=pl.CompatLevel.oldest())
            return path.replace(self._state / f"{part}-{_checksum_of(path)}.arrow").name

    def load(self, name: str) -> pl.DataFrame:
        """Read a frame of a state."""
        path, named = self._state / name, _STATE.fullmatch(name)
        try:
            if named and named["checksum"] and named["checksum"] != _checksum_of(path):
                raise _damaged(path, _CHANGED)
            return pl.read_ipc(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _damaged(path, str(error).splitlines()[0]) from None

    def _forget(self, epoch: int) -> None:
        """Remove what no epoch behind this one needs."""
        paths = sorted(self._epochs.glob("*.done.json"))
        manifests = {path: _read(path, _manifest) for path in paths}
        needed = _files(m for m in manifests.values() if m.epoch > epoch)
        for path, manifest in manifests.items():
            if manifest.epoch <= epoch:
                path.unlink()
                (self._epochs / f"{manifest.epoch:08d}.plan.json").unlink(missing_ok=True)
                for name in _files([manifest]) - needed:
                    (self._state / name).unlink(missing_ok=True)


def fingerprint(network: str) -> str:
    """What tells one network from another."""
    return sha256(network.encode()).hexdigest()


def home_of(folder: Path, kind: Literal["inputs", "outputs"], name: str) -> Path:
    """The folder in a checkpoint for what an input or output keeps there."""
    return folder / kind / sha256(name.encode()).hexdigest()[:16]


def _files(manifests: Iterable[Manifest]) -> set[str]:
    return {name for manifest in manifests for *_, name in manifest.state}


_CHANGED = "it is not as it was written"


def _damaged(path: Path, why: object) -> BoxcarsError:
    return BoxcarsError(
        f"{path}: the checkpoint is damaged: {why}. Restore the checkpoint from a copy, or give "
        "the run a new one."
    )


def _checksum(data: bytes) -> str:
    return f"{crc32(data):08x}"


def _checksum_of(path: Path) -> str:
    """The checksum of a file that may be larger than memory."""
    found = 0
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            found = crc32(data, found)
    return f"{found:08x}"


def _read(path: Path, make: Callable[[Any], T]) -> T:
    try:
        text = path.read_text(encoding="utf-8")
        plain = json.loads(text)
        if next(iter(plain)) != "epoch":  # as in older checkpoints, which have no checksums
            checksum = plain.pop("checksum")
            start = _SEALED % checksum
            rest = text.removeprefix(start)
            if not text.startswith(start) or _checksum(rest.encode()) != checksum:
                raise _damaged(path, _CHANGED)
        if plain["epoch"] != int(path.name.partition(".")[0]):
            raise _damaged(path, "it is about another epoch than its name says")
        return make(plain)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(path, error) from None


def _plan(plain: Any) -> EpochPlan:
    splits = {name: tuple(map(split_of, found)) for name, found in plain["splits"].items()}
    return EpochPlan(plain["epoch"], splits, plain["final"], _places(plain), plain["ahead"])


def _places(plain: Any) -> Mapping[str, Place]:
    return {name: Place(**place) for name, place in plain["places"].items()}


def _state(entry: Any) -> tuple[str, int, str, str]:
    """A frame of a state; its file is one of the checkpoint, as it is removed with its epoch."""
    owner, instance, frame, file = entry
    if not isinstance(instance, int) or not _STATE.fullmatch(file):
        raise ValueError(f"{file!r} is no state of it")
    return owner, instance, frame, file


def _manifest(plain: Any) -> Manifest:
    state, shape = tuple(map(_state, plain["state"])), Shape.of(plain["shape"])
    read = {"places": _places(plain), "shape": shape, "stats": read_totals(plain["stats"])}
    return Manifest(**{**plain, **read, "state": state})
