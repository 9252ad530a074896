"""A finding of ``boxcars doctor``: the item checked, the verdict, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """The result of one check. A ``note`` is informational and blocks nothing."""

    what: str
    verdict: Verdict
    seen: str
    mend: str = ""

    def __str__(self) -> str:
        line = f"{self.verdict:<5}  {self.what:<12} {self.seen}"
        return f"{line}\n{' ' * 20}{self.mend}" if self.mend else line


def ok(what: str, seen: str) -> Finding:
    """The check passed."""
    return Finding(what, "ok", seen)


def note(what: str, seen: str, mend: str) -> Finding:
    """Something that may matter, but blocks nothing."""
    return Finding(what, "note", seen, mend)


def wrong(what: str, seen: str, mend: str) -> Finding:
    """A problem that keeps runs from working."""
    return Finding(what, "wrong", seen, mend)
