"""Operators of the user's own: a small class that is given trains and keeps a state.

The engine calls an operator such that it is hard to depend on how the stream was cut:

- it sees only tuples behind the frontier, so all tuples of one order value come together;
- several inputs come merged into one train, in the order in which they happened;
- time passes at moments that the operator chose (``every``), not where a train happens to end;
- each step has a fresh object: what is not in the state is gone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
import pyarrow as pa

from boxcars.kernels.contract import Frontier, Order, State
from boxcars.kernels.ordering.sorting import physical, stored, ticks
from boxcars.model.arc import MAIN
from boxcars.model.problem import BoxcarsError
from boxcars.model.schema import Schema
from boxcars.model.types import Type

INPUT = "__input"
"""The column that says which input a tuple came from, for operators with several."""

Leaving = pl.DataFrame | Mapping[str, pl.DataFrame] | None
"""What an operator lets go: a frame, a frame for each output, or nothing."""

_CLOCK = "__clock"


@dataclass(frozen=True)
class Setup:
    """What an operator says of itself before the first tuple.

    ``fields`` are those that leave with their types (for each output, where there are several);
    without it they are those of the first input. ``state`` is the state to start with. ``every`` is
    how often time passes, in units of the order attribute, seconds for a timestamp.
    """

    fields: Mapping[str, Any] | None = None
    state: State = field(default_factory=dict)
    every: int | float | None = None


class Operator(ABC):
    """A stateful box of your own; its parameters are those of its constructor.

    State goes in and out of each call as named Polars frames, and nothing else is kept.

    >>> class Numbered(Operator):
    ...     def setup(self, inputs):
    ...         fields = {**inputs[0].fields, "n": "int"}
    ...         return Setup(fields, {"count": pl.DataFrame({"n": [0]})})
    ...
    ...     def on_train(self, state, train):
    ...         first = state["count"].item()
    ...         numbered = train.with_row_index("n", first).cast({"n": pl.Int64})
    ...         return numbered, {"count": pl.DataFrame({"n": [first + train.height]})}
    """

    inputs: ClassVar[int | None] = 1
    """How many streams enter; None is any number."""
    outputs: ClassVar[tuple[str, ...]] = (MAIN,)
    """The names of what leaves."""

    def setup(self, inputs: tuple[Schema, ...]) -> Setup:
        """Look at the parameters and the inputs; an exception is a mistake in the network."""
        return Setup()

    @abstractmethod
    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Leaving, State]:
        """Take in tuples that are in order; give what leaves, in order, and the new state."""

    def on_frontier(self, state: State, frontier: Frontier) -> tuple[Leaving, State]:
        """Time has come to ``frontier.value``: all tuples before it were there, none behind it.

        Called at each multiple of ``every`` from the first tuple on, and at the end (``final``).
        """
        return None, state


class Driver(Protocol):
    """Calls the methods of an operator as tuples and time arrive."""

    def start(self) -> State:
        """The state before the first tuple."""
        ...

    def advance(
        self, state: State, train: pl.DataFrame, frontier: Frontier
    ) -> tuple[list[Leaving], State]:
        """Take in tuples, then let time pass up to the frontier."""
        ...


@dataclass(frozen=True)
class TrainDriver:
    """Drives an operator that takes trains: cuts them where time passes."""

    name: str
    operator: Operator
    setup: Setup
    schema: Schema

    def start(self) -> State:
        """The operator's own state; time has not begun."""
        return {
            **read_state(f"{self.name}.setup", self.setup.state),
            _CLOCK: _clock(self._type, None, ended=False),
        }

    def advance(
        self, state: State, train: pl.DataFrame, frontier: Frontier
    ) -> tuple[list[Leaving], State]:
        """Call the operator with each piece of the train and at each moment between them."""
        own: State = {name: frame for name, frame in state.items() if name != _CLOCK}
        tick, ended = state[_CLOCK].row(0)
        leaving: list[Leaving] = []
        for number, piece in self._pieces(train):
            own, tick = self._pass(own, tick, number, leaving)
            own = self._call("on_train", own, piece, leaving)
        if frontier.value is not None and tick is not None:
            own, tick = self._pass(own, tick, self._tick_of(frontier.value), leaving)
        if frontier.final and not ended:
            own = self._call("on_frontier", own, frontier, leaving)
        return leaving, {**own, _CLOCK: _clock(self._type, tick, ended or frontier.final)}

    def _pieces(self, train: pl.DataFrame) -> Iterator[tuple[Any, pl.DataFrame]]:
        """The train in pieces between two moments, each with the number of the first."""
        if not train.height:
            return
        if self.setup.every is None:
            yield None, train
            return
        numbers = ticks(stored(train[self.schema.ts], self._type), self._period)
        bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), train.height]
        for start, end in pairwise(bounds):
            yield numbers[start].item(), train[start:end]

    def _pass(self, own: State, tick: Any, until: Any, leaving: list[Leaving]) -> tuple[State, Any]:
        """Let time pass, moment by moment; the first tuple starts it."""
        if tick is None or until is None:
            return own, until
        while tick < until:
            tick += 1
            moment = Frontier(self._moment(tick))
            own = self._call("on_frontier", own, moment, leaving)
        return own, tick

    def _call(self, method: str, own: State, argument: Any, leaving: list[Leaving]) -> State:
        place = f"{self.name}.{method}"
        found = called(place, getattr(self.operator, method), own, argument)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise BoxcarsError(f"{place} gave {_kind(found)}, expected what leaves and the state.")
        leaving.append(found[0])
        new: State = own if found[1] is own else read_state(place, found[1])
        _compare(place, new, own)
        return new

    @property
    def _type(self) -> Type:
        return self.schema[self.schema.ts]

    @property
    def _period(self) -> Any:
        return physical(self.setup.every or 1, self._type)

    def _tick_of(self, value: Order) -> Any:
        if self.setup.every is None:
            return None
        one = stored(pl.Series([value], dtype=self._type.dtype, strict=False), self._type)
        return ticks(one, self._period)[0].item()

    def _moment(self, tick: Any) -> Order:
        moment: Order = pl.Series([tick * self._period]).cast(self._type.dtype).item()
        return moment


