"""Union: merge streams of one schema into one, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from string import digits
from typing import ClassVar

import polars as pl

from boxcars.kernels.columns.ranks import RANK, align_ranks, merge_owned
from boxcars.kernels.contract import (
    Frontier,
    OwnedTuples,
    State,
    Stateful,
    Step,
    append_rows,
    earliest,
    split_point,
)
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports
from boxcars.model.schema import Schema


class Union(Stateful, type="union", icon="∪"):
    """Merge any number of streams into one, ordered by the order attribute.

    Tuples with equal order values are emitted in the order of their inputs. A tuple waits until no
    input can deliver an earlier one; an input that has ended delays nothing.

    Paper: Aurora's Union (CIDR 2003, 2.2), StreamCloud's Union and input merger (thesis, 2.1.1,
    3.1).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> a = net.input("a", ts="t", fields={"t": "int"})
    >>> b = net.input("b", ts="t", fields={"t": "int"})
    >>> both = a | b  # or a.union(b, c, d)
    """

    stateful: ClassVar[bool] = False
    """It buffers tuples for reordering only: stateless in StreamCloud's sense."""
    ranks: ClassVar[bool] = True
    waiting: ClassVar[tuple[str, ...]] = tuple(digits)
    arity: ClassVar[tuple[int, int | None]] = (2, None)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """All inputs need the same fields, in any order."""
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
        """All fields pass unchanged."""
        return field

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state."""
        return {str(port): schemas[0].empty() for port in range(len(schemas))}

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Emit the tuples that no input can precede any more."""
        ts, frontier = schemas[0].ts, earliest(frontiers)
        ready, rest = [], {}
        fields = [name for name in trains[0].columns if not name.startswith(RANK)]
        for port, train in enumerate(align_ranks(trains)):
            waiting = append_rows(state[str(port)], train.select(*fields, pl.col(f"^{RANK}.*$")))
            cut = split_point(waiting, ts, frontier)
            ready.append(waiting[:cut])
            rest[str(port)] = waiting[cut:]
        merged = pl.concat(ready).sort(ts, maintain_order=True)
        return Step({MAIN: merged}, frontier, rest)

    def share(
        self, states: Sequence[State], owned: OwnedTuples, schemas: tuple[Schema, ...]
    ) -> State:
        """The waiting tuples this instance owns."""
        shared = {}
        for port, schema in enumerate(schemas):
            frames = [state[str(port)] for state in states]
            shared[str(port)] = merge_owned(frames, partial(owned, port), schema.ts)
        return shared
