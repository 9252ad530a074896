"""All inputs forward together, one order value at a time.

Boxes that share a table which one of them writes see each other's work. What one sees must not
depend on how the inputs were cut into trains, so all go through the same moments: one for each
order value that any input has, in order, and at each the boxes act in the order of the network.
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
"""Order values as they are stored: whole numbers, or floats."""


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
        """What is to go up to this moment."""
        end = int(np.searchsorted(self.moments, moment, "right"))
        taken, self.tuples = self.tuples[:end], self.tuples[end:]
        self.moments = self.moments[end:]
        return taken


class Lockstep:
    """Holds back what an input gives until all inputs are as far, and lets it go step by step.

    A late tuple goes at the greatest order value that came before it.
    """

    def __init__(self, inputs: Mapping[str, Input]) -> None:
        self.inputs = inputs
        self.queues: dict[str, tuple[_Queue, _Queue]] = {}

    def steps(self, turns: Mapping[str, Turn]) -> Iterator[Mapping[str, Turn]]:
        """One step for each order value that is over on all inputs, and one at the very end."""
        for name, turn in turns.items():
            self._hold(name, turn)
        together = earliest(tuple(turn.frontier for turn in turns.values()))
        for moment in self._moments(together):
            yield {name: self._step(name, moment) for name in turns}
        if together.final:
            yield {name: _nothing_more(turn) for name, turn in turns.items()}

    def keep(self) -> State:
        """What waits, as frames."""
        found = {}
        for number, name in enumerate(self.inputs):
            for kind, queue in zip(_KINDS, self.queues.get(name, ()), strict=False):
                moments = pl.Series(_MOMENT, queue.moments)
                found[f"{kind}{number}"] = queue.tuples.with_columns(moments)
        return found

    def bring_back(self, state: State) -> None:
        """Wait for what waited."""
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
        """The order values that no tuple will still come with."""
        if together.value is None and not together.final:
            return np.empty(0)
        moments = np.unique(np.concatenate([queue.moments for queue, _ in self.queues.values()]))
        if together.final:
            return moments
        (dtype,) = {entity.fields[entity.ts].dtype for entity in self.inputs.values()}
        limit = pl.Series([together.value], dtype=dtype).to_physical()[0]
        return moments[: int(np.searchsorted(moments, limit, "left"))]

    def _step(self, name: str, moment: Any) -> Turn:
        queue, late = self.queues[name]
        entity = self.inputs[name]
        train = queue.take(moment)
        frontier = Frontier(_behind(moment, entity.fields[entity.ts]))
        return Turn(train, late.take(moment), train[entity.ts].clear(), frontier)


def _nothing_more(turn: Turn) -> Turn:
    return Turn(turn.train.clear(), turn.late.clear(), turn.late_at.clear(), turn.frontier)


def _behind(moment: Any, type_: Type) -> Order:
    """The least order value behind one, or itself if there is none."""
    if type_ is Type.FLOAT:
        return float(np.nextafter(moment, np.inf))
    last = _LAST[type_]
    value: Order = pl.Series([min(int(moment) + 1, last)]).cast(type_.dtype)[0]
    return value


_LAST: Mapping[Type, int] = {
    Type.INT: 2**63 - 1,
    Type.TIMESTAMP: int(pl.Series([datetime.max], dtype=pl.Datetime("us")).to_physical()[0]),
}
