"""Descriptions of the sources of a run; :mod:`boxcars.connectors.read.open` opens them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from boxcars.connectors.systems.connector import Connector, connect
from boxcars.expr import Expr
from boxcars.model.problem import BoxcarsError, Wrong


@dataclass(frozen=True)
class Files:
    """Data files: one file, a folder, or a glob pattern; also used as a sink."""

    where: str
    follow: bool = False
    within: str | None = None


@dataclass(frozen=True)
class Rate:
    """Rows that are generated from their numbers, ``per_second`` per second."""

    per_second: float | None
    rows: int | None = None
    fields: Mapping[str, Expr] = field(default_factory=dict)


class Mark(Enum):
    """Marks in a script, see :func:`script`."""

    ABORT = "ABORT"
    PAUSE = "PAUSE"
    EOF = "EOF"


ABORT, PAUSE, EOF = Mark.ABORT, Mark.PAUSE, Mark.EOF


class Aborted(BoxcarsError):
    """A run reached ABORT in a script for the first time."""


@dataclass(frozen=True)
class Script:
    """Rows for a test, and marks that pause, abort or stop the run."""

    items: tuple[Mapping[str, Any] | Mark, ...]


@dataclass(frozen=True)
class Stream:
    """A Spark streaming DataFrame, and its trigger interval."""

    frame: Any
    trigger: str = "500 milliseconds"


def files(where: str | Path, *, follow: bool = False, within: str | Path | None = None) -> Files:
    """Read files, or write them: ``files("cdr/*.parquet")``, ``files("out/")``.

    With ``follow``, files that appear later in the folder or match the pattern are read too, until
    the run is stopped or a file ``_SUCCESS`` marks the folder as complete. Files must appear
    atomically, by a rename; names that start with ``.`` or ``_`` are ignored.

    A run refuses files outside the folder ``within``, also when reached through links.
    """
    return Files(str(where), follow, None if within is None else str(within))


def rate(per_second: float | None, /, rows: int | None = None, **fields: Any) -> Rate:
    """Generate rows: ``rate(1000, time="value // 10", price="value % 7 * 0.5")``.

    ``per_second`` is None for no limit; without ``rows`` the source is unbounded. Each field is an
    expression over ``value``, the row number from 0 on. Every run generates the same rows.
    """
    if per_second is not None and not per_second > 0:
        raise Wrong(f"expected more than 0 rows per second, got {per_second}.")
    if rows is not None and rows < 0:
        raise Wrong(f"expected 0 rows or more, got {rows}.")
    return Rate(per_second, rows, {name: Expr.of(source) for name, source in fields.items()})


def script(items: Sequence[Mapping[str, Any] | Mark]) -> Script:
    """Rows for a test of a run, with marks between them.

    ``PAUSE`` ends the epoch. ``ABORT`` fails the run with :class:`Aborted` in the middle of its
    epoch, once; the resumed run skips it. ``EOF`` stops the run, and the next one continues after
    it.
    """
    for item in items:
        if not isinstance(item, Mapping | Mark):
            raise Wrong(
                f"a script has rows, ABORT, PAUSE and EOF; got {item!r}, a {type(item).__name__}."
            )
    return Script(tuple(items))


def stream(frame: Any, *, trigger: str = Stream.trigger) -> Stream:
    """Read a streaming DataFrame: ``stream(spark.readStream..., trigger="1 second")``.

    With the trigger ``"available now"`` it ends after all available data has been read.
    """
    return Stream(frame, trigger)


def source_of(
    text: str, *, follow: bool = False, within: str | None = None
) -> Files | Rate | Connector:
    """Parse a source: a path, a glob pattern, a connector URL, or ``rate://1000?rows=500&...``.

    The expressions of a rate are not percent-decoded, so ``%`` is the modulo operator.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        can_follow = follow and not Path(text).is_file()
        return Files(text, can_follow, within)
    if scheme != "rate":
        return connect(text)
    number, _, query = rest.partition("?")
    given: dict[str, str] = {}
    for pair in query.split("&") if query else []:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise Wrong(f"expected rate://NUMBER?rows=NUMBER&FIELD=EXPRESSION, got '{pair}'.")
        given[name] = value
    rows = _number(given.pop("rows")) if "rows" in given else None
    return rate(_number(number) if number else None, rows=rows, **given)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise Wrong(f"expected rate://NUMBER?rows=NUMBER&FIELD=EXPRESSION, got '{text}'.")
    return int(text)
