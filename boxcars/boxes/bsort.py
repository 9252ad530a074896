"""BSort: sort a stream by a field, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.kernels.contract import Frontier, State, Stateful, Step
from boxcars.kernels.ordering.sorting import Buffer, Slack
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Ports, param
from boxcars.model.order import has_place
from boxcars.model.problem import a
from boxcars.model.routing import Routing
from boxcars.model.schema import Schema
from boxcars.model.types import ORDER_TYPES, Type


class BSort(Stateful, type="bsort", icon="⇅"):
    """Sort a stream by a field, which becomes its order attribute.

    It is a bounded sort: a tuple waits for earlier ones, but not forever. With ``slack`` it waits
    until a tuple arrives that is ahead of it by more than the slack; with ``tuples`` it waits in a
    buffer of that many tuples, and whenever the buffer overflows the least is emitted. Ties are
    emitted in arrival order, and the end of the input flushes all.

    A tuple is late if it is behind the greatest value before it by more than the slack, or, with
    ``tuples``, less than one already emitted; late tuples go to the output ``late``. So do tuples
    without a valid order value: null, NaN, or outside the range of order values. An input that is
    in order already passes unchanged.

    Paper: Aurora's slack, counted in tuples (retrospective, 4.3); BSort is not in our papers.

    >>> import boxcars as bx
    >>> fields = {"time": "int", "start": "int"}
    >>> calls = bx.Network("n").input("calls", ts="time", fields=fields)
    >>> started = calls.bsort(by="start", slack=60)  # or tuples=100
    >>> missed = started.late
    """

    by: str | None = param(
        "The field that becomes the order attribute; by default, the current one.", default=None
    )
    slack: int | float = param(
        "How far a tuple may be out of order, in units of the field, seconds for a timestamp.",
        default=0,
    )
    tuples: int | None = param("Slack in tuples instead: the size of the buffer.", default=None)

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that arrived too late to be emitted in order."""
        return (LATE,)

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """Lateness depends on all tuples, so they must meet on one instance."""
        return Routing.single("it sorts all tuples together")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The fields of the input, in the new order."""
        schema = inputs[0]
        if not isfinite(self.slack) or self.slack < 0:
            inputs.wrong(f"expected 0 or more, got {self.slack}.", "slack")
        if self.tuples is not None and self.tuples < 0:
            inputs.wrong(f"expected 0 or more, got {self.tuples}.", "tuples")
        if self.tuples is not None and self.slack:
            inputs.wrong("give either slack or tuples, not both.", "tuples")
        if not schema.known:
            return {MAIN: schema, LATE: schema}
        by = self._by(schema)
        type_ = inputs.field(by, "by")
        if type_ not in (*ORDER_TYPES, Type.UNKNOWN):
            inputs.wrong(
                f"an order attribute is an int, a float or a timestamp, '{by}' is {a(type_)}.", "by"
            )
        if by not in schema:
            by = schema.ts
        return {
            MAIN: replace(schema, ts=by, ordered=True),
            LATE: replace(schema, ts=by, ordered=False),
        }

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state."""
        return self._rule(schemas[0]).start(schemas[0].empty())

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Emit in order the tuples that have waited long enough."""
        (train,), (schema,), (frontier,) = trains, schemas, frontiers
        if schema.ordered and self._by(schema) == schema.ts:
            return Step({MAIN: train, LATE: train.clear()}, frontier, state)
        valid = self._valid(train, schema)
        accepted = train if valid.all() else train.filter(valid)
        ordered = self._rule(schema).order(state, accepted, frontier.final)
        late = ~valid
        late[np.flatnonzero(valid)] = ordered.late
        return Step(
            {MAIN: ordered.train, LATE: train.filter(late)}, ordered.frontier, ordered.state
        )

    def _valid(self, train: pl.DataFrame, schema: Schema) -> NDArray[np.bool_]:
        by = self._by(schema)
        return train.select(has_place(pl.col(by), schema[by])).to_series().to_numpy()

    def _by(self, schema: Schema) -> str:
        return schema.ts if self.by is None else self.by

    def _rule(self, schema: Schema) -> Slack | Buffer:
        by = self._by(schema)
        if self.tuples is not None:
            return Buffer(by, self.tuples)
        return Slack.of(by, schema[by], self.slack)
