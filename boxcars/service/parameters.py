"""Request parameters of the service: names of inputs and outputs, senders, sequence numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from fastapi import HTTPException, Query

Sender = Annotated[str, Query(max_length=200)]
"""The name of a sender."""
Number = Annotated[int, Query(ge=0, lt=2**63)]
"""The number of a batch or an epoch."""
T = TypeVar("T")


def find(found: Mapping[str, T], name: str, kind: str) -> T:
    """Look up an input or output by its name. Raises a 404 response."""
    if name not in found:
        raise HTTPException(404, f"this run has no {kind} '{name}'.")
    return found[name]
