"""BSort: put a stream into the order of a field."""

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
    """Put a stream into the order of a field, which becomes its order attribute.

    It is a bounded sort: a tuple waits for others that may come before it, but not for ever. With
    ``slack`` it waits until a tuple has come that is more than the slack ahead; with ``tuples`` it
    waits in a buffer of that many tuples, and whenever there is one more the least leaves. Ties
    leave in the order in which they came, and at the end of the input all leave.

    A tuple is late if it is more than the slack behind the greatest value before it, or with
    ``tuples`` less than one that has left; late tuples leave by ``late``. So do those without a
    place in the order: null, not a number, or beyond the range of windows. An input that is in that
    order already passes as it is.

    Paper: Aurora's slack, counted in tuples (retrospective, 4.3); BSort is not in our papers.

    >>> import boxcars as bx
    >>> fields = {"time": "int", "start": "int"}
    >>> calls = bx.Network("n").input("calls", ts="time", fields=fields)
    >>> started = calls.bsort(by="start", slack=60)  # or tuples=100
    >>> missed = started.late
    """

    by: str | None = param(
        "The field that becomes the order attribute; without it, the present one.", default=None
    )
    slack: int | float = param(
        "How far a tuple may be behind, in units of the field, seconds for a timestamp.", default=0
    )
    tuples: int | None = param("Slack in tuples instead: how many wait.", default=None)

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that would have had to leave before."""
        return (LATE,)

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """A tuple is late by what all others were, so all must meet."""
        return Routing.single("it sorts all tuples together")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The same fields in another order."""
        schema = inputs[0]
        if not isfinite(self.slack) or self.slack < 0:
            inputs.wrong(f"expected 0 or more, got {self.slack}.", "slack")
        if self.tuples is not None and self.tuples < 0:
            inputs.wrong(f"expected 0 or more, got {self.tuples}.", "tuples")
        if self.tuples is not None and self.slack:
            inputs.wrong("slack is counted either in units of the field or in tuples.", "tuples")
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
        """Nothing waits."""
        return self._rule(schemas[0]).start(schemas[0].empty())

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Let go in order what has waited long enough."""
        (train,), (schema,), (frontier,) = trains, schemas, frontiers
        if schema.ordered and self._by(schema) == schema.ts:
            return Step({MAIN: train, LATE: train.clear()}, frontier, state)
        placed = self._placed(train, schema)
        good = train if placed.all() else train.filter(placed)
        ordered = self._rule(schema).order(state, good, frontier.final)
        late = ~placed
        late[np.flatnonzero(placed)] = ordered.late
        return Step(
            {MAIN: ordered.train, LATE: train.filter(late)}, ordered.frontier, ordered.state
        )

    def _placed(self, train: pl.DataFrame, schema: Schema) -> NDArray[np.bool_]:
        by = self._by(schema)
        return train.select(has_place(pl.col(by), schema[by])).to_series().to_numpy()

    def _by(self, schema: Schema) -> str:
        return schema.ts if self.by is None else self.by

    def _rule(self, schema: Schema) -> Slack | Buffer:
        by = self._by(schema)
        if self.tuples is not None:
            return Buffer(by, self.tuples)
        return Slack.of(by, schema[by], self.slack)
