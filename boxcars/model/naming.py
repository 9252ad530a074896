"""Stable names for boxes that were given none, and the line of the program that drew a box."""

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
    """A name made from what the box is: its type, its parameters and what it reads.

    The same box gets the same name in every run and however the rest of the network changes, so
    that its state can be found again.
    """
    what = json.dumps([box.type, box.plain(), [str(arc) for arc in inputs]], ensure_ascii=False)
    return f"{box.type}-{hashlib.blake2b(what.encode(), digest_size=3).hexdigest()}"


def caller_location() -> Location | None:
    """The line outside this package that is drawing, for errors that point at it."""
    frame = sys._getframe(1)  # the public traceback API costs a hundred times as much
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    file = frame.f_code.co_filename
    with suppress(ValueError):
        file = str(Path(file).relative_to(Path.cwd()))
    return Location(file, frame.f_lineno)
