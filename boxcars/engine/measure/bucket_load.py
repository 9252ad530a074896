"""Load of the buckets of a box, which shows the hot ones.

It is estimated from a sample of each train, at almost no cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.engine.flow.stepper import Stepper
from boxcars.engine.layout.pieces import Layout
from boxcars.model.arc import Arc
from boxcars.model.routing import Routing
from boxcars.plan import Subquery
from boxcars.plan.buckets import bucket_numbers

SAMPLE = 2_000
"""Tuples sampled from a train; shorter trains are counted exactly."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Load:
    """Tuples in and out of each bucket of a box, and the seconds spent on them."""

    entered: Floats
    left: Floats
    seconds: Floats

    def plus(self, other: Load) -> Load:
        """The sum of two loads: of two pieces, or of two epochs."""
        return Load(
            self.entered + other.entered, self.left + other.left, self.seconds + other.seconds
        )


def add_loads(found: Iterable[Mapping[str, Load]]) -> dict[str, Load]:
    """Sum the loads of several pieces or epochs."""
    loads: dict[str, Load] = {}
    for more in found:
        for name, load in more.items():
            loads[name] = loads[name].plus(load) if name in loads else load
    return loads


def count_loads(layout: Layout, subquery: Subquery, stepper: Stepper) -> dict[str, Load]:
    """Estimate the load of each bucket of a piece in an epoch.

    The time of a box is divided in proportion to the input tuples of each bucket. So are its output
    tuples, if they no longer have the fields of the routing key.
    """
    if subquery.kind != "key":
        return {}
    loads = {}
    for stage in layout.stages[subquery.name]:
        first, last = stage.names[0], stage.last
        own, usual = routings_of(subquery, first), routings_of(subquery, str(subquery.entry)).get(0)
        entered = np.zeros(subquery.buckets)
        for port in range(len(stage.inputs)):
            train, routing = stepper.train(first, port), own.get(port, usual)
            entered += _sampled(train, routing, subquery.buckets, entered)
        left = np.zeros(subquery.buckets)
        for name in stepper.net.boxes[last].box.ports:
            left += _sampled(stepper.frames[Arc(last, name)], usual, subquery.buckets, entered)
        share = entered / (entered.sum() or 1)
        loads[last] = Load(entered, left, stepper.stats[last].seconds * share)
    return loads


def routings_of(subquery: Subquery, box: str) -> dict[int, Routing]:
    """The routing of each port of a box that has one."""
    edges = (*subquery.inputs, *subquery.inside)
    return {edge.port: edge.routing for edge in edges if edge.consumer == box}


def _sampled(
    train: pl.DataFrame, routing: Routing | None, buckets: int, otherwise: Floats
) -> Floats:
    """Tuples of a train by bucket; in proportion to ``otherwise`` if it lacks the key."""
    if routing is None or not set(routing.fields) <= set(train.columns):
        return train.height * otherwise / (otherwise.sum() or 1)
    sample = train.gather_every(-(-train.height // SAMPLE)) if train.height > SAMPLE else train
    counts = np.bincount(bucket_numbers(sample, routing, buckets), minlength=buckets)
    return counts.astype(np.float64) * (train.height / max(sample.height, 1))
