"""The events of a run: what its driver does and loses, in sentences and figures."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from types import TracebackType

from boxcars.control.decisions import Decision
from boxcars.engine.measure.dead_letter_reasons import DeadReasons, add_reasons, reasons_text
from boxcars.engine.state.epoch_records import EpochPlan, Manifest
from boxcars.events.event import Event, Kind, Record
from boxcars.events.policies import EPOCHS, usual_if_slow
from boxcars.model.problem import named_in, number_of

_EVERY = 10.0
"""Seconds between two events about the tuples that a box loses; those between are summed up."""


def _rows_of(manifest: Manifest) -> int:
    return sum(offset.position for offset in manifest.places.values())


def _ignore(event: Event) -> None:
    """Record nothing."""


class RunEvents:
    """Records what happens in a run, with the time of a clock and the epoch under way.

    >>> found: list[Event] = []
    >>> events = RunEvents(found.append, lambda: 12.0)
    >>> events.note(Kind.SINK_BACK, "reconnected.", "alarms")
    >>> (found[0].at, found[0].epoch, found[0].box)
    (12.0, 0, 'alarms')
    """

    def __init__(self, record: Record = _ignore, clock: Callable[[], float] = time.time) -> None:
        self._record, self._clock = record, clock
        self._epoch, self._final = 0, False
        self._read = self._rows = 0
        """Rows read by the end of the last committed epoch, and in that epoch."""
        self._took: deque[float] = deque(maxlen=EPOCHS)
        self._losses: Counter[tuple[Kind, str]] = Counter()
        self._reasons: DeadReasons = {}
        self._told: dict[tuple[Kind, str], float] = {}

    def note(
        self, kind: Kind, cause: str, box: str = "", figures: Mapping[str, float] | None = None
    ) -> None:
        """Record an event of the epoch under way."""
        self._record(Event(self._clock(), kind, cause, figures or {}, self._epoch, box))

    def started(self, last: Manifest | None, instances: Mapping[str, int]) -> None:
        """The run starts, or resumes after its last committed epoch."""
        cause = "the run started."
        if last is not None:
            self._epoch, self._final, self._read = last.epoch, last.final, _rows_of(last)
            cause = f"the run resumed after epoch {last.epoch}."
        figures = {"subqueries": len(instances), "instances": max(instances.values(), default=0)}
        self.note(Kind.STARTED, cause, figures=figures)

    def planned(self, plan: EpochPlan, before: Mapping[str, int]) -> None:
        """An epoch begins, with decisions about its layout; ``before``: the instances so far."""
        self._epoch = plan.epoch
        for decision in plan.decisions:
            self._decided(decision, before.get(decision.subquery, 0))

    def _decided(self, decision: Decision, before: int) -> None:
        name, number = decision.subquery, decision.instances
        change = f"on {number_of(number, 'instance')} instead of {before}"
        if number == before:
            change = f"on {number_of(number, 'instance')} with other owners of its buckets"
        why = f" ({decision.why})" if decision.why else ""
        figures = {"instances": number, "before": before, **decision.figures}
        self.note(Kind.DECISION, f"{decision.by}: '{name}' runs {change}{why}.", name, figures)

    def retried(self, plan: EpochPlan) -> None:
        """An epoch that an earlier process began runs again, from its plan."""
        self._epoch = plan.epoch
        cause = f"epoch {plan.epoch} was begun by an earlier process: it runs again."
        self.note(Kind.RETRIED, cause)

    def committed(
        self, manifest: Manifest, lost: Mapping[str, Mapping[str, int]], dead: DeadReasons
    ) -> None:
        """An epoch was committed; ``lost`` are its late and dead tuples by box."""
        self._final = manifest.final
        self._rows, self._read = _rows_of(manifest) - self._read, _rows_of(manifest)
        for box, counts in lost.items():
            self._losses.update({(kind, box): counts[kind] for kind in (Kind.LATE, Kind.DEAD)})
        self._reasons = add_reasons([self._reasons, dead])
        self.tell_losses()

    def took(self, seconds: float) -> None:
        """The committed epoch took this long."""
        usual = usual_if_slow(seconds, list(self._took))
        self._took.append(seconds)
        if usual is not None:
            cause = (
                f"epoch {self._epoch} took {seconds:.1f} s, and the median of the epochs before is "
                f"{usual:.2f} s."
            )
            figures = {"seconds": seconds, "median": usual, "rows": self._rows}
            self.note(Kind.SLOW_EPOCH, cause, figures=figures)

    def tell_losses(self, everything: bool = False) -> None:
        """Record lost tuples, for each box at most every ten seconds, or all at the end."""
        now = self._clock()
        for (kind, box), number in list((+self._losses).items()):
            told = self._told.get((kind, box))
            if everything or told is None or not 0 <= now - told < _EVERY:
                self._told[kind, box] = now
                del self._losses[kind, box]
                self._lost(kind, box, number)

    def _lost(self, kind: Kind, box: str, number: int) -> None:
        were = "was" if number == 1 else "were"
        cause = f"{number_of(number, 'tuple')} arrived too late and {were} dropped."
        if kind is Kind.DEAD:
            reasons = self._reasons.get(box, {})
            self._reasons = {name: of for name, of in self._reasons.items() if name != box}
            cause = f"{number_of(number, 'dead letter')}: {reasons_text(reasons)}."
        self.note(kind, cause, box, {"tuples": number})

    def ended(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """The run ends, or can't start; the last callback of its ExitStack that may write."""
        self.tell_losses(everything=True)
        if error is not None:
            cause = str(error) or type(error).__name__
            self.note(Kind.FAILED, cause, named_in(cause))
        elif self._final:
            self.note(Kind.FINISHED, "all input was processed.")
        else:
            self.note(Kind.STOPPED, f"the run was stopped after epoch {self._epoch}.")
