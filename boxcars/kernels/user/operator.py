"""User-defined operators: a small class that processes trains and keeps a state.

The engine calls an operator in a way that makes it hard to depend on how the stream is split:

- it sees only tuples before the frontier, so all tuples of one order value arrive together;
- several inputs are merged into one train, in event order;
- time passes at moments that the operator chose (``every``), not where a train happens to end;
- each step uses a fresh object: only the state survives.
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
from boxcars.kernels.ordering.sorting import physical, stored_numbers, ticks
from boxcars.model.arc import MAIN
from boxcars.model.problem import BoxcarsError
from boxcars.model.schema import Schema
from boxcars.model.types import Type

INPUT = "__input"
"""The column with the input number of a tuple, for operators with several inputs."""

Output = pl.DataFrame | Mapping[str, pl.DataFrame] | None
"""Output of an operator: a frame, a frame per output, or None."""

_CLOCK = "__clock"


@dataclass(frozen=True)
class Setup:
    """What an operator declares before the first tuple.

    ``fields`` are the output fields with their types (per output, where there are several); without
    it they are those of the first input. ``state`` is the initial state. ``every`` is the period of
    :meth:`Operator.on_frontier`, in units of the order attribute, seconds for a timestamp.
    """

    fields: Mapping[str, Any] | None = None
    state: State = field(default_factory=dict)
    every: int | float | None = None


class Operator(ABC):
    """A user-defined stateful box; its parameters are those of its constructor.

    State goes in and out of each call as named Polars frames; nothing else is kept.

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
    """Number of inputs; None: any."""
    outputs: ClassVar[tuple[str, ...]] = (MAIN,)
    """The names of the outputs."""

    def setup(self, inputs: tuple[Schema, ...]) -> Setup:
        """Check the parameters and the inputs; an exception is an error in the network."""
        return Setup()

    @abstractmethod
    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        """Process tuples in order; returns the output, in order, and the new state."""

    def on_frontier(self, state: State, frontier: Frontier) -> tuple[Output, State]:
        """Time has advanced to ``frontier.value``: all tuples before it were processed, none after.

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
    ) -> tuple[list[Output], State]:
        """Process tuples, then advance time to the frontier."""
        ...


@dataclass(frozen=True)
class TrainDriver:
    """Drives an operator over trains: splits them where time passes."""

    name: str
    operator: Operator
    setup: Setup
    schema: Schema

    def start(self) -> State:
        """The operator's own state; the clock has not started."""
        return {
            **read_state(f"{self.name}.setup", self.setup.state),
            _CLOCK: _clock(self._type, None, ended=False),
        }

    def advance(
        self, state: State, train: pl.DataFrame, frontier: Frontier
    ) -> tuple[list[Output], State]:
        """Call the operator with each piece of the train, and at each moment between pieces."""
        own: State = {name: frame for name, frame in state.items() if name != _CLOCK}
        tick, ended = state[_CLOCK].row(0)
        emitted: list[Output] = []
        for number, piece in self._pieces(train):
            own, tick = self._advance_time(own, tick, number, emitted)
            own = self._call("on_train", own, piece, emitted)
        if frontier.value is not None and tick is not None:
            own, tick = self._advance_time(own, tick, self._tick_of(frontier.value), emitted)
        if frontier.final and not ended:
            own = self._call("on_frontier", own, frontier, emitted)
        return emitted, {**own, _CLOCK: _clock(self._type, tick, ended or frontier.final)}

    def _pieces(self, train: pl.DataFrame) -> Iterator[tuple[Any, pl.DataFrame]]:
        """Split the train between moments; yields each piece with the number of its tick."""
        if not train.height:
            return
        if self.setup.every is None:
            yield None, train
            return
        numbers = ticks(stored_numbers(train[self.schema.ts], self._type), self._period)
        bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), train.height]
        for start, end in pairwise(bounds):
            yield numbers[start].item(), train[start:end]

    def _advance_time(
        self, own: State, tick: Any, until: Any, emitted: list[Output]
    ) -> tuple[State, Any]:
        """Advance time tick by tick; the first tuple starts the clock."""
        if tick is None or until is None:
            return own, until
        while tick < until:
            tick += 1
            moment = Frontier(self._moment(tick))
            own = self._call("on_frontier", own, moment, emitted)
        return own, tick

    def _call(self, method: str, own: State, argument: Any, emitted: list[Output]) -> State:
        location = f"{self.name}.{method}"
        found = call_user_code(location, getattr(self.operator, method), own, argument)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise BoxcarsError(f"{location} returned {_kind(found)}, expected (output, state).")
        emitted.append(found[0])
        new: State = own if found[1] is own else read_state(location, found[1])
        _compare(location, new, own)
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
        one = stored_numbers(pl.Series([value], dtype=self._type.dtype, strict=False), self._type)
        return ticks(one, self._period)[0].item()

    def _moment(self, tick: Any) -> Order:
        moment: Order = pl.Series([tick * self._period]).cast(self._type.dtype).item()
        return moment


def _clock(type_: Type, tick: Any, ended: bool) -> pl.DataFrame:
    """The last tick, and whether the input has ended."""
    number = pl.Float64() if type_ is Type.FLOAT else pl.Int64()
    schema = {"tick": number, "ended": pl.Boolean()}
    return pl.DataFrame({"tick": [tick], "ended": [ended]}, schema=schema)


def call_user_code(location: str, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call user code; an exception becomes an error that names the location."""
    try:
        return method(*arguments, **named)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise BoxcarsError(f"{location} raised {what}") from error


def read_state(location: str, got: Any) -> State:
    """Validate a state: frames by name that can be stored as Arrow data."""
    if not isinstance(got, Mapping):
        raise BoxcarsError(
            f"{location} returned {_kind(got)} as state, expected Polars frames or Arrow "
            "tables by name."
        )
    state: dict[str, pl.DataFrame] = {}
    for name, given in got.items():
        frame: Any = pl.from_arrow(given) if isinstance(given, pa.Table) else given
        if not isinstance(frame, pl.DataFrame):
            raise BoxcarsError(
                f"{location} returned {_kind(frame)} as state '{name}', expected a Polars frame or "
                "an Arrow table."
            )
        if pl.Object in frame.dtypes:
            raise BoxcarsError(
                f"{location} returned Python objects in state '{name}', which can't be stored."
            )
        state[name] = frame
    return state


def _compare(location: str, state: State, before: State) -> None:
    """Reject a state whose frames or columns differ from before."""
    if state.keys() != before.keys():
        had, has = (", ".join(map(str, s)) or "none" for s in (before, state))
        raise BoxcarsError(f"{location} returned the states {has}; setup has {had}.")
    for name, frame in state.items():
        if frame.schema != before[name].schema:
            raise BoxcarsError(
                f"{location} returned state '{name}' with {dict(frame.schema)}; "
                f"setup has {dict(before[name].schema)}."
            )


def _kind(thing: Any) -> str:
    return type(thing).__name__
