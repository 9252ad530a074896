"""What the doctor finds: whether a thing is well, what it saw, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One look at one thing. A ``note`` is worth knowing and stops nothing."""

    what: str
    verdict: Verdict
    seen: str
    mend: str = ""

    def __str__(self) -> str:
        line = f"{self.verdict:<5}  {self.what:<12} {self.seen}"
        return f"{line}\n{' ' * 20}{self.mend}" if self.mend else line


def well(what: str, seen: str) -> Finding:
    """All is as it should be."""
    return Finding(what, "ok", seen)


def worth_knowing(what: str, seen: str, mend: str) -> Finding:
    """It may matter."""
    return Finding(what, "note", seen, mend)


def wrong(what: str, seen: str, mend: str) -> Finding:
    """A run can't work like this."""
    return Finding(what, "wrong", seen, mend)
