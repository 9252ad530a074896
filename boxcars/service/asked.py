"""What requests to a run name: inputs and outputs, senders, numbers of batches and epochs."""

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
    """An input or output by its name, or the answer that there is none."""
    if name not in found:
        raise HTTPException(404, f"this run has no {kind} '{name}'.")
    return found[name]
