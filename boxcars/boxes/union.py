"""Union: merge streams of one schema into one, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from string import digits
from typing import ClassVar

import polars as pl

from boxcars.kernels.columns.ranks import RANK, alike, share_tuples
from boxcars.kernels.contract import (
    Frontier,
    Mine,
    State,
    Stateful,
    Step,
    appended,
    earliest,
    split_point,
)
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports
from boxcars.model.schema import Schema


class Union(Stateful, type="union", icon="∪"):
    """Merge any number of streams into one, ordered by the order attribute.

    Tuples with equal order values leave in the order of the inputs they came from. A tuple waits
    until no input can bring an earlier one; an input that has ended keeps nobody waiting.

    Paper: Aurora's Union (CIDR 2003, 2.2), StreamCloud's Union and input merger (thesis, 2.1.1,
    3.1).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> a = net.input("a", ts="t", fields={"t": "int"})
    >>> b = net.input("b", ts="t", fields={"t": "int"})
    >>> both = a | b  # or a.union(b, c, d)
    """

    stateful: ClassVar[bool] = False
    """It keeps tuples only until their turn: it is stateless in StreamCloud's sense."""
    ranks: ClassVar[bool] = True
    waiting: ClassVar[tuple[str, ...]] = tuple(digits)
    arity: ClassVar[tuple[int, int | None]] = (2, None)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """All inputs have the fields of the first; their order does not matter."""
        first = next((schema for schema in inputs.schemas if schema.known), inputs[0])
        for i, other in enumerate(inputs.schemas):
            if not other.known:
                continue
            if dict(other.fields) != dict(first.fields):
                inputs.wrong(f"a union needs equal fields, got ({first}) and ({other}).", "in", i)
            elif other.ts != first.ts:
                inputs.wrong(
                    f"a union needs one order attribute, got '{first.ts}' and '{other.ts}'.",
                    "in",
                    i,
                )
        inputs.in_order()
        return {MAIN: first}

    def carries(self, field: str, schema: Schema) -> str | None:
        """All fields pass as they are."""
        return field

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """Nothing waits yet."""
        return {str(port): schemas[0].empty() for port in range(len(schemas))}

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Let go what no input can come before any more."""
        ts, together = schemas[0].ts, earliest(frontiers)
        ready, rest = [], {}
        fields = [name for name in trains[0].columns if not name.startswith(RANK)]
        for port, train in enumerate(alike(trains)):
            waiting = appended(state[str(port)], train.select(*fields, pl.col(f"^{RANK}.*$")))
            cut = split_point(waiting, ts, together)
            ready.append(waiting[:cut])
            rest[str(port)] = waiting[cut:]
        merged = pl.concat(ready).sort(ts, maintain_order=True)
        return Step({MAIN: merged}, together, rest)

    def share(self, states: Sequence[State], mine: Mine, schemas: tuple[Schema, ...]) -> State:
        """The tuples that wait."""
        shared = {}
        for port, schema in enumerate(schemas):
            frames = [state[str(port)] for state in states]
            shared[str(port)] = share_tuples(frames, partial(mine, port), schema.ts)
        return shared
