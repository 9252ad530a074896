"""The status of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from boxcars.engine.measure.counters import Totals
from boxcars.engine.measure.dead_letter_reasons import DeadReasons
from boxcars.engine.state.epoch_records import Manifest
from boxcars.model.arc import Arc


@dataclass(frozen=True)
class Status:
    """The status of a run: its last epoch, and the rows read and written so far.

    ``state`` is running, waiting (for new input), finished, stopped or failed. Counts are totals
    since the checkpoint was created; ``before`` has their values when this process resumed the
    run, and ``seconds`` is the time since then.
    """

    state: str
    epoch: int
    read: Mapping[str, int]
    out: Mapping[str, int]
    seconds: float
    pages: str | None = None
    """The address of Spark's web UI, if it is on."""
    lost: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Tuples lost by each input and box: the number of ``late`` ones, and of ``dead`` letters.
    Tuples that leave by an arc which is read are not lost."""
    compiling: tuple[int, int] | None = None
    """While kernels are compiled, once for each installation: the number done, and expected."""
    dead: DeadReasons = field(default_factory=dict)
    """Dead letters by input or box and reason: their number, and an example."""
    letters: str = ""
    """Location of the dead letters: a folder or file, or the address of their sink."""
    before: Status | None = None
    """The status from which this process resumed the run, if it did."""


def status_of(
    state: str, manifest: Manifest | None, read: Collection[Arc], seconds: float, **rest: Any
) -> Status:
    """The status after the last committed epoch; ``read``: arcs whose tuples are not lost."""
    totals = Totals() if manifest is None else manifest.stats
    epoch, places = (0, {}) if manifest is None else (manifest.epoch, manifest.places)
    return Status(
        state,
        epoch,
        {name: place.position for name, place in places.items()},
        dict(totals.outputs),
        seconds,
        lost=totals.lost(read),
        dead=totals.dead,
        **rest,
    )
