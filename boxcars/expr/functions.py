"""The catalogue: all functions an expression can call, built-in and user-defined."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar, overload

import polars as pl

from boxcars.expr.signature import Parameter, Signature, arguments
from boxcars.expr.value import Value, per_value
from boxcars.model.own_code import note_own
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.timestamps import bounded
from boxcars.model.types import Type

F = TypeVar("F", bound=Callable[..., Any])
USER = "yours"
"""The group of user-defined functions."""

_CLOCKS = frozenset(
    {
        *("now", "today", "sysdate", "getdate", "localtime", "localtimestamp", "clock_timestamp"),
        *("current_timestamp", "current_date", "current_time"),
        *("random", "rand", "uuid", "gen_random_uuid"),
    }
)
_AGGREGATES = frozenset(
    {
        *("count", "count_distinct", "sum", "avg", "mean", "min", "max", "median", "quantile"),
        *("first", "last", "stddev", "std", "variance", "var", "top"),
    }
)
"""Aggregate functions of Boxcars and their usual names elsewhere; they need a window."""
_ANNOTATIONS: dict[Any, str] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    datetime: "timestamp",
    bytes: "bytes",
}


@dataclass(frozen=True)
class Function:
    """A function of the catalogue; ``examples`` are pairs of an expression and its value."""

    rule: Signature
    doc: str
    build: Callable[..., pl.Expr] = field(repr=False)
    group: str
    aliases: tuple[str, ...] = ()
    examples: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.rule.name

    @property
    def signature(self) -> str:
        """How it is called: ``substr(text, start, length?)``."""
        return self.rule.short

    def apply(self, name: str, values: Sequence[Value]) -> tuple[Type, pl.Expr]:
        """Return type and expression of a call; ``name`` is the name or alias used."""
        bound = self.rule.bind(name, values)
        if self.rule.result == "?":
            type_ = _type_by_polars(name, self.build, [value.type for value in bound])
        else:
            type_ = self.rule.result_type(bound)
        expr = self.build(*arguments(self.rule, bound)).cast(type_.dtype, strict=False)
        if type_ is Type.TIMESTAMP and self.group == USER:
            expr = bounded(expr.to_physical())
        return type_, expr


_functions: dict[str, Function] = {}
_by_name: dict[str, Function] = {}
_registered: list[str] = []


def functions() -> list[Function]:
    """All functions, by group in a stable order, for the documentation."""
    return list(_functions.values())


def catalogue() -> Mapping[str, Function]:
    """All functions by name and alias.

    >>> catalogue()["char_length"].name
    'length'
    """
    return MappingProxyType(_by_name)


def version() -> int:
    """Version of the catalogue; expressions compiled under another version are stale."""
    return len(_registered)


def register(new: Function) -> None:
    """Add a function; only user-defined ones can be replaced."""
    for name in (new.name, *new.aliases):
        if name in _by_name and _by_name[name].group != USER:
            raise Wrong(f"'{name}' is a built-in function: give yours another name.")
    _functions[new.name] = new
    for name in (new.name, *new.aliases):
        _by_name[name] = new
    _registered.append(new.name)


def lookup(name: str) -> Function:
    """Look up a function by its name in lower case."""
    if name not in _by_name:
        refuse_clock(name)
        if name in _AGGREGATES:
            raise Wrong(f"'{name}' is an aggregate function: use it in an aggregate box.")
        raise Wrong(f"unknown function '{name}'.{nearest(name, _by_name)}")
    return _by_name[name]


def refuse_clock(name: str) -> None:
    """Reject functions that are not deterministic."""
    if name.lower() in _CLOCKS:
        raise Wrong(
            f"there is no '{name}': the output is a function of the input alone. "
            "Use a field of the stream."
        )


class Group:
    """Registers the functions of one module of the library."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(
        self,
        signature: str,
        doc: str,
        build: Callable[..., pl.Expr],
        *examples: tuple[str, Any],
        aliases: tuple[str, ...] = (),
    ) -> None:
        """Register a built-in function."""
        register(Function(Signature.parse(signature), doc, build, self.name, aliases, examples))


