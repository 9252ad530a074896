"""The registry of user code that networks refer to by name.

Decorators register code here, so that a run can find it and ship it to workers, where the
decorators have not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["function", "aggregate", "format", "box", "object"]
"""An ``object`` is the code that an ``apply`` or ``custom`` box names."""


@dataclass(frozen=True)
class OwnCode:
    """A Python object of the user, under the name that networks use.

    ``options`` are the arguments of its registration.
    """

    kind: Kind
    name: str
    thing: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A unique key.

        >>> OwnCode("function", "kmh", None).key
        'function kmh'
        """
        return f"{self.kind} {self.name}"


_REGISTERED: dict[tuple[Kind, str], OwnCode] = {}


def note_own(kind: Kind, name: str, thing: Any, **options: Any) -> None:
    """Register code; the same name again replaces it."""
    _REGISTERED[kind, name] = OwnCode(kind, name, thing, options)


def find_own(kind: Kind, name: str) -> OwnCode | None:
    """Return the code registered under a name, if any."""
    return _REGISTERED.get((kind, name))
