"""Sentences about tuples that a run lost: dead letters and late tuples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from boxcars.engine.measure.dead_letter_reasons import reasons_text
from boxcars.model.problem import number_of

if TYPE_CHECKING:
    from boxcars.engine.status import Status


def loss_lines(status: Status) -> Iterator[str]:
    """One sentence for each input and box that lost tuples, and the location of dead letters."""
    for name, lost in status.lost.items():
        if lost["dead"]:
            reasons = reasons_text(status.dead[name])
            yield f"{name}: {number_of(lost['dead'], 'dead letter')}: {reasons}"
    if any(lost["dead"] for lost in status.lost.values()):
        kept = f"the dead letters are in {status.letters}"
        yield kept if status.letters else "the dead letters were discarded: --dead URI keeps them"
    for name, lost in status.lost.items():
        if lost["late"]:
            late, were = number_of(lost["late"], "tuple"), "was" if lost["late"] == 1 else "were"
            yield f"{name}: {late} arrived too late and {were} dropped; read the arc {name}.late"
