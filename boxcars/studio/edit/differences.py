"""The changes between two versions of a network, by entity."""

from __future__ import annotations

from typing import Any, Literal

from boxcars.model.deserialize import read_network
from boxcars.model.diff import Change, plain_diff
from boxcars.model.serialize import network_to_plain
from boxcars.studio.edit.documents import tidy
from boxcars.studio.wire import messages

_HOW: dict[str, Literal["added", "removed", "changed"]] = {
    "+": "added",
    "-": "removed",
    "~": "changed",
}


def compare(old: messages.Plain, new: messages.Plain) -> messages.Diff:
    """Return the changes from one version to the other; both may be incomplete."""
    changes = plain_diff(_canonical(old), _canonical(new))
    found: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        found.setdefault((change.how, change.kind, change.name), []).append(_line(change))
    return messages.Diff(
        changes=[_to_message(*key, lines) for key, lines in found.items()],
        text="\n".join(map(str, changes)),
    )


def _canonical(plain: messages.Plain) -> messages.Plain:
    """Return the canonical plain form of a network, so that equal networks compare equal."""
    reading = read_network(plain)
    return tidy(plain) if reading.problems else network_to_plain(reading.network)


def _to_message(how: str, kind: Any, name: str, lines: list[str]) -> messages.Change:
    return messages.Change(kind=_HOW[how], entity=kind, name=name, lines=lines)


def _line(change: Change) -> str:
    """Return a line of ``boxcars diff`` without the entity's name."""
    head, _, rest = str(change).partition(f"{change.how} {change.kind} {change.name}".rstrip())
    return (head + rest).lstrip(":, ")
