"""Routing: which tuples of a stream must meet, so that a box can be split into buckets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from boxcars.model.types import Type

Kind = Literal["any", "key", "pairs", "single"]


@dataclass(frozen=True)
class Routing:
    """How a load balancer splits what enters a box.

    ``any``: each tuple stands for itself and may go to any bucket. ``key``: tuples whose
    ``fields`` are equal go to one bucket. ``pairs``: buckets are the cells of a grid, and a tuple
    goes to a whole row (from the left) or column (from the right) of it, chosen by its ``fields``.
    ``single``: all tuples must meet, so there is one bucket. ``types`` are the types in which the
    fields are compared: an int that meets a float is one.

    >>> str(Routing.key([("caller", Type.STR)])), str(Routing.single("it sorts all tuples"))
    ('by caller', 'to one bucket: it sorts all tuples')
    """

    kind: Kind
    fields: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    side: int = 0
    """For pairs: 0 if a tuple goes to a row, 1 if to a column."""
    why: str = field(default="", compare=False)
    """Why it can't be split."""

    @classmethod
    def key(cls, keys: Iterable[tuple[str, Type]]) -> Routing:
        """By the values of some fields."""
        return cls._by("key", keys)

    @classmethod
    def pairs(cls, keys: Iterable[tuple[str, Type]], side: int) -> Routing:
        """To a row or a column of a grid."""
        return replace(cls._by("pairs", keys), side=side)

    @classmethod
    def single(cls, why: str) -> Routing:
        """All tuples to one bucket."""
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
