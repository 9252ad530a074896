"""The identity of code: a digest that changes if and only if the behavior of the code changes.

It includes the user's functions that a function calls. Comments, docstrings, line numbers and the
location of a file do not matter. Library code is not inspected. Bytecode differs between minor
versions of Python, and so does the digest.
"""

from __future__ import annotations

import functools
import pickle
import types
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from boxcars.kernels.aggregates.user_compile import plain
from boxcars.own_code.sources import is_own, top_of

_UNSAID = frozenset(
    {"__doc__", "__module__", "__dict__", "__weakref__", "__firstlineno__", "__abstractmethods__"}
    | {"__static_attributes__", "__qualname__", "_abc_impl", "__dataclass_params__"}
)
"""Attributes of a class that do not affect its behavior."""
_EQUAL = (tuple, frozenset, types.CodeType)
"""Types whose equal values Python may share or copy at will; they contain no cycles."""
_LENGTH = 32


def identity(thing: Any) -> str:
    """A digest of a function, a class or a value.

    >>> identity(lambda x: x + 1) == identity(lambda x: x + 1) != identity(lambda x: x + 2)
    True
    """
    facts = "\n".join(_Facts(top_of(thing)).of(thing))
    return sha256(facts.encode()).hexdigest()[:_LENGTH]


class _Facts:
    """Everything that an object depends on, as text; code in the package ``root`` is included."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._seen: dict[int, Any] = {}

    def of(self, thing: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
        """The facts of one object; for a module those of the ``names`` that are used."""
        if isinstance(thing, bool | int | float | complex | str | bytes | None):
            yield repr(thing)
            return
        if not isinstance(thing, _EQUAL):
            if id(thing) in self._seen:
                yield "again"
                return
            self._seen[id(thing)] = thing  # keeps it alive, so that its id stays unique
        yield type(thing).__name__
        yield from self._look(thing, names)

    def _look(self, thing: Any, names: tuple[str, ...]) -> Iterator[str]:
        thing = plain(thing)
        if isinstance(thing, types.ModuleType):
            yield from self._module(thing, names)
        elif isinstance(thing, types.FunctionType):
            yield from self._function(thing)
        elif isinstance(thing, types.CodeType):
            yield from self._code(thing, None)
        elif isinstance(thing, type):
            yield from self._class(thing)
        elif look := next(
            (look for kinds, look in _PARTS.items() if isinstance(thing, kinds)), None
        ):
            for part in look(thing):
                yield from self.of(part)
        else:
            yield from self._value(thing)

    def _is_own(self, top: str) -> bool:
        return top == self._root or is_own(top)

    def _module(self, module: types.ModuleType, names: tuple[str, ...]) -> Iterator[str]:
        yield module.__name__
        if self._is_own(module.__name__.partition(".")[0]):
            for name in names:
                if name in vars(module):
                    yield name
                    yield from self.of(vars(module)[name], names)
            self._seen.pop(id(module), None)  # another function may use other names of the module

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        if not self._is_own(top_of(function)):
            yield f"{function.__module__}.{function.__qualname__}"
            return
        yield from self._code(function.__code__, function.__doc__)
        yield from self.of((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            yield from self.of(_content(cell))
        names = tuple(dict.fromkeys(_names(function.__code__)))
        for name in names:
            if name in function.__globals__:
                yield name
                yield from self.of(function.__globals__[name], names)

    def _code(self, code: types.CodeType, doc: str | None) -> Iterator[str]:
        yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
        for value in code.co_consts:
            if doc is None or value != doc:
                yield from self.of(value)

    def _class(self, class_: type) -> Iterator[str]:
        if not self._is_own(top_of(class_)):
            yield f"{class_.__module__}.{class_.__qualname__}"
            return
        yield class_.__name__
        yield from self.of(class_.__bases__)
        for name, value in sorted(vars(class_).items()):
            if name not in _UNSAID:
                yield name
                yield from self.of(value)

    def _value(self, value: Any) -> Iterator[str]:
        """A value of any other type: its pickled bytes, or only its type if it can't be pickled."""
        yield type(value).__qualname__
        try:
            yield sha256(pickle.dumps(value)).hexdigest()
        except Exception:  # the object's own code may raise anything
            yield "opaque"


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that code refers to, including those in nested functions."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=repr)


_PARTS: Mapping[Any, Callable[[Any], Any]] = {
    (list, tuple): lambda thing: thing,
    (set, frozenset): _sorted,
    (dict, types.MappingProxyType): lambda thing: _sorted(thing.items()),
    (staticmethod, classmethod): lambda thing: (thing.__func__,),
    types.MethodType: lambda thing: (thing.__func__, thing.__self__),
    property: lambda thing: (thing.fget, thing.fset, thing.fdel),
    functools.partial: lambda thing: (thing.func, thing.args, thing.keywords),
    functools.cached_property: lambda thing: (thing.func,),
}
"""The parts of an object, by its type."""