@overload
def function(call: F, /) -> F: ...


@overload
def function(*, returns: str | Type | None = None, name: str = "") -> Callable[[F], F]: ...


def function(
    call: F | None = None, /, *, returns: str | Type | None = None, name: str = ""
) -> F | Callable[[F], F]:
    """Register a Python function for use in expressions.

    Without ``returns`` it takes and returns Polars expressions and is as fast as the built-in ones.
    With ``returns`` it takes plain values and is called for each tuple, which is slow; a null
    argument gives null without a call. Register the same name again to replace it.

    >>> @function
    ... def kmh(speed: pl.Expr) -> pl.Expr:
    ...     return speed * 3.6
    >>> catalogue()["kmh"].signature
    'kmh(speed)'
    """

    def decorate(python: F) -> F:
        known_as = (name or python.__name__).lower()
        register(_user_function(python, known_as, returns))
        note_own("function", known_as, python, returns=returns)
        return python

    return decorate(call) if call is not None else decorate


def _user_function(python: Callable[..., Any], name: str, returns: str | Type | None) -> Function:
    doc = (inspect.getdoc(python) or "").partition("\n")[0]
    if returns is None:
        rule = Signature(name, _parameters(python, {}), "?")
        return Function(rule, doc, python, USER)
    type_ = _result_type(name, returns)
    rule = Signature(name, _parameters(python, _hints(python)), type_.value)

    def called(*values: Any) -> Any:
        return _call(name, python, values, type_)

    def build(*columns: pl.Expr) -> pl.Expr:
        if not columns:
            return pl.lit(called(), dtype=type_.dtype)
        return per_value(called, *columns, returns=type_, remember=False)

    return Function(rule, doc, build, USER)


def _result_type(name: str, returns: str | Type) -> Type:
    if isinstance(returns, Type):
        return returns
    names = set(_ANNOTATIONS.values())
    if returns not in names:
        raise Wrong(f"{name}() can't return '{returns}'.{nearest(returns, names)}")
    return Type(returns)


def _hints(python: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(python)
    except (NameError, TypeError, AttributeError):
        return {}


def _parameters(python: Callable[..., Any], hints: Mapping[str, Any]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            parameter.name,
            _ANNOTATIONS.get(hints.get(parameter.name), "any"),
            optional=parameter.default is not parameter.empty
            or parameter.kind is parameter.VAR_POSITIONAL,
            repeated=parameter.kind is parameter.VAR_POSITIONAL,
        )
        for parameter in inspect.signature(python).parameters.values()
        if parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
    )


def _call(name: str, python: Callable[..., Any], values: Sequence[Any], type_: Type) -> Any:
    call = f"{name}({', '.join(map(repr, values))})"
    try:
        result = python(*values)
    except Exception as error:
        raise BoxcarsError(f"{call} failed: {type(error).__name__}: {error}") from error
    try:
        return pl.Series([result], dtype=type_.dtype, strict=True).item()
    except (TypeError, pl.exceptions.PolarsError):
        wrong = f"{call} returned {result!r}, which is not of type {type_}."
        raise BoxcarsError(wrong) from None


def _type_by_polars(name: str, build: Callable[..., pl.Expr], types: Sequence[Type]) -> Type:
    """Return the result type of a user-defined function, found on an empty frame."""
    frame = pl.DataFrame(schema={f"{index}": type_.dtype for index, type_ in enumerate(types)})
    try:
        (dtype,) = frame.select(build(*map(pl.col, frame.columns)).alias("result")).dtypes
    except Exception as error:
        first = str(error).partition("\n")[0]
        given = ", ".join(map(str, types))
        raise Wrong(f"{name}() can't be computed for ({given}): {first}.") from None
    found = Type.of(dtype)
    if found is None:
        raise Wrong(f"{name}() returns {dtype}, which is not a field type.")
    return found
