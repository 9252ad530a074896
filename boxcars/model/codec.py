"""Convert parameters of boxes to plain values, and back.

Plain values are those of YAML and JSON: text, numbers, booleans, lists and mappings. The type
annotation of a parameter determines how it is parsed.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Path, Problem, Wrong, nearest

Plain = Any
Problems = list[Problem]
LONGEST = 100_000
"""Characters; the longest text after substituting the parameters of superboxes."""
PLACEHOLDER = re.compile(r"\$([^\W\d]\w*)")
"""A parameter of a superbox, used inside it: ``$limit``."""


def to_plain(value: object) -> Plain:
    """Convert a parameter to its plain form, as in a file."""
    if hasattr(value, "plain"):
        return value.plain()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: to_plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def from_plain(annotation: Any, plain: Plain, path: Path, problems: Problems) -> Any:
    """Parse a parameter; errors are added to ``problems``."""
    try:
        return _reader(annotation)(plain, path, problems)
    except Wrong as wrong:
        problems.append(Problem(str(wrong), path))
        return None


Reader = Callable[[Plain, Path, Problems], Any]


def _reader(annotation: Any) -> Reader:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _read_optional(arguments)
    if origin is tuple:
        return _read_list(arguments[0])
    if origin is Fields:
        return _read_fields(arguments[0])
    if origin is Literal:
        return _read_literal(arguments)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if hasattr(annotation, "from_plain"):
        return _read_object(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _read_enum(annotation)
    return lambda plain, _path, _problems: plain


def _read_object(cls: Any) -> Reader:
    def read(plain: Plain, _path: Path, _problems: Problems) -> Any:
        return plain if isinstance(plain, cls) else cls.from_plain(plain)

    return read


def _read_optional(arguments: tuple[Any, ...]) -> Reader:
    inner = [argument for argument in arguments if argument is not type(None)]
    if set(inner) == {int, float}:
        return _read_number
    if len(inner) != 1:
        return lambda plain, _path, _problems: plain

    def read(plain: Plain, path: Path, problems: Problems) -> Any:
        return None if plain is None else _reader(inner[0])(plain, path, problems)

    return read


def _read_list(item: Any) -> Reader:
    def read(plain: Plain, path: Path, problems: Problems) -> Any:
        if isinstance(plain, Mapping):
            raise Wrong(f"expected a list, got {plain!r}.")
        many = plain if isinstance(plain, Sequence) and not isinstance(plain, str) else [plain]
        return tuple(from_plain(item, one, (*path, str(i)), problems) for i, one in enumerate(many))

    return read


def _read_fields(item: Any) -> Reader:
    def read(plain: Plain, path: Path, problems: Problems) -> Any:
        if not isinstance(plain, Mapping):
            raise Wrong(f"expected a mapping such as {{name: ...}}, got {plain!r}.")
        return Fields(
            {
                str(name): from_plain(item, one, (*path, str(name)), problems)
                for name, one in plain.items()
            }
        )

    return read


def _read_literal(choices: tuple[Any, ...]) -> Reader:
    def read(plain: Plain, _path: Path, _problems: Problems) -> Any:
        if plain in choices or is_placeholder(plain):
            return plain
        raise Wrong(f"expected one of {', '.join(map(str, choices))}; got {plain!r}.")

    return read


def _read_enum(enum: type[Enum]) -> Reader:
    names = [str(member.value) for member in enum if str(member.value) != "unknown"]

    def read(plain: Plain, _path: Path, _problems: Problems) -> Any:
        if isinstance(plain, enum):
            return plain
        if plain in names:
            return enum(plain)
        raise Wrong(f"unknown {enum.__name__.lower()} '{plain}'.{nearest(str(plain), names)}")

    return read


def _read_str(plain: Plain, _path: Path, _problems: Problems) -> str:
    if isinstance(plain, str):
        return plain
    if isinstance(plain, bool | int | float):
        return str(plain)
    raise Wrong(f"expected text, got {plain!r}.")


def _read_int(plain: Plain, _path: Path, _problems: Problems) -> Any:
    if (isinstance(plain, int) and not isinstance(plain, bool)) or is_placeholder(plain):
        return plain
    raise Wrong(f"expected a whole number, got {plain!r}.")


def _read_number(plain: Plain, _path: Path, _problems: Problems) -> Any:
    if (isinstance(plain, int | float) and not isinstance(plain, bool)) or is_placeholder(plain):
        return plain
    raise Wrong(f"expected a number, got {plain!r}.")


def _read_float(plain: Plain, path: Path, problems: Problems) -> Any:
    number = _read_number(plain, path, problems)
    return float(number) if isinstance(number, int) else number


def _read_bool(plain: Plain, _path: Path, _problems: Problems) -> Any:
    if isinstance(plain, bool) or is_placeholder(plain):
        return plain
    raise Wrong(f"expected true or false, got {plain!r}.")


_SCALARS: dict[Any, Reader] = {
    str: _read_str,
    int: _read_int,
    float: _read_float,
    bool: _read_bool,
}


def is_placeholder(plain: Plain) -> bool:
    """Whether this is a parameter of the enclosing superbox."""
    return isinstance(plain, str) and PLACEHOLDER.fullmatch(plain) is not None


def substitute(plain: Plain, arguments: Mapping[str, Plain]) -> Plain:
    """Substitute the arguments of a superbox for its parameters.

    >>> substitute({"where": ["price > $limit"], "rate": "$rate"}, {"limit": 5, "rate": 0.5})
    {'where': ['price > 5'], 'rate': 0.5}
    """
    if isinstance(plain, Mapping):
        return {key: substitute(item, arguments) for key, item in plain.items()}
    if isinstance(plain, list):
        return [substitute(item, arguments) for item in plain]
    if not isinstance(plain, str):
        return plain
    if is_placeholder(plain) and plain[1:] in arguments:
        return arguments[plain[1:]]

    def text(match: re.Match[str]) -> str:
        return str(arguments.get(match[1], match[0]))

    if len(plain) + sum(len(text(match)) for match in PLACEHOLDER.finditer(plain)) > 2 * LONGEST:
        raise Wrong(_too_long())
    found = PLACEHOLDER.sub(text, plain)
    if len(found) > LONGEST:
        raise Wrong(_too_long())
    return found


def _too_long() -> str:
    return f"the parameters of superboxes expand to a text of more than {LONGEST:,} characters."
