"""Selects the kernel that runs the window of a box."""

from __future__ import annotations

from typing import Any

from boxcars.kernels.ordering.sorting import physical
from boxcars.kernels.windows.assigner import (
    FRONTIER,
    NEXT,
    Assigner,
    ByAxis,
    ByCount,
    ByRun,
    Landmark,
)
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.blocks import Blocks
from boxcars.kernels.windows.busy_keys import ByKey
from boxcars.kernels.windows.distinct_values import DistinctValues
from boxcars.kernels.windows.early_firing import EarlyFiring
from boxcars.kernels.windows.incremental_windows import IncrementalWindows
from boxcars.kernels.windows.panes import can_lift
from boxcars.kernels.windows.per_tuple_windows import MovingWindows
from boxcars.kernels.windows.run_windows import RunWindows
from boxcars.kernels.windows.time_windows import TimeWindows
from boxcars.kernels.windows.trigger import Trigger
from boxcars.kernels.windows.tuple_windows import TupleWindows
from boxcars.kernels.windows.value_windows import VALUE, ValueWindows
from boxcars.kernels.windows.window_results import Functions, Kernel
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.model.window import Window


def window_kernel(window: Window, schema: Schema, functions: Functions) -> Kernel:
    """The kernel of a window over such tuples; ``functions`` with their number of arguments."""
    type_ = schema[str(window.field) if window.by == "value" else schema.ts]
    if window.by == "landmark" or window.emit != "close":
        return _early_firing(window, schema, type_, functions)
    drop = window.obsolete == "drop"
    timeout = _timeout(window, schema)
    if window.by in ("time", "value") and window.step == 0:
        moving = MovingWindows(physical(window.size, type_), window.by == "value", schema.ts)
        return _by_key(moving, functions, flush=False, in_blocks=type_ is not Type.FLOAT)
    if window.by == "value" or (window.by == "time" and drop):
        values = ValueWindows(Axis.of(window, type_), window.flush, timeout if drop else None)
        return _by_key(values, functions, window.flush)
    if window.by == "time":
        return TimeWindows(Axis.of(window, type_), window.flush, functions)
    if window.by == "runs":
        return RunWindows(window.flush)
    tuples = TupleWindows(int(window.size), int(window.step) or 1, timeout, window.flush, drop)
    return _by_key(tuples, functions, window.flush)


def _by_key(windows: Blocks, functions: Functions, flush: bool, in_blocks: bool = True) -> Kernel:
    """Per-key sliding windows; rounded floats rule out the incremental kernel (``in_blocks``)."""
    if in_blocks and can_lift(functions):
        return IncrementalWindows(windows, functions, flush)
    return ByKey(windows, flush)


def _timeout(window: Window, schema: Schema) -> Any:
    return None if window.timeout is None else physical(window.timeout, schema[schema.ts])


def _early_firing(window: Window, schema: Schema, type_: Type, functions: Functions) -> Kernel:
    """The kernel of an early-firing window."""
    by_time = window.every_by == "time"
    every = window.every
    if every is not None:
        every = physical(every, schema[schema.ts]) if by_time else int(every)
    trigger = Trigger(window.emit, every, by_time, window.flush)
    value = VALUE if window.by == "value" else schema.ts
    axis = Axis.of(window, type_) if window.by in ("time", "value") else None
    timeout = _timeout(window, schema)
    assigner: Assigner
    if axis is not None:
        assigner = ByAxis(axis, FRONTIER if window.by == "time" else NEXT)
    elif window.by == "tuples":
        assigner = ByCount(int(window.size), int(window.step) or 1, timeout)
    elif window.by == "runs":
        return EarlyFiring(ByRun(), trigger, functions, value)
    else:
        assigner = Landmark()
    windows = EarlyFiring(assigner, trigger, functions, value, axis, timeout)
    by_key = ByKey(windows, window.flush)
    return DistinctValues(by_key, windows) if windows.counted else by_key
