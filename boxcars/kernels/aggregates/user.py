"""User-defined aggregate functions: a small class, compiled by numba where possible."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, overload

import numba
import numpy as np
import polars as pl
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from boxcars.kernels.aggregates.builtin import Function, register_function
from boxcars.kernels.aggregates.partials import Columns, Partial
from boxcars.kernels.aggregates.user_compile import (
    NUMBERS,
    NotNumbers,
    fingerprint,
    jitted,
    plain,
    result_type,
    settle,
    values_of,
)
from boxcars.kernels.aggregates.user_folds import Loops, Steps, make_loops
from boxcars.kernels.columns.folds import Windows
from boxcars.model.own_code import note_own
from boxcars.model.problem import BoxcarsError, Wrong, a
from boxcars.model.types import Type

C = TypeVar("C", bound=type)
Ints = NDArray[np.int64]

_ANNOTATIONS: dict[Any, Type] = {
    str: Type.STR,
    int: Type.INT,
    float: Type.FLOAT,
    bool: Type.BOOL,
    datetime: Type.TIMESTAMP,
    bytes: Type.BYTES,
}


@overload
def aggregate(cls: C, /) -> C: ...


@overload
def aggregate(*, name: str = "", compile: bool | None = None) -> Callable[[C], C]: ...


def aggregate(
    cls: C | None = None, /, *, name: str = "", compile: bool | None = None
) -> C | Callable[[C], C]:
    """Register a class as an aggregate function.

    The class has ``start()``, ``add(state, x)``, ``finish(state)`` and optionally ``combine(a,
    b)``; a state is a value or a tuple of values. Tuples with a null argument are skipped; a window
    without any other tuple is null. With ``combine`` every window costs the same, however many
    tuples it holds. ``compile=True`` requires numba, ``False`` disables it, ``None`` tries it.

    >>> @aggregate
    ... class product:
    ...     '''All values multiplied.'''
    ...     def start():
    ...         return 1.0
    ...     def add(state, x: float):
    ...         return state * x
    ...     def finish(state) -> float:
    ...         return state
    """

    def decorate(python: C) -> C:
        known_as = (name or python.__name__).lower()
        register_function(_read(python, known_as, compile).function())
        note_own("aggregate", known_as, python, compile=compile)
        return python

    return decorate(cls) if cls is not None else decorate


@dataclass(frozen=True)
class _Ready:
    """An aggregate for arguments of given types: its loops and the types of its state."""

    loops: Loops
    state: tuple[Type, ...]
    compiled: bool


@dataclass(frozen=True)
class UserAggregate:
    """A user-defined aggregate, with the types of its arguments (None: any) and its result."""

    name: str
    doc: str
    start: Callable[..., Any]
    add: Callable[..., Any]
    finish: Callable[..., Any]
    combine: Callable[..., Any] | None
    parameters: tuple[tuple[str, Type | None], ...]
    least: int
    returns: Type
    compile: bool | None
    ready: dict[tuple[Type, ...], _Ready] = field(default_factory=dict)

    def function(self) -> Function:
        """The function as the aggregate box uses it."""
        names = [
            f"{name}?" if i >= self.least else name for i, (name, _) in enumerate(self.parameters)
        ]
        return Function(
            self.name,
            f"{self.name}({', '.join(names)})",
            self.doc,
            (self.least, len(self.parameters)),
            self._result,
            self._compute,
            self._partial(),
        )

    def _result(self, types: Sequence[Type]) -> Type:
        for (name, wanted), got in zip(self.parameters, types, strict=False):
            if wanted is not None and not wanted.accepts(got):
                raise Wrong(f"needs {a(wanted)} as {name}, got {a(got)}.")
        return self.returns

    def _compute(self, windows: Windows, columns: Columns) -> pl.Series:
        """The value of each window."""
        slices = windows.slices
        columns, ready = self._prepare(columns)
        rows = len(slices.lo)
        if ready.compiled:
            out, found = np.zeros(rows, NUMBERS[self.returns]), np.zeros(rows, np.bool_)
            given: Any = (*_arrays(columns, len(windows.blocks)), windows.blocks)
            self._run(ready.loops.windows, *given, slices.lo, slices.hi, slices.parts, out, found)
            return _nulled(pl.Series(out), pl.Series(found))
        values: list[Any] = [None] * rows
        arrays = (windows.blocks, slices.lo, slices.hi, slices.parts)
        given = (*_lists(columns, len(windows.blocks)), *(array.tolist() for array in arrays))
        self._run(ready.loops.windows, *given, values, [False] * rows)
        return self._series(values, self.returns)

    def _prepare(self, columns: Columns) -> tuple[list[pl.Series], _Ready]:
        """Cast the arguments to the declared types; returns them and the loops for them."""
        wanted = [type_ for _, type_ in self.parameters[: len(columns)]]
        cast = [c if t is None else c.cast(t.dtype) for c, t in zip(columns, wanted, strict=True)]
        types = tuple(Type.of(column.dtype) or Type.UNKNOWN for column in cast)
        if types not in self.ready:
            self.ready[types] = self._make(types)
        return cast, self.ready[types]

    def _make(self, types: tuple[Type, ...]) -> _Ready:
        """Compile the loops, or fall back to plain Python."""
        reason: object = "its values are not all numbers"
        start = self._run(plain(self.start))
        if self.compile is not False and all(t in NUMBERS for t in (*types, self.returns)):
            try:
                return self._compiled(types, start)
            except (NumbaError, NotNumbers) as error:
                reason = str(error).strip().partition("\n")[0]
        if self.compile:
            raise BoxcarsError(f"{self.name} can't be compiled: {reason}.")
        combine = None if self.combine is None else plain(self.combine)
        steps = Steps(plain(self.start), plain(self.add), plain(self.finish), combine)
        size = len(start) if isinstance(start, tuple) else None
        loops = make_loops(steps, len(types), size, _same)
        state = tuple(_ANNOTATIONS.get(type(value), Type.UNKNOWN) for value in values_of(start))
        return _Ready(loops, state, compiled=False)

    def _compiled(self, types: tuple[Type, ...], start: Any) -> _Ready:
        key = fingerprint(self.add, self.finish, self.combine, start)
        add, finish = jitted(self.add, key), jitted(self.finish, key)
        combine = None if self.combine is None else jitted(self.combine, key)
        start = settle(start, add, combine, types)
        result = result_type(finish, start)
        if not self.returns.accepts(result):
            raise BoxcarsError(
                f"{self.name}.finish returns {a(result)}, but declares {self.returns}."
            )

        @numba.njit
        def begin() -> Any:
            return start

        size = len(start) if isinstance(start, tuple) else None
        steps = Steps(begin, add, finish, combine)
        loops = make_loops(steps, len(types), size, partial(jitted, key=key))
        return _Ready(loops, tuple(_ANNOTATIONS[type(v)] for v in values_of(start)), compiled=True)

    def _run(self, loop: Callable[..., Any], *given: Any) -> Any:
        try:
            return loop(*given)
        except BoxcarsError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise BoxcarsError(f"{self.name} raised {what}") from error

    def _series(self, values: list[Any], type_: Type) -> pl.Series:
        try:
            return pl.Series(values, dtype=type_.dtype, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            got = next(v for v in values if v is not None and not _is(v, type_))
            raise BoxcarsError(f"{self.name} returned {got!r}, which is not {a(type_)}.") from None

    def _partial(self) -> Partial | None:
        """The incremental form of the function, where states can be stored as columns."""
        start = self._run(plain(self.start))
        if any(type(value) not in _ANNOTATIONS for value in values_of(start)):
            return None
        return Partial(self._lift, self._scan, self._finish)

    def _lift(self, columns: Columns, number: int) -> Columns:
        """State columns and whether each is set; without ``combine`` also the arguments to add."""
        columns, ready = self._prepare(columns)
        given, valid = (_arrays if ready.compiled else _lists)(columns, number)
        states = tuple(
            np.zeros(number, NUMBERS[type_]) if ready.compiled else [None] * number
            for type_ in ready.state
        )
        self._run(ready.loops.lift, given, valid, states)
        return self._columns(ready, states, valid) + ([] if self.combine else columns)

    def _scan(self, columns: Columns, starts: Ints) -> Columns:
        ready = self._ready_for(columns)
        size = len(ready.state)
        states, some = _contents(columns[: size + 1], ready.compiled)
        given, _ = (_arrays if ready.compiled else _lists)(columns[size + 1 :], len(some))
        bounds = starts if ready.compiled else starts.tolist()
        self._run(ready.loops.scan, states, some, given, bounds)
        return self._columns(ready, states, some) + list(columns[size + 1 :])

    def _finish(self, columns: Columns) -> pl.Series:
        ready = self._ready_for(columns)
        states, some = _contents(columns[: len(ready.state) + 1], ready.compiled)
        number = len(some)
        if ready.compiled:
            out, found = np.zeros(number, NUMBERS[self.returns]), np.zeros(number, np.bool_)
            self._run(ready.loops.finish, states, some, out, found)
            return _nulled(pl.Series(out), pl.Series(found))
        values: list[Any] = [None] * number
        self._run(ready.loops.finish, states, some, values, [False] * number)
        return self._series(values, self.returns)

    def _columns(self, ready: _Ready, states: Any, some: Any) -> list[pl.Series]:
        """Convert a state to columns."""
        found = [
            self._series(column.tolist() if ready.compiled else column, type_)
            for column, type_ in zip(states, ready.state, strict=True)
        ]
        return [*found, pl.Series(some, dtype=pl.Boolean)]

    def _ready_for(self, columns: Columns) -> _Ready:
        """The loops for a state with these columns."""
        dtypes = [column.dtype for column in columns]
        return next(
            ready
            for ready in self.ready.values()
            if [type_.dtype for type_ in ready.state] == dtypes[: len(ready.state)]
        )


def _arrays(columns: Columns, number: int) -> tuple[tuple[Any, ...], Any]:
    """The arguments as arrays, and which tuples have them all."""
    valid = np.ones(number, np.bool_)
    arrays = []
    for column in columns:
        valid &= column.is_not_null().to_numpy()
        zero: Any = False if column.dtype == pl.Boolean else 0
        array = column.fill_null(zero).to_numpy().view()
        array.flags.writeable = False  # always, or numba compiles for both
        arrays.append(array)
    return tuple(arrays), valid


def _lists(columns: Columns, number: int) -> tuple[tuple[Any, ...], Any]:
    """The arguments as lists, and which tuples have them all."""
    lists = tuple(column.to_list() for column in columns)
    rows = zip(*lists, strict=True) if lists else ((),) * number
    return lists, [None not in row for row in rows]


def _contents(columns: Columns, compiled: bool) -> tuple[tuple[Any, ...], Any]:
    """Read a state from its columns, as writable copies."""
    *states, some = (np.array(c.to_numpy()) if compiled else c.to_list() for c in columns)
    return tuple(states), some


def _nulled(values: pl.Series, found: pl.Series) -> pl.Series:
    return values if found.all() else pl.select(pl.when(found).then(values)).to_series()


def _is(value: Any, type_: Type) -> bool:
    try:
        pl.Series([value], dtype=type_.dtype, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return False
    return True


def _read(cls: type, name: str, compile: bool | None) -> UserAggregate:
    """Validate the class, and read its methods and types."""
    parts: dict[str, Any] = {
        part: getattr(cls, part, None) for part in ("start", "add", "finish", "combine")
    }
    for part, number in (("start", 0), ("add", None), ("finish", 1), ("combine", 2)):
        function = parts[part]
        if function is None and part in ("finish", "combine"):
            continue
        if not callable(function):
            raise Wrong(f"the aggregate '{name}' needs a method {part}.")
        got = len(inspect.signature(plain(function)).parameters)
        if got != number if number is not None else got < 1:
            wanted = "the state and the arguments" if number is None else f"{number} arguments"
            raise Wrong(f"{name}.{part} takes {got} arguments, expected {wanted}.")
    parameters = list(inspect.signature(plain(parts["add"])).parameters.values())[1:]
    hints = _hints(parts["add"])
    return UserAggregate(
        name=name,
        doc=(inspect.getdoc(cls) or "").partition("\n")[0],
        start=parts["start"],
        add=parts["add"],
        finish=parts["finish"] or _same,
        combine=parts["combine"],
        parameters=tuple((p.name, _type(name, hints.get(p.name))) for p in parameters),
        least=sum(p.default is p.empty for p in parameters),
        returns=_return_type(name, parts),
        compile=compile,
    )


def _same(state: Any) -> Any:
    return state


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(plain(function))
    except (NameError, TypeError, AttributeError):
        return {}


def _type(name: str, hint: Any) -> Type | None:
    """The field type of an annotation."""
    if typing.get_origin(hint) in (Union, UnionType):
        hint = next(one for one in typing.get_args(hint) if one is not NoneType)
    if hint is None or hint is Any:
        return None
    if hint not in _ANNOTATIONS:
        known = ", ".join(one.__name__ for one in _ANNOTATIONS)
        raise Wrong(f"{name} has the type {hint!r}, expected one of {known}.")
    return _ANNOTATIONS[hint]


def _return_type(name: str, parts: Any) -> Type:
    """The declared return type of ``finish``; without ``finish``, the type of the state."""
    if parts["finish"] is None:
        found = _ANNOTATIONS.get(type(plain(parts["start"])()))
    else:
        found = _type(name, _hints(parts["finish"]).get("return"))
    if found is None:
        raise Wrong(f"declare the result type of {name}: def finish(state) -> float.")
    return found
