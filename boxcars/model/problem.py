"""Problems with their locations, and the exceptions that carry them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

Path = tuple[str, ...]
"""A path in a network, as in its file: ``("boxes", "fast", "where", "0")``."""

_KINDS = {
    "inputs": "input",
    "boxes": "box",
    "outputs": "output",
    "tables": "table",
    "superboxes": "superbox",
    "connection_points": "connection point",
}
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters of terminals, and characters that change the text direction."""
_NAMED = re.compile(r"\b(?:box|input|output) '([^']+)'")
"""The box, input or output that a message is about."""
_LONGEST = 1000
"""Characters; a longer message is shortened in the middle."""


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """One problem of a network, and where it is.

    >>> print(Problem("unknown field 'prise'.", ("boxes", "fast", "where", "0")))
    box 'fast', where[0]: unknown field 'prise'.
    """

    message: str
    path: Path = ()
    location: Location | None = None

    def __post_init__(self) -> None:
        if len(self.message) > _LONGEST:  # it quotes a long value of the file
            half = _LONGEST // 2
            object.__setattr__(self, "message", f"{self.message[:half]}...{self.message[-half:]}")

    def __str__(self) -> str:
        head = f"{self.location}: " if self.location else ""
        where = describe_path(self.path)
        return visible(head + (f"{where}: " if where else "") + self.message)

    def located(self, source: Mapping[Path, Location]) -> Problem:
        """Return the problem with the line of its path, or of the nearest enclosing path."""
        if self.location:
            return self
        for end in range(len(self.path), -1, -1):
            if self.path[:end] in source:
                return replace(self, location=source[self.path[:end]])
        return self


class BoxcarsError(Exception):
    """An error that the user can fix; the message says how."""

    def __str__(self) -> str:
        return visible(super().__str__())


class NetworkError(BoxcarsError):
    """An invalid network, with all its problems."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class Wrong(BoxcarsError):
    """An error without a location, which callers that know it may add."""


def visible(text: str) -> str:
    r"""Escape characters that would move the cursor of a terminal or hide text.

    >>> print(visible("price\x1b[2J\u202e"))
    price\x1b[2J\u202e
    """
    return _HIDDEN.sub(lambda match: repr(match[0])[1:-1], text)


def describe_path(path: Path) -> str:
    """Describe a path as text.

    >>> describe_path(("boxes", "fast", "where", "0"))
    "box 'fast', where[0]"
    """
    if not path:
        return ""
    if len(path) == 1 or path[0] not in _KINDS:
        return dotted(path)
    head = f"{_KINDS[path[0]]} '{path[1]}'"
    rest = path[2:]
    if path[0] == "superboxes" and rest and rest[0] in _KINDS:
        return f"{head}, {describe_path(rest)}"
    return f"{head}, {dotted(rest)}" if rest else head


def dotted(path: Path) -> str:
    """Write ``("fields", "speed")`` as ``fields.speed`` and ``("where", "0")`` as ``where[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if step.isdigit() else f".{step}" if text else step
    return text


def a(noun: object) -> str:
    """Return the noun with its indefinite article.

    >>> a("filter"), a("aggregate"), a("union"), a("bytes")
    ('a filter', 'an aggregate', 'a union', 'bytes')
    """
    if str(noun) == "bytes":
        return "bytes"
    return f"an {noun}" if str(noun)[:1] in "aeio" else f"a {noun}"


def number_of(number: int, noun: str) -> str:
    """A count and its noun, in the singular or plural.

    >>> number_of(1, "dead letter"), number_of(2000, "tuple")
    ('1 dead letter', '2,000 tuples')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def named_in(message: str) -> str:
    """The box, input or output that a message names first, or an empty string.

    >>> named_in("input 'calls': there is no such file."), named_in("no space is left.")
    ('calls', '')
    """
    found = _NAMED.search(message)
    return found[1] if found else ""


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return a hint at the most similar choice, to append to a sentence.

    >>> nearest("prise", ["price", "time"])
    " Did you mean 'price'?"
    """
    options = sorted(set(choices))
    lower = {option.lower(): option for option in options}
    found = get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    if found:
        return f" Did you mean '{lower[found[0]]}'?"
    if not options:
        return ""
    shown = ", ".join(options[:12]) + (", ..." if len(options) > 12 else "")
    return f" There is: {shown}."
