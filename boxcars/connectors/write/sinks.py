"""Descriptions of the sinks of a run; :mod:`boxcars.connectors.write.writers` opens them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from boxcars.model.problem import Wrong


@dataclass(frozen=True)
class Callback:
    """A function called with the rows of an epoch as an Arrow table, and the epoch number."""

    function: Callable[[pa.Table, int], Any]


@dataclass(frozen=True)
class Console:
    """The terminal: a table for each epoch, or a JSON object for each row on a pipe."""


def callback(function: Callable[[pa.Table, int], Any]) -> Callback:
    """Call ``function(table, epoch)`` for each epoch that has rows.

    It is called once per epoch, unless the process ends before the call is recorded: then it is
    called again with the same epoch and the same rows.
    """
    if not callable(function):
        raise Wrong(f"expected a function of a table and an epoch, got {function!r}.")
    return Callback(function)


def console() -> Console:
    """Print the rows: a table on a terminal, one JSON object for each row on a pipe."""
    return Console()
