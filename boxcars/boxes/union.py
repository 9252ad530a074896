"""Union: merge streams of one schema into one, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.kernels.kernel import Frontier, Stateful, Step, earliest
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports
from boxcars.model.schema import Schema

Waiting = tuple[pl.DataFrame, ...]


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
    >>> both = a | b            # or a.union(b, c, d)
    """

    stateful: ClassVar[bool] = False
    """It keeps tuples only until their turn: it is stateless in StreamCloud's sense."""
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
            elif not other.ordered:
                inputs.wrong(
                    f"the order attribute '{other.ts}' was computed anew, so this input is not in "
                    "order: sort it first.",
                    "in",
                    i,
                )
        return {MAIN: first}

    def start(self, schemas: tuple[Schema, ...]) -> Waiting:
        """Nothing waits yet."""
        return tuple(schemas[0].empty() for _ in schemas)

    def step(
        self,
        state: Waiting,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Let go what no input can come before any more."""
        ts = schemas[0].ts
        together = earliest(frontiers)
        waiting = [
            pl.concat([old, new.select(old.columns if old.width == new.width else new.columns)])
            if old.height
            else new
            for old, new in zip(state, trains, strict=True)
        ]
        if together.final:
            ready, rest = waiting, [train.clear() for train in waiting]
        elif together.value is None:
            ready, rest = [train.clear() for train in waiting], waiting
        else:
            cuts = [int(train[ts].search_sorted(together.value, "left")) for train in waiting]
            ready = [train[:cut] for train, cut in zip(waiting, cuts, strict=True)]
            rest = [train[cut:] for train, cut in zip(waiting, cuts, strict=True)]
        columns = trains[0].columns
        merged = pl.concat([train.select(columns) for train in ready]).sort(ts, maintain_order=True)
        return Step({MAIN: merged}, together, tuple(rest))
