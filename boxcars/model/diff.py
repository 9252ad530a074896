"""Differences between two versions of a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from boxcars.model.describe import short
from boxcars.model.entities import KINDS
from boxcars.model.network import Network
from boxcars.model.serialize import network_to_plain


@dataclass(frozen=True)
class Change:
    """One entity that was added, removed or changed; ``key`` is the part of it that changed."""

    how: Literal["+", "-", "~"]
    kind: str
    name: str
    key: str = ""
    old: Any = None
    new: Any = None

    def __str__(self) -> str:
        what = f"{self.how} {self.kind} {self.name}".rstrip()
        if self.how == "+":
            return f"{what}: {short(self.new)}"
        if self.how == "-":
            return f"{what}: {short(self.old)}"
        return f"{what}, {self.key}: {_or_nothing(self.old)} -> {_or_nothing(self.new)}"


def diff(old: Network, new: Network) -> tuple[Change, ...]:
    """Return the changes from one network to the other; none if they are equal.

    >>> a = Network("n")
    >>> calls = a.input("calls", ts="time", fields={"time": "int", "price": "float"})
    >>> b = a.copy()
    >>> _ = calls.filter("price < 1").named("cheap")
    >>> for change in diff(b, a): print(change)
    + box cheap: type: filter, in: calls, where: [price < 1]
    """
    return plain_diff(network_to_plain(old), network_to_plain(new))


def plain_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the changes between networks in plain form, which may be incomplete."""
    changes: list[Change] = []
    names = before.get("name"), after.get("name")
    if names[0] != names[1]:
        changes.append(Change("~", "network", "", "name", *names))
    modules = before.get("modules"), after.get("modules")
    if modules[0] != modules[1]:
        changes.append(Change("~", "network", "", "modules", *modules))
    for key, kind in KINDS.items():
        changes += _section(kind, before.get(key, {}), after.get(key, {}))
    return tuple(changes)


def _section(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield Change("-", kind, name, old=old[name])
        elif name not in old:
            yield Change("+", kind, name, new=new[name])
        else:
            yield from _entity(kind, name, old[name], new[name])


def _entity(
    kind: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    for key, before, after in _leaves(old, new):
        yield Change("~", kind, name, key, before, after)


def _leaves(old: Any, new: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the smallest parts that differ, as (path, old, new)."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            path = f"{key}.{name}" if key else name
            yield from _leaves(old.get(name), new.get(name), path)
        if list(old) != list(new) and set(old) == set(new):
            yield f"order of {key}" if key else "order", list(old), list(new)
    elif old != new:
        yield key, old, new


def _or_nothing(value: Any) -> str:
    return "nothing" if value is None else short(value)
