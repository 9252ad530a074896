"""A run that receives tuples steadily is running, whatever its engine reports between epochs."""

from __future__ import annotations

from itertools import pairwise

from boxcars.studio.runs.pulse import Pulse


def test_tuples_that_come_steadily() -> None:
    """A poll every half second, a tuple every second, and in between the engine waits."""
    pulse = Pulse()
    assert pulse.state("waiting", 0, 0.0) == "waiting"
    states = {pulse.state("waiting", look // 2 + 1, look / 2) for look in range(1, 200)}
    assert states == {"running"}
    assert pulse.state("waiting", 100, 108.5) == "running"
    assert pulse.state("waiting", 100, 110.0) == "waiting"


def test_tuples_that_come_seldom() -> None:
    """One every fifteen seconds: after the second the gap is known."""
    pulse = Pulse()
    found = [pulse.state("waiting", look // 30, look / 2) for look in range(400)]
    pairs = enumerate(pairwise(found), start=1)
    changes = [(look / 2, now) for look, (before, now) in pairs if now != before]
    assert changes == [(15.0, "running"), (25.0, "waiting"), (30.0, "running")]


def test_a_resumed_run() -> None:
    """Tuples read before the restart do not count as new; a running epoch does."""
    pulse = Pulse()
    assert pulse.state("waiting", 5000, 0.0) == "waiting"
    assert pulse.state("running", 5000, 0.5) == "running"
    assert pulse.state("waiting", 5000, 1.0) == "waiting"
