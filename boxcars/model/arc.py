"""Names of entities, and arcs: the arrows of a network."""

from __future__ import annotations

import re
from dataclasses import dataclass

from boxcars.model.problem import Wrong

_NAME = re.compile(r"[^\W\d][\w-]*(/[^\W\d][\w-]*)*")
_PORT = re.compile(r"[\w-]+")

MAIN = "0"
"""The default port."""
LATE = "late"
"""The port of late tuples: those before the frontier."""
DEAD = "dead"
"""The port of dead letters: records that could not be read or written."""


def check_name(name: str) -> str:
    """Return a valid name unchanged; raise for an invalid one.

    Only generated names contain a slash: ``alarm/fast`` is the box ``fast`` in the superbox
    ``alarm``.
    """
    if _NAME.fullmatch(name):
        return name
    raise Wrong(
        f"{name!r} is not a name. A name starts with a letter or _, followed by letters, digits, "
        "_ and -."
    )


@dataclass(frozen=True, order=True)
class Arc:
    """The stream that leaves ``port`` of the input or box called ``source``.

    >>> Arc.of("cheap.else")
    Arc(source='cheap', port='else')
    >>> str(Arc.of("cheap.0"))
    'cheap'
    """

    source: str
    port: str = MAIN

    @classmethod
    def of(cls, text: str) -> Arc:
        """Parse ``box`` or ``box.port``."""
        source, dot, port = text.partition(".")
        if dot and not _PORT.fullmatch(port):
            raise Wrong(f"{text!r} is not an arc: write a box, or a box and its output as 'box.1'.")
        return cls(check_name(source), port or MAIN)

    def __str__(self) -> str:
        return self.source if self.port == MAIN else f"{self.source}.{self.port}"
