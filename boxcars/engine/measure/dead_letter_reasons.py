"""Reasons of dead letters: the number of records for each, with an example."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from boxcars.model.problem import visible

MAX_REASONS = 20
"""Number of distinct reasons for each input or box; further ones are counted together."""
OTHERS = "other reasons"
_SHOWN = 3
"""Number of reasons in a sentence."""
_EXAMPLE = 100
"""Characters; longer examples are truncated."""
_VALUES = (
    (re.compile(r"'[^']*'"), "'...'"),
    (re.compile(r"\bgot .*"), "got ..."),
    (re.compile(r"^(\S+: )-?\d\S*"), r"\1..."),
    (re.compile(r"column \d+"), "column ..."),
)
"""Patterns of the values in a reason that differ by record, and their replacements."""


@dataclass(frozen=True)
class Reason:
    """The number of dead letters with a reason, and the first of them."""

    letters: int
    example: str


DeadReasons = Mapping[str, Mapping[str, Reason]]
"""Reasons of dead letters, by the input or box that they come from."""


def without_values(reason: str) -> str:
    """Replace the values of a single record in a reason.

    >>> without_values("time: 'noon' is not an int"), without_values("n: expected an int, got [7]")
    ("time: '...' is not an int", 'n: expected an int, got ...')
    """
    for pattern, instead in _VALUES:
        reason = pattern.sub(instead, reason)
    return reason


def count_reasons(letters: pl.DataFrame) -> DeadReasons:
    """Count dead letters, given as (source, record, reason), by source and reason."""
    counted = letters.group_by("source", "reason", maintain_order=True).agg(
        pl.len(), pl.col("record").first()
    )
    parts = (
        {source: {without_values(reason): Reason(number, _shown(record))}}
        for source, reason, number, record in counted.iter_rows()
    )
    return add_reasons(parts)


def add_reasons(parts: Iterable[DeadReasons]) -> DeadReasons:
    """Merge counts of reasons; the first example of each is retained."""
    found: dict[str, dict[str, Reason]] = {}
    for part in parts:
        for source, reasons in part.items():
            known = found.setdefault(source, {})
            for why, more in reasons.items():
                name = why if why in known or len(known) < MAX_REASONS else OTHERS
                before = known.get(name, Reason(0, more.example))
                known[name] = Reason(before.letters + more.letters, before.example)
    return found


def read_reasons(plain: Mapping[str, Mapping[str, Any]]) -> DeadReasons:
    """Read reasons from plain data."""
    return {
        source: {why: Reason(**plain_reason) for why, plain_reason in reasons.items()}
        for source, reasons in plain.items()
    }


def reasons_text(reasons: Mapping[str, Reason]) -> str:
    """The most frequent reasons, each with an example, for people.

    >>> reasons_text({"not an int": Reason(2, "noon")})
    '2 x not an int (noon)'
    """
    by_number = sorted(reasons.items(), key=lambda item: -item[1].letters)
    shown = [f"{reason.letters:,} x {why} ({reason.example})" for why, reason in by_number[:_SHOWN]]
    more = sum(reason.letters for _, reason in by_number[_SHOWN:])
    return visible("; ".join([*shown, *([f"{more:,} for other reasons"] if more else [])]))


def _shown(record: bytes | None) -> str:
    text = " ".join((record or b"")[: 4 * _EXAMPLE].decode(errors="replace").split())
    return text if len(text) <= _EXAMPLE else f"{text[:_EXAMPLE]}..."
