"""How long tests wait: long enough for a machine that is busy with something else."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 240.0
"""Seconds until a test gives up on what must come. Nothing is tested for being faster."""


def until(found: Callable[[], T], every: float = 0.02) -> T:
    """Wait for something, and give it."""
    end = time.monotonic() + PATIENCE
    while not (result := found()):
        assert time.monotonic() < end, "this takes too long"
        time.sleep(every)
    return result


def settled(value: Callable[[], T], seconds: float = 0.5) -> T:
    """A value that has come to rest: the same again after some time."""
    end, before = time.monotonic() + PATIENCE, value()
    while True:
        time.sleep(seconds)
        if (now := value()) == before:
            return now
        assert time.monotonic() < end, f"this does not come to rest: {now}"
        before = now
