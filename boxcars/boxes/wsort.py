"""WSort: sort a stream by any fields, emitting one tuple per timeout."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from boxcars.boxes.waitfor import check_timeout
from boxcars.kernels.columns.keys import encode_keys
from boxcars.kernels.contract import Frontier, State, Stateful, Step, append_rows
from boxcars.kernels.ordering.sorting import (
    LAST,
    WAITING,
    emit_least,
    physical,
    stored_numbers,
    ticks,
)
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Ports, param
from boxcars.model.routing import Routing
from boxcars.model.schema import Schema

_NOW = "now"


class WSort(Stateful, type="wsort", icon="↧"):
    """Sort a stream by fields of any type; each timeout emits the least waiting tuple.

    Timeouts fire at the multiples of ``timeout``. One at time T sees the tuples before T, not those
    at T: the least waiting tuple is emitted, ties in arrival order, and its order attribute becomes
    T. A null is less than any value. When the input ends, the rest is emitted in order, all with
    the time of the end.

    The box is lossy: a tuple that is less than the last emitted one goes to the output ``late``.

    Paper: Aurora's WSort (CIDR 2003, 2.2), which emits at least one tuple for each timeout.

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "price": "float"})
    >>> cheapest = calls.wsort(by=["price"], timeout=5)
    >>> lost = cheapest.late
    """

    by: tuple[str, ...] = param("The fields to sort by, most significant first.", xml="attribute")
    timeout: int | float = param(
        "The period of the timeouts, in units of the order attribute, seconds for a timestamp."
    )

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that are less than one already emitted."""
        return (LATE,)

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """The least of all tuples is emitted, so all must meet on one instance."""
        return Routing.single("it sorts all tuples together")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """Both outputs have the fields of the input; late tuples keep their order attribute."""
        schema = inputs[0]
        check_timeout(self.timeout, inputs)
        if not self.by:
            inputs.wrong("a wsort needs at least one field to sort by.", "by")
        for i, name in enumerate(self.by):
            inputs.field(name, "by", i)
        inputs.in_order()
        return {MAIN: schema, LATE: schema}

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state."""
        empty = schemas[0].empty()
        return {WAITING: empty, LAST: empty.select(self.by), _NOW: empty.select(schemas[0].ts)}

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Emit one tuple per timeout up to the frontier; at the end of the input, all."""
        (train,), (frontier,), schema = trains, frontiers, schemas[0]
        ts, dtype = schema.ts, schema[schema.ts].dtype
        before, waiting, last = state[_NOW][ts], state[WAITING], state[LAST]
        end = pl.Series(ts, [] if frontier.value is None else [frontier.value], dtype=dtype)
        now = pl.concat([before, train[ts][-1:], end]).sort()[-1:]
        if now.is_empty():
            return Step({MAIN: train, LATE: train}, frontier, state)
        period = physical(self.timeout, schema[ts])
        moments = ticks(stored_numbers(pl.concat([before, train[ts], now]), schema[ts]), period)
        tuples = append_rows(waiting, train)
        ranks = encode_keys(pl.concat([last, tuples.select(self.by)]), self.by).codes
        emitted, at, late = emit_least(
            ranks[last.height :],
            waiting.height,
            last.height > 0,
            ranks[0] if last.height else 0,
            moments[len(before) :],
            moments[0],
        )
        stays = np.ones(tuples.height, np.bool_)
        stays[emitted] = False
        stays[waiting.height :] &= ~late
        out, rest = tuples[emitted], tuples.filter(stays)
        last = out.select(self.by)[-1:] if out.height else last
        out = out.with_columns(pl.Series(ts, at * period).cast(dtype))
        if frontier.final:
            ordered = rest.sort(self.by, maintain_order=True)
            out = pl.concat([out, ordered.with_columns(pl.lit(now[0], dtype=dtype).alias(ts))])
            rest = rest.clear()
        new_state = {WAITING: rest, LAST: last, _NOW: now.to_frame(ts)}
        return Step({MAIN: out, LATE: train.filter(late)}, frontier, new_state)
