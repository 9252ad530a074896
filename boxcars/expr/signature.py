"""Signatures of functions, in one line that is also their documentation.

``round(x: number, digits?: const int) -> number`` reads: ``x`` is an int or float; ``digits`` is
optional and must be a constant; the result is an int if all numbers are, otherwise a float. ``T``
is any type that all parameters marked with it share, ``any`` is any type at all; ``const?`` is
passed as a plain value if it is a constant; ``x...`` may be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from boxcars.expr.value import Value, common, listed
from boxcars.model.problem import Wrong
from boxcars.model.types import FIELD_TYPES, Type

_LINE = re.compile(r"(\w+)\((.*)\) -> (\w+)")
_PARAMETER = re.compile(r"(\w+)(\?|\.\.\.)?: (const\?? )?([\w|]+)")
_KINDS = {"number": (Type.INT, Type.FLOAT), "any": FIELD_TYPES, "T": FIELD_TYPES}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function."""

    name: str
    kind: str = "any"
    constant: str = ""
    optional: bool = False
    repeated: bool = False

    @property
    def types(self) -> tuple[Type, ...]:
        """The accepted types; the first is that of a plain NULL."""
        return _KINDS.get(self.kind) or tuple(Type(name) for name in self.kind.split("|"))

    def __str__(self) -> str:
        return self.name + "?" * self.optional + "..." * self.repeated


@dataclass(frozen=True)
class Signature:
    """Parameters and result of a function; a result of ``?`` is determined by Polars.

    >>> Signature.parse("substr(text: str, start: int, length?: int) -> str").short
    'substr(text, start, length?)'
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: str

    @classmethod
    def parse(cls, line: str) -> Signature:
        """Parse a signature."""
        match = _LINE.fullmatch(line)
        found = (
            [_PARAMETER.fullmatch(part) for part in match[2].split(", ") if part] if match else []
        )
        if match is None or None in found:
            raise ValueError(f"not a signature: {line}")
        parameters = tuple(
            Parameter(m[1], m[4], (m[3] or "").strip(), m[2] == "?", m[2] == "...")
            for m in found
            if m
        )
        return cls(match[1], parameters, match[3])

    @property
    def short(self) -> str:
        """The signature without types."""
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def bind(self, name: str, values: Sequence[Value]) -> list[Value]:
        """Return the arguments, checked and converted to the types of the parameters."""
        self._check_count(name, len(values))
        parameters = list(self.parameters)
        if parameters and parameters[-1].repeated:
            parameters += [parameters[-1]] * (len(values) - len(parameters))
        pairs = list(zip(parameters, values, strict=False))
        for parameter, value in pairs:
            _check(name, parameter, value)
        shared = {kind: _shared(name, kind, pairs) for kind in ("number", "T")}
        return [value.to(_wanted(parameter, value, shared)) for parameter, value in pairs]

    def result_type(self, values: Sequence[Value]) -> Type:
        """Return the type of the result for bound arguments."""
        if self.result in ("number", "T"):
            pairs = zip(self.parameters, values, strict=False)
            return next(value.type for parameter, value in pairs if parameter.kind == self.result)
        return Type(self.result)

    def _check_count(self, name: str, got: int) -> None:
        least = sum(not p.optional for p in self.parameters)
        most = len(self.parameters)
        repeated = bool(self.parameters) and self.parameters[-1].repeated
        if least <= got and (repeated or got <= most):
            return
        wanted = f"{least} or more" if repeated else f"{least} to {most}" if least < most else least
        plural = "argument" if wanted == 1 else "arguments"
        short = replace(self, name=name).short
        raise Wrong(f"{name}() takes {wanted} {plural}, got {got}: {short}.")


def arguments(signature: Signature, values: Sequence[Value]) -> list[Any]:
    """Return the arguments of the builder: Polars expressions, or plain constants."""
    parameters = list(signature.parameters)
    parameters += parameters[-1:] * (len(values) - len(parameters))
    return [
        value.constant if parameter.constant and value.is_constant else value.expr
        for parameter, value in zip(parameters, values, strict=False)
    ]


def _check(name: str, parameter: Parameter, value: Value) -> None:
    if not any(type_.accepts(value.type) for type_ in parameter.types):
        wanted = " or ".join(map(str, parameter.types))
        hint = f": write CAST({value.words} AS str)" if parameter.kind == "str" else ""
        raise Wrong(f"{name}() needs {wanted} as {parameter.name}, got {value}{hint}.")
    if parameter.constant == "const" and (not value.is_constant or value.constant is None):
        raise Wrong(f"{name}() needs a constant as {parameter.name}, got {value.words}.")


def _shared(name: str, kind: str, pairs: Sequence[tuple[Parameter, Value]]) -> Type:
    """Return the common type of all arguments of a shared kind."""
    values = [value for parameter, value in pairs if parameter.kind == kind]
    type_ = common(value.type for value in values)
    if type_ is None:
        raise Wrong(f"{name}() needs arguments of one type, got {listed(values)}.")
    return type_


def _wanted(parameter: Parameter, value: Value, shared: dict[str, Type]) -> Type:
    """Return the type an argument is converted to."""
    if parameter.kind in shared:
        unknown = shared[parameter.kind] is Type.UNKNOWN and parameter.kind == "number"
        return Type.INT if unknown else shared[parameter.kind]
    if value.type in parameter.types or parameter.kind == "any":
        return value.type
    return parameter.types[0]
