"""What numba makes of the functions of an aggregate: the types of its state, and code on disk.

Numba keeps compiled code in files, but it does not notice when a function that was called from
there has changed. So we look at all that the functions of an aggregate depend on, and keep their
code under a fingerprint of that. Where it can't be told nothing is kept.
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
"""What numba computes with, from narrow to wide, and the arrays it lies in."""

_numba: Any = numba
_KINDS: Mapping[Any, Type] = {_numba.from_dtype(np.dtype(n)): type_ for type_, n in NUMBERS.items()}
_PYTHON: Mapping[Type, type] = {Type.BOOL: bool, Type.INT: int, Type.FLOAT: float}
_LIBRARIES = ("math", "cmath", "numpy")


class NotNumbers(Exception):
    """A state that numba can't keep as numbers."""


def values_of(state: Any) -> tuple[Any, ...]:
    """The values of a state, which may be a single one."""
    return state if isinstance(state, tuple) else (state,)


def plain(function: Any) -> Any:
    """A function as Python runs it."""
    return function.py_func if isinstance(function, Dispatcher) else function


class _Cache(FunctionCache):
    """Compiled code on disk, under a key of ours."""

    def __init__(self, function: Any, key: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.key = key

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self.key


def jitted(function: Any, key: str | None) -> Any:
    """A function as numba compiles it; with a key the code of a module is kept on disk."""
    if isinstance(function, Dispatcher):
        return function
    made = numba.njit(function)
    if key is not None and function.__module__ in sys.modules:
        with suppress(RuntimeError, OSError):  # it was typed in, or there is nowhere to write to
            made._cache = _Cache(function, key)
    return made


def fingerprint(*things: Any) -> str | None:
    """A text that changes with all that functions and values depend on; None if it can't be told.

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
    """Everything that something depends on, in words."""
    thing = plain(thing)
    if isinstance(thing, tuple):
        yield "("
        for item in thing:
            yield from _facts(item, seen)
        yield ")"
    elif isinstance(thing, FunctionType):
        if id(thing) not in seen:
            seen.add(id(thing))
            yield str(thing.__module__)  # numba's files refer to the module that it came from
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
        raise NotNumbers(f"it is not known what {thing!r} depends on")


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _returned(function: Any, *types: Any) -> Any:
    """What a function gives for arguments of these types."""
    _, _, whole, _ = function.get_call_template(types, {})  # whole: with arguments left out
    return function.overloads[tuple(whole)].signature.return_type


def result_type(finish: Any, state: Any) -> Type:
    """The type of what finish gives for a state like this; it may also be None."""
    result = _returned(finish, _numba.typeof(state))
    return _kind(result.type if isinstance(result, numba.types.Optional) else result)


def settle(start: Any, add: Any, combine: Any, types: Sequence[Type]) -> Any:
    """The start in the types of what add and combine give: 0 becomes 0.0 where floats are added."""
    if any(type(value) not in _PYTHON.values() for value in values_of(start)):
        raise NotNumbers("its state is not made of numbers")
    given = [_numba.from_dtype(np.dtype(NUMBERS[type_])) for type_ in types]
    for _ in range(2 * len(values_of(start)) + 1):
        now = _numba.typeof(start)
        got = [_returned(add, now, *given)]
        got += [] if combine is None else [_returned(combine, now, now)]
        if all(type_ == now for type_ in got):
            return start
        for type_ in got:
            start = _widened(start, type_)
    raise NotNumbers("its state does not keep its types")


def _widened(start: Any, type_: Any) -> Any:
    """The start with each value at least as wide as in a type of numba's."""
    if not isinstance(start, tuple):
        return _wider(start, _kind(type_))
    parts: Any = type_ if isinstance(type_, numba.types.BaseTuple) else ()
    if len(parts) != len(start):
        raise NotNumbers("its state does not keep its form")
    return tuple(_wider(value, _kind(part)) for value, part in zip(start, parts, strict=True))


def _wider(value: Any, kind: Type) -> Any:
    order = list(_PYTHON.values())
    return order[max(order.index(type(value)), list(_PYTHON).index(kind))](value)


def _kind(type_: Any) -> Type:
    """The type of ours that a type of numba's is."""
    if type_ not in _KINDS:
        raise NotNumbers(f"numba makes {type_} of it")
    return _KINDS[type_]
