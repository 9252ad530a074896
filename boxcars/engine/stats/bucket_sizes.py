"""What the buckets of a box hold: which of them are heavy.

It is counted exactly, from the files of the states, when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.engine.epoch.state_loading import files_of
from boxcars.engine.layout.pieces import Layout
from boxcars.engine.measure.bucket_load import routings_of
from boxcars.engine.state.checkpoint import Checkpoint, Files
from boxcars.kernels.contract import Mine, State, Stateful
from boxcars.model.routing import Routing
from boxcars.plan import Registry, Subquery
from boxcars.plan.buckets import bucket_numbers


@dataclass(frozen=True)
class Held:
    """What a bucket holds: the tuples that wait, and the rows and bytes of its state."""

    queue: int
    state_rows: int
    state_bytes: int


ByBucket = Mapping[int, Held]


def held_by_bucket(checkpoint: Checkpoint, layout: Layout, files: Files) -> dict[str, ByBucket]:
    """What each bucket of the stateful boxes holds, by the files of the last epoch."""
    found: dict[str, ByBucket] = {}
    for subquery in layout.plan.subqueries:
        if subquery.kind != "key":
            continue
        registry = Registry.balanced(subquery.buckets, subquery.instances)
        for name in subquery.boxes:
            for instance, frames in files_of(files, name).items():
                state = {frame: checkpoint.load(file) for frame, file in frames.items()}
                owned = registry.owned_by(instance)
                held = _held(layout, subquery, name, state, owned)
                found[name] = {**found.get(name, {}), **held}
    return found


def _held(
    layout: Layout, subquery: Subquery, name: str, state: State, buckets: NDArray[np.int64]
) -> dict[int, Held]:
    box, schemas = layout.checked.network.boxes[name].box, layout.checked.inputs_of(name)
    routings = routings_of(subquery, name)
    if not (isinstance(box, Stateful) and box.spreads() and routings):
        return {}
    numbers: list[NDArray[np.int64]] = []
    found = {}
    for bucket in map(int, buckets):
        own = box.share([state], _members(bucket, subquery, routings, numbers), schemas)
        waiting = [frame.height for part, frame in own.items() if part.startswith(box.waiting)]
        rows = sum(frame.height for frame in own.values())
        size = sum(int(frame.estimated_size()) for frame in own.values())
        found[bucket] = Held(sum(waiting), rows, size)
    return found


def _members(
    bucket: int,
    subquery: Subquery,
    routings: Mapping[int, Routing],
    numbers: list[NDArray[np.int64]],
) -> Mine:
    """Which rows belong to a bucket; for the next one the same rows are asked for, in turn."""
    asked = 0

    def mine(port: int, rows: pl.DataFrame) -> pl.Series:
        nonlocal asked
        if asked == len(numbers):
            numbers.append(bucket_numbers(rows, routings[port], subquery.buckets))
        asked += 1
        return pl.Series(numbers[asked - 1] == bucket)

    return mine
