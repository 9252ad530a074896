"""Why records became no tuples: how many for which reason, with an example of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

MOST = 20
"""So many reasons of an input or box are told apart; the others are counted together."""
OTHERS = "other reasons"
_EXAMPLE = 100
"""Characters of an example."""
_OWN_VALUES = (
    (re.compile(r"'[^']*'"), "'...'"),
    (re.compile(r"\bgot .*"), "got ..."),
    (re.compile(r"^(\S+: )-?\d\S*"), r"\1..."),
    (re.compile(r"column \d+"), "column ..."),
)
"""What differs from record to record in the sentence about it, and what stands in its place."""


@dataclass(frozen=True)
class Reason:
    """How many dead letters have a reason, and the first of them."""

    letters: int
    example: str


Dead = Mapping[str, Mapping[str, Reason]]
"""The reasons of dead letters by the input or box that they come from."""


def in_general(reason: str) -> str:
    """A reason without what is special about one record.

    >>> in_general("time: 'noon' is not an int"), in_general("n: expected an int, got [7]")
    ("time: '...' is not an int", 'n: expected an int, got ...')
    """
    for pattern, instead in _OWN_VALUES:
        reason = pattern.sub(instead, reason)
    return reason


def count_reasons(letters: pl.DataFrame) -> Dead:
    """The reasons of dead letters: (source, record, reason)."""
    counted = letters.group_by("source", "reason", maintain_order=True).agg(
        pl.len(), pl.col("record").first()
    )
    parts = (
        {source: {in_general(reason): Reason(number, _shown(record))}}
        for source, reason, number, record in counted.iter_rows()
    )
    return add_reasons(parts)


def add_reasons(parts: Iterable[Dead]) -> Dead:
    """All of them together; the first examples stay."""
    found: dict[str, dict[str, Reason]] = {}
    for part in parts:
        for source, reasons in part.items():
            known = found.setdefault(source, {})
            for why, more in reasons.items():
                name = why if why in known or len(known) < MOST else OTHERS
                before = known.get(name, Reason(0, more.example))
                known[name] = Reason(before.letters + more.letters, before.example)
    return found


def read_reasons(plain: Mapping[str, Mapping[str, Any]]) -> Dead:
    """The reasons again, from plain data."""
    return {
        source: {why: Reason(**told) for why, told in reasons.items()}
        for source, reasons in plain.items()
    }


def _shown(record: bytes | None) -> str:
    text = " ".join((record or b"")[: 4 * _EXAMPLE].decode(errors="replace").split())
    return text if len(text) <= _EXAMPLE else f"{text[:_EXAMPLE]}..."
