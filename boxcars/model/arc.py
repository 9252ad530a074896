"""Names of the things in a network, and the arrows between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from boxcars.model.problem import Wrong

_NAME = re.compile(r"[^\W\d][\w-]*(/[^\W\d][\w-]*)*")
_PORT = re.compile(r"[\w-]+")

MAIN = "0"
"""The port that is meant when none is named."""
LATE = "late"
"""The port with the tuples that came behind the frontier."""
DEAD = "dead"
"""The port with the records that could not be read or written."""


def check_name(name: str) -> str:
    """The name itself if it is one, else a sentence that says what a name is.

    A slash appears only in names that Boxcars makes: ``alarm/fast`` is the box ``fast`` in the
    superbox ``alarm``.
    """
    if _NAME.fullmatch(name):
        return name
    raise Wrong(
        f"{name!r} is not a name. A name starts with a letter or _ and goes on with letters, "
        "digits, _ and -."
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
        """Read ``box`` or ``box.port``."""
        source, dot, port = text.partition(".")
        if dot and not _PORT.fullmatch(port):
            raise Wrong(f"{text!r} is not an arc: write a box, or a box and its output as 'box.1'.")
        return cls(check_name(source), port or MAIN)

    def __str__(self) -> str:
        return self.source if self.port == MAIN else f"{self.source}.{self.port}"
