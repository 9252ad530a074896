"""Simulated storage loses what was not synced, and fails as it is told."""

import pytest

from boxcars.engine.state.storage import Missing
from boxcars.sim.storage import MemoryStorage


def test_what_was_not_synced_is_lost_with_the_power() -> None:
    storage = MemoryStorage()
    storage.put("a", b"1", b"2")
    storage.sync(["a"])
    storage.put("a", b"3")
    storage.put("b", b"4")
    assert storage.swap("head", None, b"5")
    storage.lose_power()
    assert storage.get("a") == b"12"
    assert storage.get("head") == b"5"
    with pytest.raises(Missing, match="b: there is no such object"):
        storage.get("b")
