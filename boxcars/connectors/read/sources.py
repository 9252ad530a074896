"""Sources: what a run can read, as values; :mod:`boxcars.connectors.read.open` opens them."""

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
    """Data files: one, those of a folder, or those that a pattern fits; also a sink."""

    where: str
    follow: bool = False
    within: str | None = None


@dataclass(frozen=True)
class Rate:
    """Rows that are computed from their numbers, as many a second as ``per_second`` says."""

    per_second: float | None
    rows: int | None = None
    fields: Mapping[str, Expr] = field(default_factory=dict)


class Mark(Enum):
    """What a script can hold besides rows."""

    ABORT = "ABORT"
    PAUSE = "PAUSE"
    EOF = "EOF"


ABORT, PAUSE, EOF = Mark.ABORT, Mark.PAUSE, Mark.EOF


class Aborted(BoxcarsError):
    """A run came to ABORT in a script, for the first time."""


@dataclass(frozen=True)
class Script:
    """Rows for a test, and marks between them at which something happens to the run."""

    items: tuple[Mapping[str, Any] | Mark, ...]


@dataclass(frozen=True)
class Stream:
    """A streaming DataFrame of Spark, and how often it is asked for new rows."""

    frame: Any
    trigger: str = "500 milliseconds"


def files(where: str | Path, *, follow: bool = False, within: str | Path | None = None) -> Files:
    """Read files, or write them: ``files("cdr/*.parquet")``, ``files("out/")``.

    With ``follow`` a folder or pattern is read on as files appear in it, until the run is stopped
    or a file ``_SUCCESS`` in the folder says that it is complete. A file must appear whole, by a
    rename; names that start with ``.`` or ``_`` are ignored.

    A run refuses files that are not in the folder ``within``, also if links in it lead to them.
    """
    return Files(str(where), follow, None if within is None else str(within))


def rate(per_second: float | None, /, rows: int | None = None, **fields: Any) -> Rate:
    """Make rows, ``per_second`` of them or as fast as can be, for ever or until there are ``rows``.

    Each field is an expression over ``value``, the number of the row, from 0 on:
    ``rate(1000, time="value // 10", price="value % 7 * 0.5")``. Every run makes the same rows.
    """
    if per_second is not None and not per_second > 0:
        raise Wrong(f"expected more than 0 rows a second, got {per_second}.")
    if rows is not None and rows < 0:
        raise Wrong(f"expected 0 rows or more, got {rows}.")
    return Rate(per_second, rows, {name: Expr.of(source) for name, source in fields.items()})


def script(items: Sequence[Mapping[str, Any] | Mark]) -> Script:
    """Rows for a test of a run, with marks between them.

    ``PAUSE`` ends the epoch. ``ABORT`` lets the run fail with :class:`Aborted` in the middle of its
    epoch, and is not there any more when the run goes on. ``EOF`` stops the run, and the next one
    goes on behind it.
    """
    for item in items:
        if not isinstance(item, Mapping | Mark):
            raise Wrong(
                f"a script has rows, ABORT, PAUSE and EOF; got {item!r}, a {type(item).__name__}."
            )
    return Script(tuple(items))


def stream(frame: Any, *, trigger: str = Stream.trigger) -> Stream:
    """Read a streaming DataFrame: ``stream(spark.readStream..., trigger="1 second")``.

    With the trigger ``"available now"`` it ends when all that is there has been read.
    """
    return Stream(frame, trigger)


def source_of(
    text: str, *, follow: bool = False, within: str | None = None
) -> Files | Rate | Connector:
    """A source from its text: a path, a pattern, an address, or ``rate://1000?rows=500&...``.

    Expressions of a rate stand as they are: nothing in them is decoded, so ``%`` is itself.
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
