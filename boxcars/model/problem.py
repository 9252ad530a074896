"""What is wrong and where: the words of every error about a network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

Path = tuple[str, ...]
"""The place in a network, as in its file: ``("boxes", "fast", "where", "0")``."""

_KINDS = {
    "inputs": "input",
    "boxes": "box",
    "outputs": "output",
    "tables": "table",
    "superboxes": "superbox",
    "connection_points": "connection point",
}
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal, or turn the direction of what follows."""
_LONGEST = 1000
"""Characters of a message."""


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a network, and where it is.

    >>> print(Problem("unknown field 'prise'.", ("boxes", "fast", "where", "0")))
    box 'fast', where[0]: unknown field 'prise'.
    """

    message: str
    path: Path = ()
    location: Location | None = None

    def __post_init__(self) -> None:
        if len(self.message) > _LONGEST:  # it shows something that stands in the file
            half = _LONGEST // 2
            object.__setattr__(self, "message", f"{self.message[:half]}...{self.message[-half:]}")

    def __str__(self) -> str:
        head = f"{self.location}: " if self.location else ""
        place = describe_path(self.path)
        return visible(head + (f"{place}: " if place else "") + self.message)

    def located(self, source: Mapping[Path, Location]) -> Problem:
        """The same problem with the line of the nearest place that has one."""
        if self.location:
            return self
        for end in range(len(self.path), -1, -1):
            if self.path[:end] in source:
                return replace(self, location=source[self.path[:end]])
        return self


class BoxcarsError(Exception):
    """Anything that a user can mend; the text says how."""

    def __str__(self) -> str:
        return visible(super().__str__())


class NetworkError(BoxcarsError):
    """A network that is not right, with everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class Wrong(BoxcarsError):
    """Raised by code that knows what is wrong but not where; whoever knows the place adds it."""


def visible(text: str) -> str:
    r"""A text that a terminal shows as it is: no part of it moves the cursor or hides another.

    >>> print(visible("price\x1b[2J\u202e"))
    price\x1b[2J\u202e
    """
    return _HIDDEN.sub(lambda match: repr(match[0])[1:-1], text)


def describe_path(path: Path) -> str:
    """A place in words.

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
    """``("fields", "speed")`` as ``fields.speed`` and ``("where", "0")`` as ``where[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if step.isdigit() else f".{step}" if text else step
    return text


def a(noun: object) -> str:
    """The noun with its article.

    >>> a("filter"), a("aggregate"), a("union"), a("bytes")
    ('a filter', 'an aggregate', 'a union', 'bytes')
    """
    if str(noun) == "bytes":
        return "bytes"
    return f"an {noun}" if str(noun)[:1] in "aeio" else f"a {noun}"


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint at what was probably meant, ready to be appended to a sentence.

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
