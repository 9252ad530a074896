"""What an application is: a network, data to run it on, and what is planted in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from boxcars.model.network import Network

Chunk = Mapping[str, pl.DataFrame]
"""The tuples of a span of stream time, by the input that they belong to, in order."""


@dataclass(frozen=True)
class Feed:
    """Generated data: chunks that can be made one after the other, and the cases in them.

    ``planted`` has the cases that an output must report, and its columns are the fields by which
    a report is known to be of a case. ``tables`` are stored tables that the network needs.
    """

    chunks: Iterator[Chunk]
    planted: Mapping[str, pl.DataFrame]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class App:
    """An application of the papers that can be run.

    ``feed(rows, seed)`` makes exactly so many tuples; the same seed gives the same ones.
    """

    name: str
    family: str
    sentence: str
    unit: str
    build: Callable[[], Network]
    feed: Callable[[int, int], Feed]


@dataclass(frozen=True)
class Verdict:
    """What an output reported, beside what was planted."""

    found: pl.DataFrame
    missed: pl.DataFrame
    false: pl.DataFrame


def judge(planted: pl.DataFrame, reports: pl.DataFrame) -> Verdict:
    """Compare reports with the planted cases; a case that is reported often is found once.

    >>> reports = pl.DataFrame({"phone": ["a", "a", "c"]})
    >>> verdict = judge(pl.DataFrame({"phone": ["a", "b"]}), reports)
    >>> verdict.found["phone"].to_list(), verdict.missed["phone"].to_list()
    (['a'], ['b'])
    >>> verdict.false["phone"].to_list()
    ['c']
    """
    keys = planted.columns
    planted, reported = planted.unique(maintain_order=True), reports.select(keys)
    reported = reported.unique(maintain_order=True)
    return Verdict(
        planted.join(reported, on=keys, how="semi", nulls_equal=True, maintain_order="left"),
        planted.join(reported, on=keys, how="anti", nulls_equal=True, maintain_order="left"),
        reported.join(planted, on=keys, how="anti", nulls_equal=True, maintain_order="left"),
    )