def _clock(type_: Type, tick: Any, ended: bool) -> pl.DataFrame:
    """The moment that has come last, and whether the end has."""
    number = pl.Float64() if type_ is Type.FLOAT else pl.Int64()
    schema = {"tick": number, "ended": pl.Boolean()}
    return pl.DataFrame({"tick": [tick], "ended": [ended]}, schema=schema)


def called(place: str, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call what the user wrote; an exception becomes a sentence that says where it was."""
    try:
        return method(*arguments, **named)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise BoxcarsError(f"{place} raised {what}") from error


def read_state(place: str, got: Any) -> State:
    """A state that can be kept as Arrow data: frames by name."""
    if not isinstance(got, Mapping):
        raise BoxcarsError(
            f"{place} gave {_kind(got)} as state, expected Polars frames or Arrow tables by name."
        )
    state: dict[str, pl.DataFrame] = {}
    for name, given in got.items():
        frame: Any = pl.from_arrow(given) if isinstance(given, pa.Table) else given
        if not isinstance(frame, pl.DataFrame):
            raise BoxcarsError(
                f"{place} gave {_kind(frame)} as state '{name}', expected a Polars frame or an "
                "Arrow table."
            )
        if pl.Object in frame.dtypes:
            raise BoxcarsError(f"{place} keeps Python objects in state '{name}', which can't be.")
        state[name] = frame
    return state


def _compare(place: str, state: State, before: State) -> None:
    """Refuse a state with other frames or columns than before."""
    if state.keys() != before.keys():
        had, has = (", ".join(map(str, s)) or "none" for s in (before, state))
        raise BoxcarsError(f"{place} gave the states {has}; setup has {had}.")
    for name, frame in state.items():
        if frame.schema != before[name].schema:
            raise BoxcarsError(
                f"{place} gave state '{name}' with {dict(frame.schema)}; "
                f"setup has {dict(before[name].schema)}."
            )


def _kind(thing: Any) -> str:
    return type(thing).__name__
