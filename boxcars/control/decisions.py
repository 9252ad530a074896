"""Decisions: changes of a run's layout that take effect between two epochs, as plain data.

A decision is written into the plan of the first epoch that it holds for, so a replay repeats it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any


@dataclass(frozen=True)
class Decision:
    """Run a subquery on another number of instances, or with other owners of its buckets.

    ``by`` says who decided, ``why`` and ``figures`` what it was taken from.
    """

    subquery: str
    instances: int
    owners: tuple[int, ...] = ()
    """The instance that owns each bucket; empty: equal shares."""
    by: str = "user"
    why: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Decision:
        """The decision again, from JSON."""
        return cls(**{**plain, "owners": tuple(map(int, plain["owners"]))})


@dataclass(frozen=True)
class View:
    """What a controller sees of a run before an epoch; all figures are by subquery.

    >>> View(2, {"counts": 1}, {"counts": 1000}, {"counts": (0.5,)}).busy["counts"]
    (0.5,)
    """

    epoch: int
    """The number of the epoch that is about to be planned."""
    instances: Mapping[str, int]
    tuples: Mapping[str, int] = field(default_factory=dict)
    """Tuples that entered in the last epoch; empty before the first."""
    busy: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Seconds of work of each instance in the last epoch."""


class Controller(ABC):
    """Decides about the next epoch. It is pure: the same views give the same decisions."""

    @abstractmethod
    def observe(self, view: View) -> Sequence[Decision]:
        """The decisions that take effect in the epoch of the view."""


class Requests(Controller):
    """Passes on what the user asks for while a run goes on; the only controller with a queue."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Decision] = SimpleQueue()

    def put(self, decision: Decision) -> None:
        """Ask for a change; it takes effect in the next epoch."""
        self._queue.put(decision)

    def observe(self, view: View) -> Sequence[Decision]:
        """Everything that was asked for since the last epoch."""
        found = []
        while True:
            try:
                found.append(self._queue.get_nowait())
            except Empty:
                return found
