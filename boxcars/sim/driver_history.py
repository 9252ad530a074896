"""Histories of the real driver: crashes, power losses, failing storage, pauses and resizes by seed.

A history is one run of a tiny network, from its first to its last row, through many drivers. At
every operation of the storage and the executor something may happen: the process dies, the power
fails, an operation fails or its answer is lost, or the driver is paused while another one takes
over the checkpoint and goes on for a while. At the end the promise is checked: the output has each
row once, with the result of an undisturbed run, and the heads form one committed history.

>>> History(seed=7).run().epochs > 0
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from boxcars.connectors.documents import unseal
from boxcars.control.decisions import Controller, Decision, View
from boxcars.engine.driver import Driver, StoredTables
from boxcars.engine.epoch.planner import Planner
from boxcars.engine.layout.pieces import Shape, make_layout
from boxcars.engine.state.checkpoint import HEAD, Checkpoint
from boxcars.engine.state.epoch_records import Head
from boxcars.engine.state.storage import Data, Storage
from boxcars.model.problem import BoxcarsError
from boxcars.sim.storage import Failed, MemoryStorage
from boxcars.sim.tiny_network import (
    BUCKETS,
    COUNTS,
    NoLetters,
    Numbers,
    Published,
    TinyExecutor,
    network_text,
    published_rows,
    undisturbed,
)

_QUIET = 12
"""Troubles after which nothing more happens, so that every history ends."""
_MOST_DRIVERS = 200
"""Drivers after which a history has hung: without trouble one driver is enough."""
_DEEPEST = 3
"""Drivers that may be paused at the same time."""


class Died(BaseException):
    """The process ends here; nothing of it runs any more."""


class Broken(AssertionError):
    """The promise does not hold; the message has the seed."""


@dataclass(frozen=True)
class Told:
    """Counts of what happened in a history."""

    epochs: int
    drivers: int
    deaths: int
    power_losses: int
    failures: int
    takeovers: int
    resizes: int


class History:
    """One seeded history; ``trouble`` is the chance of trouble at each operation."""

    def __init__(self, seed: int, trouble: float = 0.04) -> None:
        self._seed, self._chance, self._trouble = seed, Random(seed), trouble
        self._memory = MemoryStorage()
        self._heads: list[Head] = []
        self._counts: Counter[str] = Counter()
        self._paused = 0

    def run(self) -> Told:
        """Run to the end of the input, and check the promise."""
        while not self._finished():
            if self._counts["drivers"] > _MOST_DRIVERS:
                raise Broken(f"seed {self._seed}: it does not end.")
            try:
                self._live()
            except Died:
                self._counts["deaths"] += 1
            except BoxcarsError:
                pass  # it failed, or was fenced; a supervisor starts it again
            if self._happens():
                self._counts["power_losses"] += 1
                self._memory.lose_power()
        self._check()
        counts = {n: self._counts[n] for n in Told.__dataclass_fields__ if n != "epochs"}
        return Told(epochs=self._heads[-1].epoch, **counts)

    def _finished(self) -> bool:
        last = Checkpoint(self._memory).last()
        return last is not None and last.final and last.epoch in published_rows(self._memory)

    def _live(self, epochs: int | None = None) -> None:
        """The life of a driver: to the end of the input, or for some epochs."""
        self._counts["drivers"] += 1
        storage = _Watched(self._memory, self._tick, self._note_head)
        checkpoint = Checkpoint(storage)
        checkpoint.claim()
        text, shape = network_text(), Shape(self._chance.randint(1, 4), BUCKETS)
        network = make_layout(text, shape).checked.network
        driver = Driver(
            text,
            text,
            checkpoint,
            Planner({"rows": Numbers(self._chance)}, 10, network),
            {"out": Published(storage)},
            NoLetters(),
            TinyExecutor(self._tick),
            shape,
            StoredTables({}, {}, Path()),
            Path("nowhere"),
            controllers=[_Whims(self._chance, self._counts)],
        )
        last = checkpoint.last()
        if last is not None:
            driver.deliver(last)
        while not (last is not None and last.final) and epochs != 0:
            plan = driver.plan(last)
            if plan is not None:
                last, _ = driver.run(plan, last)
                epochs = None if epochs is None else epochs - 1

    def _happens(self) -> bool:
        """Whether there is trouble now; after a while there is none any more."""
        quiet = sum(self._counts[n] for n in ("deaths", "failures", "takeovers")) >= _QUIET
        return not quiet and self._chance.random() < self._trouble

    def _tick(self) -> None:
        """Between two operations of a driver: perhaps it dies, fails, or is paused."""
        if not self._happens():
            return
        match self._chance.randrange(3):
            case 0:
                raise Died
            case 1:
                self._counts["failures"] += 1
                raise Failed("the simulated operation did not answer.")
            case _ if self._paused < _DEEPEST:
                self._pause()

    def _pause(self) -> None:
        """Let another driver take over for a while; then this one goes on, as if in time."""
        self._counts["takeovers"] += 1
        self._paused += 1
        try:
            self._live(self._chance.randint(0, 4))
        except Died:
            self._counts["deaths"] += 1
        except BoxcarsError:
            pass  # the other one failed; this one may still be fenced by its claim
        finally:
            self._paused -= 1

    def _note_head(self, sealed: bytes) -> None:
        self._heads.append(Head.of(unseal(HEAD, sealed, HEAD)))

    def _check(self) -> None:
        """The promise: the output of an undisturbed run, and one committed history."""
        found = published_rows(self._memory)
        rows = [row for epoch in sorted(found) for row in found[epoch]]
        if rows != undisturbed():
            raise Broken(f"seed {self._seed}: the output is {rows}, expected {undisturbed()}.")
        committed: dict[int, str] = {}
        for head, after in zip(self._heads, self._heads[1:], strict=False):
            if after.term < head.term or after.epoch not in (head.epoch, head.epoch + 1):
                raise Broken(f"seed {self._seed}: {after} can't follow {head}.")
        for head in self._heads:
            if head.epoch and committed.setdefault(head.epoch, head.manifest) != head.manifest:
                raise Broken(f"seed {self._seed}: epoch {head.epoch} was committed twice.")


@dataclass
class _Whims(Controller):
    """Resizes and moves buckets at random."""

    chance: Random
    counts: Counter[str]

    def observe(self, view: View) -> Sequence[Decision]:
        """Now and then another number of instances, or other owners."""
        if self.chance.random() > 0.3:
            return []
        self.counts["resizes"] += 1
        number = self.chance.randint(1, 4)
        turned = self.chance.randrange(3)
        owners = tuple((bucket + turned) % number for bucket in range(BUCKETS)) if turned else ()
        return [Decision(COUNTS, number, owners, by="whims")]


class _Watched(Storage):
    """A storage around whose operations things happen."""

    def __init__(
        self, inner: Storage, tick: Callable[[], None], note: Callable[[bytes], None]
    ) -> None:
        self._inner, self._tick, self._note = inner, tick, note

    def get(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Get."""
        self._tick()
        return self._inner.get(name, start, length)

    def put(self, name: str, *parts: Data) -> None:
        """Put; trouble before or after it."""
        self._tick()
        self._inner.put(name, *parts)
        self._tick()

    def swap(self, name: str, old: bytes | None, new: bytes) -> bool:
        """Swap; if trouble comes after it, the caller does not know that it was done."""
        self._tick()
        done = self._inner.swap(name, old, new)
        if done:
            self._note(new)
        self._tick()
        return done

    def list(self, folder: str) -> list[str]:
        """List."""
        self._tick()
        return self._inner.list(folder)

    def delete(self, names: Iterable[str]) -> None:
        """Delete one after the other; trouble may leave the rest."""
        for name in list(names):
            self._tick()
            self._inner.delete([name])

    def sync(self, names: Iterable[str]) -> None:
        """Sync; trouble before or after it."""
        self._tick()
        self._inner.sync(names)
        self._tick()


def run_history(seed: int) -> Told:
    """Run the history of a seed; every other one has much more trouble."""
    return History(seed, 0.04 if seed % 2 else 0.15).run()
