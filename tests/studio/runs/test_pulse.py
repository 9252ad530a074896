"""A run that gets tuples steadily is running, whatever its engine says between two epochs."""

from __future__ import annotations

from itertools import pairwise

from boxcars.studio.runs.pulse import Pulse


def test_tuples_that_come_steadily() -> None:
    """Each half second there is a look, each second a tuple, and between them the engine waits."""
    pulse = Pulse()
    assert pulse.state("waiting", 0, 0.0) == "waiting"
    states = {pulse.state("waiting", look // 2 + 1, look / 2) for look in range(1, 200)}
    assert states == {"running"}
    assert pulse.state("waiting", 100, 108.5) == "running"
    assert pulse.state("waiting", 100, 110.0) == "waiting"


def test_tuples_that_come_seldom() -> None:
    """One each fifteen seconds: after the second of them it is known that there will be more."""
    pulse = Pulse()
    found = [pulse.state("waiting", look // 30, look / 2) for look in range(400)]
    pairs = enumerate(pairwise(found), start=1)
    changes = [(look / 2, now) for look, (before, now) in pairs if now != before]
    assert changes == [(15.0, "running"), (25.0, "waiting"), (30.0, "running")]


def test_a_run_that_goes_on_from_before() -> None:
    """What it had read then has not come now; an epoch that is under way has."""
    pulse = Pulse()
    assert pulse.state("waiting", 5000, 0.0) == "waiting"
    assert pulse.state("running", 5000, 0.5) == "running"
    assert pulse.state("waiting", 5000, 1.0) == "waiting"
