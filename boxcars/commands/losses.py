"""What a run lost, in sentences: dead letters and late tuples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from boxcars.engine.measure.dead_letter_reasons import Reason
from boxcars.model.problem import visible

if TYPE_CHECKING:
    from boxcars.engine.run import Status

_TOLD = 3
"""How many reasons of an input or box are told."""


def loss_lines(status: Status) -> Iterator[str]:
    """A sentence for each input and box that lost tuples, and where dead letters are."""
    for name, lost in status.lost.items():
        if lost["dead"]:
            yield f"{name}: {_number(lost['dead'], 'dead letter')}: {_reasons(status.dead[name])}"
    if any(lost["dead"] for lost in status.lost.values()):
        kept = f"the dead letters are in {status.letters}"
        yield kept if status.letters else "the dead letters are gone: --dead WHERE keeps them"
    for name, lost in status.lost.items():
        if lost["late"]:
            late, were = _number(lost["late"], "tuple"), "was" if lost["late"] == 1 else "were"
            yield f"{name}: {late} came too late and {were} lost; the arc {name}.late has them"


def _reasons(reasons: Mapping[str, Reason]) -> str:
    """The most frequent reasons, each with an example."""
    by_number = sorted(reasons.items(), key=lambda item: -item[1].letters)
    told = [f"{reason.letters:,} x {why} ({reason.example})" for why, reason in by_number[:_TOLD]]
    more = sum(reason.letters for _, reason in by_number[_TOLD:])
    return visible("; ".join([*told, *([f"{more:,} for other reasons"] if more else [])]))


def _number(number: int, noun: str) -> str:
    """A number of things.

    >>> _number(1, "dead letter"), _number(2000, "tuple")
    ('1 dead letter', '2,000 tuples')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"
