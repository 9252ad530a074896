"""The wall clock in plans: its value for an input, and whether passing time can change anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from boxcars.engine.state.epoch_records import Manifest
from boxcars.kernels.contract import Stateful
from boxcars.kernels.ordering.sorting import GREATEST
from boxcars.model.network import Network
from boxcars.model.types import Type

PACE = 1.0
"""Seconds without a row after which an input follows the wall clock; also the least time between
two epochs that read nothing."""


@dataclass(frozen=True)
class Clocks:
    """The clocks of a planner: wall time in seconds since 1970, and one that never goes back."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic


def order_value(now: float, type_: Type) -> int | float:
    """A wall time as an order value: microseconds for a timestamp, else seconds.

    >>> order_value(1.5, Type.TIMESTAMP), order_value(1.5, Type.INT), order_value(1.5, Type.FLOAT)
    (1500000, 1, 1.5)
    """
    if type_ is Type.FLOAT:
        return now
    return floor(now * 1_000_000) if type_ is Type.TIMESTAMP else floor(now)


def waits_for_time(net: Network, last: Manifest | None) -> bool:
    """Whether passing time can change anything: tuples or windows in a state wait for it.

    Without such a state an epoch that reads nothing has no effect, so none is planned. ``net`` is
    the flattened network.
    """
    if last is None:
        return False
    timed = {
        name
        for name, node in net.boxes.items()
        if isinstance(node.box, Stateful) and node.box.timed
    }
    return any(
        ref.rows and (ref.box in timed or (ref.box not in net.boxes and ref.name != GREATEST))
        for ref in last.state
    )
