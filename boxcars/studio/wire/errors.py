"""Errors with their own HTTP status."""

from __future__ import annotations

from boxcars.model.problem import BoxcarsError


class Missing(BoxcarsError):
    """The requested resource does not exist (404)."""


class Unable(BoxcarsError):
    """The resource is not in a state that allows the request (409)."""
