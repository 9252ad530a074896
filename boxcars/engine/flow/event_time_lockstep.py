"""Advances all inputs together, one order value at a time.

Boxes that share a table see each other's writes. What a box reads must not depend on how the inputs
were split into trains. So all inputs advance through the same moments, one for each order value of
any input, and at each moment the boxes run in the order of the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.engine.flow.input_ordering import Turn
from boxcars.kernels.contract import Frontier, Order, State, earliest
from boxcars.model.entities import Input
from boxcars.model.types import Type

Moments = NDArray[Any]
"""Order values in their physical form: integers or floats."""


_KINDS = ("train", "late")
_MOMENT = "__moment"


class _Queue:
    """Tuples that wait for their moment, in order."""

    def __init__(self, tuples: pl.DataFrame, moments: pl.Series) -> None:
        self.tuples = tuples
        self.moments = moments.to_physical().to_numpy()

    def add(self, tuples: pl.DataFrame, moments: pl.Series) -> None:
        self.tuples = pl.concat([self.tuples, tuples])
        self.moments = np.concatenate([self.moments, moments.to_physical().to_numpy()])

    def take(self, moment: Any) -> pl.DataFrame:
        """Remove and return the tuples up to and including this moment."""
        end = int(np.searchsorted(self.moments, moment, "right"))
        taken, self.tuples = self.tuples[:end], self.tuples[end:]
        self.moments = self.moments[end:]
        return taken


class Lockstep:
    """Buffers tuples until the frontier of all inputs has passed them; releases them in steps.

    A late tuple is released at the greatest order value that arrived before it.
    """

    def __init__(self, inputs: Mapping[str, Input]) -> None:
        self.inputs = inputs
        self.queues: dict[str, tuple[_Queue, _Queue]] = {}

    def steps(self, turns: Mapping[str, Turn]) -> Iterator[Mapping[str, Turn]]:
        """One step for each order value that all frontiers have passed, and one at the end."""
        for name, turn in turns.items():
            self._hold(name, turn)
        together = earliest(tuple(turn.frontier for turn in turns.values()))
        for moment in self._moments(together):
            yield {name: self._step(name, moment) for name in turns}
        if together.final:
            yield {name: _nothing_more(turn) for name, turn in turns.items()}

    def save(self) -> State:
        """The buffered tuples, as a state."""
        found = {}
        for number, name in enumerate(self.inputs):
            for kind, queue in zip(_KINDS, self.queues.get(name, ()), strict=False):
                moments = pl.Series(_MOMENT, queue.moments)
                found[f"{kind}{number}"] = queue.tuples.with_columns(moments)
        return found

    def restore(self, state: State) -> None:
        """Restore the buffered tuples from a state."""
        for number, name in enumerate(self.inputs):
            frames = [state[f"{k}{number}"] for k in _KINDS if f"{k}{number}" in state]
            if len(frames) == len(_KINDS):
                queue, late = (_Queue(f.drop(_MOMENT), f[_MOMENT]) for f in frames)
                self.queues[name] = queue, late

    def _hold(self, name: str, turn: Turn) -> None:
        ts = turn.train[self.inputs[name].ts]
        if name not in self.queues:
            self.queues[name] = _Queue(turn.train, ts), _Queue(turn.late, turn.late_at)
            return
        queue, late = self.queues[name]
        queue.add(turn.train, ts)
        late.add(turn.late, turn.late_at)

    def _moments(self, together: Frontier) -> Moments:
        """The buffered order values before the common frontier: they are complete."""
        if together.value is None and not together.final:
            return np.empty(0)
        moments = np.unique(np.concatenate([queue.moments for queue, _ in self.queues.values()]))
        if together.final:
            return moments
        (dtype,) = {entity.order_type.dtype for entity in self.inputs.values()}
        limit = pl.Series([together.value], dtype=dtype).to_physical()[0]
        return moments[: int(np.searchsorted(moments, limit, "left"))]

    def _step(self, name: str, moment: Any) -> Turn:
        queue, late = self.queues[name]
        entity = self.inputs[name]
        train = queue.take(moment)
        frontier = Frontier(_next_moment(moment, entity.order_type))
        return Turn(train, late.take(moment), train[entity.ts].clear(), frontier)


def _nothing_more(turn: Turn) -> Turn:
    return Turn(turn.train.clear(), turn.late.clear(), turn.late_at.clear(), turn.frontier)


def _next_moment(moment: Any, type_: Type) -> Order:
    """The least order value after ``moment``, or itself if it is the last."""
    if type_ is Type.FLOAT:
        return float(np.nextafter(moment, np.inf))
    last = _LAST[type_]
    value: Order = pl.Series([min(int(moment) + 1, last)]).cast(type_.dtype)[0]
    return value


_LAST: Mapping[Type, int] = {
    Type.INT: 2**63 - 1,
    Type.TIMESTAMP: int(pl.Series([datetime.max], dtype=pl.Datetime("us")).to_physical()[0]),
}
