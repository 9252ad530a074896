"""State sizes of the buckets of a box, which show the heavy ones.

They are counted exactly, from the state files, on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.engine.epoch.state_loading import refs_of
from boxcars.engine.layout.pieces import Layout
from boxcars.engine.measure.bucket_load import routings_of
from boxcars.engine.state.state_files import StateRef, read_frame
from boxcars.engine.state.storage import Storage
from boxcars.kernels.contract import OwnedTuples, State, Stateful
from boxcars.model.routing import Routing
from boxcars.plan import Subquery
from boxcars.plan.buckets import bucket_numbers


@dataclass(frozen=True)
class BucketSize:
    """The size of a bucket: the tuples in its queue, and the rows and bytes of its state."""

    queue: int
    state_rows: int
    state_bytes: int


SizeByBucket = Mapping[int, BucketSize]


def bucket_sizes(
    storage: Storage, layout: Layout, refs: Iterable[StateRef]
) -> dict[str, SizeByBucket]:
    """Sizes of the buckets of all stateful boxes, from the states of the last epoch."""
    found: dict[str, SizeByBucket] = {}
    for subquery in layout.plan.subqueries:
        if subquery.kind != "key":
            continue
        for name in subquery.boxes:
            for instance, frames in refs_of(refs, name).items():
                state = {frame: read_frame(storage, ref) for frame, ref in frames.items()}
                owned = subquery.registry.owned_by(instance)
                sizes = _sizes_of(layout, subquery, name, state, owned)
                found[name] = {**found.get(name, {}), **sizes}
    return found


def _sizes_of(
    layout: Layout, subquery: Subquery, name: str, state: State, buckets: NDArray[np.int64]
) -> dict[int, BucketSize]:
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
        found[bucket] = BucketSize(sum(waiting), rows, size)
    return found


def _members(
    bucket: int,
    subquery: Subquery,
    routings: Mapping[int, Routing],
    numbers: list[NDArray[np.int64]],
) -> OwnedTuples:
    """Mask of the rows that belong to a bucket.

    A box asks for the same frames in the same order for each bucket, so their bucket numbers are
    computed once, for the first bucket, and cached in ``numbers``.
    """
    calls = 0

    def mine(port: int, rows: pl.DataFrame) -> pl.Series:
        nonlocal calls
        if calls == len(numbers):
            numbers.append(bucket_numbers(rows, routings[port], subquery.buckets))
        calls += 1
        return pl.Series(numbers[calls - 1] == bucket)

    return mine
