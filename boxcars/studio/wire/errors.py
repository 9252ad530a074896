"""Two kinds of what can't be done, which callers tell apart by the status of the answer."""

from __future__ import annotations

from boxcars.model.problem import BoxcarsError


class Missing(BoxcarsError):
    """What was asked for is not there."""


class Unable(BoxcarsError):
    """It is there, but not in a state in which this can be done."""
