"""Routing: how the tuples of an arc are partitioned into the buckets of a box."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from boxcars.model.types import Type

Kind = Literal["any", "key", "pairs", "single"]


@dataclass(frozen=True)
class Routing:
    """How a load balancer partitions an input of a box.

    ``any``: each tuple may go to any bucket. ``key``: tuples with equal ``fields`` go to one
    bucket. ``pairs``: buckets are the cells of a grid, and a tuple goes to a whole row (from the
    left) or column (from the right) of it, chosen by its ``fields``. ``single``: all tuples go to
    one bucket. ``types`` are the types in which the fields are compared: an int compared with a
    float is converted to float.

    >>> str(Routing.key([("caller", Type.STR)])), str(Routing.single("it sorts all tuples"))
    ('by caller', 'to one bucket: it sorts all tuples')
    """

    kind: Kind
    fields: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    side: int = 0
    """For pairs: 0 if a tuple goes to a row, 1 if to a column."""
    why: str = field(default="", compare=False)
    """Why it can't be partitioned."""

    @classmethod
    def key(cls, keys: Iterable[tuple[str, Type]]) -> Routing:
        """Partition by the values of fields."""
        return cls._by("key", keys)

    @classmethod
    def pairs(cls, keys: Iterable[tuple[str, Type]], side: int) -> Routing:
        """Send each tuple to a row or a column of a grid."""
        return replace(cls._by("pairs", keys), side=side)

    @classmethod
    def single(cls, why: str) -> Routing:
        """Send all tuples to one bucket."""
        return cls("single", why=why)

    @classmethod
    def _by(cls, kind: Kind, keys: Iterable[tuple[str, Type]]) -> Routing:
        pairs = tuple(keys)
        return cls(kind, tuple(name for name, _ in pairs), tuple(type_ for _, type_ in pairs))

    def __str__(self) -> str:
        names = ", ".join(self.fields)
        words = {
            "any": "anywhere",
            "key": f"by {names}",
            "pairs": f"to a row or column of a grid, by {names}",
            "single": "to one bucket" + (f": {self.why}" if self.why else ""),
        }
        return words[self.kind]


ANYWHERE = Routing("any")
