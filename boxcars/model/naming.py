"""Stable names for unnamed boxes, and the source line that drew a box."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from boxcars.model.arc import Arc
from boxcars.model.box import Box
from boxcars.model.problem import Location

_PACKAGE = str(Path(__file__).parent.parent)


def stable_name(box: Box, inputs: Iterable[Arc]) -> str:
    """Derive a name from the type, the parameters and the inputs of a box.

    The same box gets the same name in every run, even if the rest of the network changes, so that
    its state is found again.
    """
    what = json.dumps([box.type, box.plain(), [str(arc) for arc in inputs]], ensure_ascii=False)
    return f"{box.type}-{hashlib.blake2b(what.encode(), digest_size=3).hexdigest()}"


def caller_location() -> Location | None:
    """Return the line of the caller outside this package, for error messages."""
    frame = sys._getframe(1)  # the public traceback API is a hundred times slower
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    file = frame.f_code.co_filename
    with suppress(ValueError):
        file = str(Path(file).relative_to(Path.cwd()))
    return Location(file, frame.f_lineno)
