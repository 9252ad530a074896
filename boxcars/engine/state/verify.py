"""Verify a checkpoint: read every file that a run would need, and say what is damaged.

A checkpoint has the last two manifests. If only the last one or its state files are damaged, the
run can go back to the previous one and repeat the last epoch by its plan, with the same output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from boxcars.connectors.checked_number import noted_number
from boxcars.connectors.documents import Damaged, seal, unseal
from boxcars.connectors.read.file_reader import FILES, FileLog
from boxcars.connectors.read.journal_batches import BATCHES, Batches
from boxcars.connectors.write.writers import LEDGER
from boxcars.engine.state.checkpoint import HEAD, Checkpoint, home_of
from boxcars.engine.state.epoch_records import Head, Manifest
from boxcars.engine.state.state_files import read_footer, read_frame
from boxcars.engine.state.storage import LocalStorage, Missing, Storage
from boxcars.model.problem import BoxcarsError, Wrong


@dataclass
class Verified:
    """The result of a verification: problems by epoch, and the number of files that were read."""

    head: Head
    files: int = 0
    problems: dict[int, list[str]] = field(default_factory=dict)
    """Problems of the last and of the previous epoch, by its number; none if it is intact."""

    @property
    def intact(self) -> bool:
        """Whether the run can resume from its last epoch."""
        return not (self.problems.get(self.head.epoch) or self.others or self.unread)

    others: list[str] = field(default_factory=list)
    """Problems of file lists, journals and ledgers, which are not those of an epoch."""
    unread: list[str] = field(default_factory=list)
    """Files that could not be read, such as those without permission: nothing is known of them."""

    @property
    def can_go_back(self) -> bool:
        """Whether it can go back to the epoch before, and repeat the last one."""
        head = self.head
        before = self.problems.get(head.epoch - 1)
        return bool(head.previous and head.done) and not (before or self.others or self.unread)


def verify(storage: LocalStorage) -> Verified:
    """Read everything; raises an error if the head itself can't be read."""
    checkpoint = Checkpoint(storage)
    try:
        head = checkpoint.head()
    except Damaged as error:
        raise Wrong(
            f"{error.finding} Restore the checkpoint from a backup, or start with a new one."
        ) from None
    found = Verified(head, files=1)
    for kind, name, read in (("inputs", FILES, FileLog), ("outputs", LEDGER, noted_number)):
        for path in sorted((storage.folder / kind).glob(f"*/{name}")):
            found.files += 1
            try:
                read(path)
            except BoxcarsError as error:
                found.others.append(str(error))
    if not head.manifest:
        return found
    for epoch, name in ((head.epoch, head.manifest), (head.epoch - 1, head.previous)):
        if name:
            found.problems[epoch] = list(_problems(checkpoint, name, found))
    if not found.problems[head.epoch]:
        _check_journals(checkpoint, storage.folder, found)
    return found


def _check_journals(checkpoint: Checkpoint, folder: Path, found: Verified) -> None:
    """Check the batches of journals that the next epochs read."""
    last = checkpoint.last()
    for name, offset in last.places.items() if last is not None else ():
        batches = home_of(folder, "inputs", name) / BATCHES
        if batches.is_dir():
            found.files += sum(1 for _ in batches.glob("*/*"))
            try:
                Batches(batches.parent).verify(offset.file)
            except BoxcarsError as error:
                found.others.append(error.finding if isinstance(error, Damaged) else str(error))


def _problems(checkpoint: Checkpoint, name: str, found: Verified) -> Iterator[str]:
    """Problems of an epoch: its manifest, its network and the state that it refers to."""
    found.files += 1
    try:
        manifest = checkpoint.read_manifest(name)
        found.files += 1
        checkpoint.network_of(manifest)
    except Damaged as error:
        yield error.finding
        return
    except BoxcarsError as error:
        found.unread.append(str(error))
        return
    yield from _state_problems(checkpoint.storage, manifest, found)


def _state_problems(storage: Storage, manifest: Manifest, found: Verified) -> Iterator[str]:
    for file in sorted(manifest.files):
        found.files += 1
        try:
            read_footer(storage, file)
            for ref in manifest.state:
                if ref.file == file:
                    read_frame(storage, ref)
        except Missing:
            yield f"{storage.where(file)}: there is no such file."
        except Damaged as error:
            yield error.finding
        except BoxcarsError as error:
            found.unread.append(str(error))


def go_back(storage: Storage) -> Head:
    """Return to the previous epoch; the next run repeats the last one by its plan."""
    sealed = storage.get(HEAD)
    head = Head.of(unseal(HEAD, sealed, storage.where(HEAD)))
    if not head.previous or head.done is None:
        raise Wrong(f"{storage.where('')}: there is no earlier epoch to go back to.")
    back = replace(
        head,
        term=head.term + 1,
        owner=uuid4().hex,
        epoch=head.epoch - 1,
        manifest=head.previous,
        previous="",
        plan=head.done,
        done=None,
    )
    if not storage.swap(HEAD, sealed, seal(HEAD, back.plain())):
        raise Wrong(f"{storage.where('')}: a run is using this checkpoint: stop it first.")
    return back
