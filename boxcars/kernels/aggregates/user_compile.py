"""Compilation of user-defined aggregates by numba: the types of the state, and code on disk.

numba caches compiled code on disk, but does not notice changes in functions called from there. So
the cache key is a fingerprint of everything the functions depend on. Where these dependencies
cannot be determined, nothing is cached.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from boxcars.model.types import Type

NUMBERS: Mapping[Type, Any] = {
    Type.BOOL: np.bool_,
    Type.INT: np.int64,
    Type.FLOAT: np.float64,
}
"""The types numba computes with, from narrow to wide, and their array types."""

_numba: Any = numba
_KINDS: Mapping[Any, Type] = {_numba.from_dtype(np.dtype(n)): type_ for type_, n in NUMBERS.items()}
_PYTHON: Mapping[Type, type] = {Type.BOOL: bool, Type.INT: int, Type.FLOAT: float}
_LIBRARIES = ("math", "cmath", "numpy")


class NotNumbers(Exception):
    """The state cannot be compiled to numbers."""


def values_of(state: Any) -> tuple[Any, ...]:
    """The values of a state, which may be a single one."""
    return state if isinstance(state, tuple) else (state,)


def plain(function: Any) -> Any:
    """The plain Python function."""
    return function.py_func if isinstance(function, Dispatcher) else function


class _Cache(FunctionCache):
    """Compiled code on disk, under our cache key."""

    def __init__(self, function: Any, key: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.key = key

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self.key


def jitted(function: Any, key: str | None) -> Any:
    """Compile a function; with a key, the code of an importable module is cached on disk."""
    if isinstance(function, Dispatcher):
        return function
    made = numba.njit(function)
    if key is not None and function.__module__ in sys.modules:
        with suppress(RuntimeError, OSError):  # defined interactively, or no writable cache folder
            made._cache = _Cache(function, key)
    return made


def fingerprint(*things: Any) -> str | None:
    """Hash everything that functions and values depend on; None if that is unknown.

    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1) != fingerprint(lambda x: x + 2)
    True
    >>> fingerprint(object()) is None
    True
    """
    try:
        return sha256("\n".join(_facts(things, set())).encode()).hexdigest()
    except NotNumbers:
        return None


def _facts(thing: Any, seen: set[int]) -> Iterator[str]:
    """Everything that a value depends on, as text."""
    thing = plain(thing)
    if isinstance(thing, tuple):
        yield "("
        for item in thing:
            yield from _facts(item, seen)
        yield ")"
    elif isinstance(thing, FunctionType):
        if id(thing) not in seen:
            seen.add(id(thing))
            yield str(thing.__module__)  # numba's cache files refer to the module
            cells = tuple(cell.cell_contents for cell in thing.__closure__ or ())
            yield from _facts((thing.__code__, cells, thing.__defaults__), seen)
            for name in _names(thing.__code__):
                if name in thing.__globals__:
                    yield name
                    yield from _facts(thing.__globals__[name], seen)
    elif isinstance(thing, CodeType):
        yield f"{thing.co_code.hex()} {thing.co_names} {thing.co_varnames}"
        yield from _facts(thing.co_consts, seen)
    elif isinstance(thing, bool | int | float | str | bytes | None):
        yield repr(thing)
    elif isinstance(thing, BuiltinFunctionType | np.ufunc) or (
        isinstance(thing, ModuleType) and thing.__name__ in _LIBRARIES
    ):
        yield thing.__name__
    else:
        raise NotNumbers(f"the dependencies of {thing!r} are unknown")


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _returned(function: Any, *types: Any) -> Any:
    """The return type of a function for arguments of these types."""
    _, _, full, _ = function.get_call_template(types, {})  # full: with default arguments
    return function.overloads[tuple(full)].signature.return_type


def result_type(finish: Any, state: Any) -> Type:
    """The return type of ``finish`` for such a state; it may also return None."""
    result = _returned(finish, _numba.typeof(state))
    return _kind(result.type if isinstance(result, numba.types.Optional) else result)


def settle(start: Any, add: Any, combine: Any, types: Sequence[Type]) -> Any:
    """Widen the start state to what ``add`` and ``combine`` return: 0 becomes 0.0 for floats."""
    if any(type(value) not in _PYTHON.values() for value in values_of(start)):
        raise NotNumbers("its state has values that are not numbers")
    given = [_numba.from_dtype(np.dtype(NUMBERS[type_])) for type_ in types]
    for _ in range(2 * len(values_of(start)) + 1):
        now = _numba.typeof(start)
        got = [_returned(add, now, *given)]
        got += [] if combine is None else [_returned(combine, now, now)]
        if all(type_ == now for type_ in got):
            return start
        for type_ in got:
            start = _widened(start, type_)
    raise NotNumbers("the types of its state change")


def _widened(start: Any, type_: Any) -> Any:
    """Widen each value of the start state to a numba type."""
    if not isinstance(start, tuple):
        return _wider(start, _kind(type_))
    parts: Any = type_ if isinstance(type_, numba.types.BaseTuple) else ()
    if len(parts) != len(start):
        raise NotNumbers("the length of its state changes")
    return tuple(_wider(value, _kind(part)) for value, part in zip(start, parts, strict=True))


def _wider(value: Any, kind: Type) -> Any:
    order = list(_PYTHON.values())
    return order[max(order.index(type(value)), list(_PYTHON).index(kind))](value)


def _kind(type_: Any) -> Type:
    """The field type of a numba type."""
    if type_ not in _KINDS:
        raise NotNumbers(f"numba infers the type {type_}")
    return _KINDS[type_]
