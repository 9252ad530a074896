"""What changed between two versions of a network, by entity, for a picture of both."""

from __future__ import annotations

from typing import Any, Literal

from boxcars.model.diff import Change, plain_diff
from boxcars.model.serialize import network_to_plain, read_network
from boxcars.studio.edit.documents import tidy
from boxcars.studio.wire import messages

_HOW: dict[str, Literal["added", "removed", "changed"]] = {
    "+": "added",
    "-": "removed",
    "~": "changed",
}


def compare(old: messages.Plain, new: messages.Plain) -> messages.Diff:
    """The changes from one version to the other; both may be half drawn."""
    changes = plain_diff(_canonical(old), _canonical(new))
    found: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        found.setdefault((change.how, change.kind, change.name), []).append(_line(change))
    return messages.Diff(
        changes=[_told(*key, lines) for key, lines in found.items()],
        text="\n".join(map(str, changes)),
    )


def _canonical(plain: messages.Plain) -> messages.Plain:
    """A network as files have it, so that what means the same looks the same."""
    reading = read_network(plain)
    return tidy(plain) if reading.problems else network_to_plain(reading.network)


def _told(how: str, kind: Any, name: str, lines: list[str]) -> messages.Change:
    return messages.Change(kind=_HOW[how], entity=kind, name=name, lines=lines)


def _line(change: Change) -> str:
    """What a line of ``boxcars diff`` says behind the name."""
    head, _, rest = str(change).partition(f"{change.how} {change.kind} {change.name}".rstrip())
    return (head + rest).lstrip(":, ")
