"""The reader of a rate source: generated rows that become due over time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from boxcars.connectors.conform import Conformed
from boxcars.connectors.read.base import Offset, Portion, Reader
from boxcars.connectors.read.sources import Rate
from boxcars.connectors.read.splits import NUMBERS, RateSplit
from boxcars.expr import Expr
from boxcars.model.entities import Input
from boxcars.model.problem import Wrong, nearest


class RateReader(Reader):
    """Generates rows from their numbers; a resumed run does not catch up on its downtime."""

    def __init__(self, rate: Rate, entity: Input, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._fields = rate, _checked(rate, entity)
        self._clock = clock
        self._began: tuple[float, int] | None = None
        self.endless = rate.rows is None

    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan the rows that are due."""
        start = offset.position
        stop = start + min(rows, self._due(start))
        if self._rate.rows is not None:
            stop = min(stop, self._rate.rows)
        after = Offset(stop, ended=stop == self._rate.rows)
        splits = (RateSplit(start, stop, start, self._fields),) if start < stop else ()
        return Portion(splits, after)

    def _due(self, start: int) -> int:
        if self._rate.per_second is None:
            return 2**62
        if self._began is None:
            self._began = (self._clock(), start)
        began, first = self._began
        return int((self._clock() - began) * self._rate.per_second) - (start - first)


def all_rows(rate: Rate, entity: Input) -> Conformed:
    """All rows of a bounded rate source, without waiting until they are due."""
    if rate.rows is None:
        raise Wrong("rate: the source is unbounded: limit it with rows=NUMBER.")
    return RateSplit(0, rate.rows, 0, _checked(rate, entity)).read(entity)


def _checked(rate: Rate, entity: Input) -> tuple[tuple[str, str], ...]:
    """The expressions of all fields. Raises Wrong if one is missing or has a wrong type."""
    given = {"value": Expr("value"), **rate.fields}
    for name in rate.fields:
        if name not in entity.fields:
            raise Wrong(f"rate: there is no field '{name}'.{nearest(name, entity.fields)}")
    for name, type_ in entity.fields.items():
        if name not in given:
            raise Wrong(f"rate: field '{name}' is missing: give it an expression over value.")
        try:
            given[name].expect(type_, NUMBERS)
        except Wrong as wrong:
            raise Wrong(f"rate: field '{name}': {wrong}") from None
    return tuple((name, given[name].text) for name in entity.fields)
