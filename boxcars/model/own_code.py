"""Code of the user's own that networks refer to by name, and how it was registered.

Decorators note here what they register, so that a run can find it again and send it to workers,
where the same decorators have never run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["function", "aggregate", "format", "box", "object"]
"""An ``object`` is what an ``apply`` or ``custom`` box names."""


@dataclass(frozen=True)
class OwnCode:
    """A Python object of the user's, under the name that networks have for it.

    ``options`` are the arguments with which it was registered.
    """

    kind: Kind
    name: str
    thing: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells it from all other code.

        >>> OwnCode("function", "kmh", None).key
        'function kmh'
        """
        return f"{self.kind} {self.name}"


_REGISTERED: dict[tuple[Kind, str], OwnCode] = {}


def note_own(kind: Kind, name: str, thing: Any, **options: Any) -> None:
    """Note what a decorator has registered; the same name again replaces it."""
    _REGISTERED[kind, name] = OwnCode(kind, name, thing, options)


def find_own(kind: Kind, name: str) -> OwnCode | None:
    """The code of that name, if the user has registered any."""
    return _REGISTERED.get((kind, name))
