"""A checkpoint: the storage from which a run resumes, committed by swapping one small head.

The *head* has the plan of the epoch under way and names the *manifest* of the last committed one;
the manifest refers to the state files of that epoch. An epoch is begun and committed by a
compare-and-swap of the head, so a driver that was paused while another one took over can do
neither. State files and manifests carry the driver's term in their names and are never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeVar
from uuid import uuid4

from boxcars.connectors.documents import CHANGED, Damaged, damaged, seal, unseal
from boxcars.engine.state.epoch_records import EpochPlan, Head, Manifest
from boxcars.engine.state.state_files import FOLDER, epoch_and_term
from boxcars.engine.state.storage import LocalStorage, Missing, Storage
from boxcars.model.problem import BoxcarsError, Wrong

T = TypeVar("T")

HEAD = "head"
MANIFESTS = "epochs"


class Fenced(BoxcarsError):
    """Another driver has claimed the checkpoint."""


class Checkpoint:
    """A run's committed history, and the epoch under way.

    Anyone may read it; a driver first calls :meth:`claim`.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._head: Head | None = None
        self._sealed: bytes | None = None
        self._live: dict[str, Manifest] = {}
        """The last two manifests, by name: state files that neither refers to are removed."""

    @classmethod
    def at(cls, folder: str | Path, durable: bool = True) -> Checkpoint:
        """The checkpoint in a local folder."""
        return cls(LocalStorage(folder, durable))

    @property
    def where(self) -> str:
        """The location of the checkpoint, for messages."""
        return self.storage.where("").rstrip("/")

    @property
    def term(self) -> int:
        """The term under which this driver writes."""
        return self._claimed.term

    def claim(self) -> None:
        """Make this the only driver that can write, and remove leftovers of interrupted ones."""
        self._check_release()
        head = self._read_head()
        self._swap(replace(head, term=head.term + 1, owner=uuid4().hex))
        for name in filter(None, (head.manifest, head.previous)):
            self._live[name] = self.read_manifest(name)
        self._sweep()

    def _check_release(self) -> None:
        """Refuse checkpoints from before formats were numbered: their hashes may be others'."""
        if any(name.endswith(".done.json") for name in self.storage.list(MANIFESTS)):
            raise Wrong(
                f"{self.where}: this checkpoint was written before checkpoints had a format, and "
                "can't be resumed: finish it with the version that wrote it, or give the run a new "
                "--checkpoint."
            )

    def _sweep(self) -> None:
        """Remove manifests and state files that the head does not lead to.

        Those of later terms stay: this driver may have been paused, and another one gone on. State
        files of an epoch that was begun stay, too: a database may have recorded its result.
        """
        head, needed = self._claimed, self._needed()
        states = self.storage.list(FOLDER)
        if head.plan is not None:
            states = [name for name in states if epoch_and_term(name)[0] <= head.epoch]
        found = [*self.storage.list(MANIFESTS), *states]
        self.storage.delete(
            name for name in found if name not in needed and epoch_and_term(name)[1] < head.term
        )

    def last(self) -> Manifest | None:
        """The manifest of the last committed epoch.

        A reader may find that a driver has replaced it meanwhile; then it looks again.
        """
        name = self.head().manifest
        while name and name not in self._live:
            try:
                return self.read_manifest(name)
            except Damaged:
                if (found := self._read_head().manifest) == name:
                    raise
                name = found
        return self._live.get(name)

    def pending(self) -> EpochPlan | None:
        """The plan of the epoch that was begun and not committed, if there is one."""
        return self.head().plan

    def begin(self, plan: EpochPlan) -> None:
        """Record the plan of the next epoch, before it runs."""
        self._swap(replace(self._claimed, plan=plan))

    def commit(self, manifest: Manifest) -> None:
        """Commit an epoch, and remove what neither it nor the previous one needs."""
        head = self._claimed
        name = f"{MANIFESTS}/{manifest.epoch:08d}-{head.term:04d}.manifest"
        self.storage.put(name, seal("manifest", manifest.plain()))
        self.storage.sync([name])
        head = replace(
            head,
            epoch=manifest.epoch,
            manifest=name,
            previous=head.manifest,
            plan=None,
            done=head.plan,
        )
        self._swap(head)
        before = self._needed() | self._live.keys()
        self._live = {n: m for n, m in self._live.items() if n == head.previous} | {name: manifest}
        self.storage.delete(sorted(before - self._needed()))

    def _needed(self) -> set[str]:
        """The objects that the last two manifests lead to, and they themselves."""
        files = {file for manifest in self._live.values() for file in manifest.files}
        return files | self._live.keys()

    def keep_network(self, network: str) -> str:
        """Store the text of a network, for later comparison; return its fingerprint."""
        mark = fingerprint(network)
        name = f"network-{mark}.json"
        try:
            self.storage.get(name, 0, 1)
        except Missing:
            self.storage.put(name, network.encode())
            self.storage.sync([name])
        return mark

    def network_of(self, manifest: Manifest) -> str:
        """The network of an epoch."""
        name = f"network-{manifest.network}.json"

        text = self._made(name, lambda: self.storage.get(name).decode())
        if fingerprint(text) != manifest.network:
            raise damaged(self.storage.where(name), CHANGED)
        return text

    @property
    def _claimed(self) -> Head:
        assert self._head is not None, "only a driver that has claimed a checkpoint writes to it"
        return self._head

    def _read_head(self) -> Head:
        """Read the head; a checkpoint without one is new."""
        self._sealed = self._stored_head()
        if self._sealed is None:
            return Head()
        sealed = self._sealed
        return self._made(HEAD, lambda: Head.of(unseal(HEAD, sealed, self.storage.where(HEAD))))

    def head(self) -> Head:
        """The head, as this driver wrote it or as it is stored."""
        return self._head or self._read_head()

    def read_manifest(self, name: str) -> Manifest:
        """Read a manifest and check it."""
        where = self.storage.where(name)
        return self._made(
            name, lambda: Manifest.of(unseal("manifest", self.storage.get(name), where))
        )

    def _made(self, name: str, make: Callable[[], T]) -> T:
        try:
            return make()
        except Missing:
            raise damaged(self.storage.where(name), "there is no such file") from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise damaged(self.storage.where(name), error) from None

    def _swap(self, head: Head) -> None:
        """Swap the head; if the answer was lost, the storage says whether it happened."""
        sealed = seal(HEAD, head.plain())
        if not self.storage.swap(HEAD, self._sealed, sealed) and self._stored_head() != sealed:
            raise Fenced(
                f"{self.where}: another run has taken over this checkpoint; this one has stopped "
                "without committing anything since."
            )
        self._head, self._sealed = head, sealed

    def _stored_head(self) -> bytes | None:
        try:
            return self.storage.get(HEAD)
        except Missing:
            return None


def fingerprint(network: str) -> str:
    """The hash by which networks are compared."""
    return sha256(network.encode()).hexdigest()


def home_of(folder: Path, kind: Literal["inputs", "outputs"], name: str) -> Path:
    """The folder of an input or output in a checkpoint."""
    return folder / kind / sha256(name.encode()).hexdigest()[:16]
