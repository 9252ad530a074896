"""Storage in memory that can lose power, for simulations and tests.

>>> storage = MemoryStorage()
>>> storage.put("a", b"1")
>>> storage.sync(["a"])
>>> storage.put("b", b"2")
>>> storage.lose_power()
>>> storage.list("")
['a']
"""

from __future__ import annotations

from collections.abc import Iterable

from boxcars.engine.state.storage import Data, Missing, Storage
from boxcars.model.problem import BoxcarsError


class Failed(BoxcarsError):
    """An operation of a simulated storage failed, or its answer was lost."""


class MemoryStorage(Storage):
    """Objects in a dict; those that were not synced are lost with the power."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self._synced: dict[str, bytes] = {}

    def get(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return an object, or a range of it."""
        if name not in self.objects:
            raise Missing(f"{name}: there is no such object.")
        return self.objects[name][start : None if length is None else start + length]

    def put(self, name: str, *parts: Data) -> None:
        """Store an object, not synced."""
        self.objects[name] = b"".join(parts)

    def swap(self, name: str, old: bytes | None, new: bytes) -> bool:
        """Compare and swap, durably."""
        if self.objects.get(name) != old:
            return False
        self.objects[name] = self._synced[name] = new
        return True

    def list(self, folder: str) -> list[str]:
        """The objects directly in a folder."""
        start = f"{folder}/" if folder else ""
        return sorted(n for n in self.objects if n.startswith(start) and "/" not in n[len(start) :])

    def delete(self, names: Iterable[str]) -> None:
        """Remove objects; a loss of power may bring them back, which does no harm."""
        for name in names:
            self.objects.pop(name, None)

    def sync(self, names: Iterable[str]) -> None:
        """Make objects survive a loss of power."""
        for name in names:
            self._synced[name] = self.get(name)

    def lose_power(self) -> None:
        """Go back to what was synced."""
        self.objects = dict(self._synced)
