"""OSSIM directives as plain values: trees of rules, and the conditions of each rule.

A directive follows an attack step by step. Its rules form a tree: when one fires, its children
wait for the next events, independently. The thesis describes them in 7.4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

DEFAULT_TIME_OUT = 3600
"""Seconds; the time-out of a rule without one: the window of the thesis' join (7.4.3)."""
MAX_RELIABILITY = 10
"""The greatest reliability, as in OSSIM."""


@dataclass(frozen=True)
class Reference:
    """A field of the event that fired an earlier rule: ``1:SRC_IP``."""

    level: int
    field: str

    @property
    def name(self) -> str:
        """The field of a clone that stores it.

        >>> Reference(1, "src_ip").name
        'src_ip_1'
        """
        return f"{self.field}_{self.level}"


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included: the ports ``6881-6889``."""

    low: int
    high: int


@dataclass(frozen=True)
class Subnet:
    """The addresses of a network, such as ``10.0.0.0/8``."""

    network: str


Item = int | str | Range | Subnet | Reference
"""One allowed value of a field; a string is an address or a protocol."""


@dataclass(frozen=True)
class Match:
    """The condition on a field: one of ``wanted``, if there are any, and none of ``unwanted``.

    >>> web = Match("dst_port", wanted=(80, 443))
    >>> abroad = Match("dst_ip", unwanted=(Subnet("10.0.0.0/8"),))
    """

    field: str
    wanted: tuple[Item, ...] = ()
    unwanted: tuple[Item, ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references to earlier events."""
        return tuple(i for i in (*self.wanted, *self.unwanted) if isinstance(i, Reference))

    @property
    def constant(self) -> Match | None:
        """The part that depends on the event only, not on a clone."""
        wanted = () if any(isinstance(i, Reference) for i in self.wanted) else self.wanted
        unwanted = tuple(i for i in self.unwanted if not isinstance(i, Reference))
        return Match(self.field, wanted, unwanted) if wanted or unwanted else None

    @property
    def relative(self) -> Match | None:
        """The part that compares the event with a clone."""
        wanted = self.wanted if any(isinstance(i, Reference) for i in self.wanted) else ()
        unwanted = tuple(i for i in self.unwanted if isinstance(i, Reference))
        return Match(self.field, wanted, unwanted) if wanted or unwanted else None


@dataclass(frozen=True)
class Rule:
    """A rule: the events that it matches, their number, its time-out, and its children.

    ``label`` is its level and, if a level has several rules, a letter: ``2a`` and ``2b``, as in the
    thesis' Figure 7.6. Fields that may be ANY are not in ``matches``. ``reliability`` is absolute:
    a relative one has been added to that of the parent. ``time_out`` is None if the file has none.
    """

    label: str
    level: int
    name: str
    matches: tuple[Match, ...]
    occurrence: int = 1
    time_out: int | None = None
    reliability: int = 0
    children: tuple[Rule, ...] = ()
    line: int = 0

    @property
    def wait(self) -> int:
        """Seconds that it waits for its first event, and then again for its last."""
        return self.time_out or DEFAULT_TIME_OUT

    def all(self) -> Iterator[Rule]:
        """The rule and its descendants, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.all()

    def remembered(self) -> tuple[Reference, ...]:
        """The fields of its own and of earlier events to which its descendants refer."""
        below = [rule for child in self.children for rule in child.all()]
        found = {r for rule in below for match in rule.matches for r in match.references}
        known = (reference for reference in found if reference.level <= self.level)
        return tuple(sorted(known, key=lambda r: (r.level, r.field)))


@dataclass(frozen=True)
class Directive:
    """A tree of rules with its id, name and priority, and its location in a file."""

    id: int
    name: str
    priority: int
    rule: Rule
    file: str = ""
    line: int = 0
