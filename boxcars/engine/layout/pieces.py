"""How a run is laid out: the pieces of each subquery, what each owns, and who reads what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.engine.layout.network_text import read_trusted
from boxcars.engine.layout.stages import Stage, find_stages
from boxcars.model.arc import Arc
from boxcars.model.check import Checked
from boxcars.model.routing import Routing
from boxcars.plan import Grid, Registry, Strategy, Subquery, plan_run
from boxcars.plan.buckets import bucket_numbers
from boxcars.plan.instances import has_state
from boxcars.plan.partial_aggregation import split_boxes
from boxcars.plan.subquery import Plan

BUCKETS = 64
"""Into how many buckets the keys of a subquery are shared out, if nobody says otherwise."""


@dataclass(frozen=True)
class Shape:
    """What a layout is made from; small, so that every task can make it again."""

    instances: int
    buckets: int
    strategy: Strategy = "operator-set-cloud"
    grouped: bool = False
    """Whether the boxes of a group run together."""
    apart: tuple[tuple[str, int], ...] = ()
    """The subqueries with another number of instances."""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Shape:
        """The shape again, from JSON."""
        return cls(**{**plain, "apart": tuple((name, number) for name, number in plain["apart"])})


@dataclass(frozen=True)
class Piece:
    """What one task works on: an instance of a subquery, or (without one) an output's sink."""

    number: int
    level: int
    name: str
    instance: int = 0
    sink: bool = False


@dataclass(frozen=True)
class Consumer:
    """Who reads an arc that leaves a subquery: an edge of another one, or a sink."""

    name: str
    sink: bool = False
    edge: int = 0


@dataclass(frozen=True)
class Layout:
    """The pieces of a network, and the way from each to the next."""

    checked: Checked
    plan: Plan

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces by level; the sinks come last."""
        found: list[Piece] = []
        for subquery in sorted(self.plan.subqueries, key=lambda s: s.level):
            for instance in range(subquery.instances):
                found.append(Piece(len(found), subquery.level, subquery.name, instance))
        last = 1 + max((piece.level for piece in found), default=-1)
        for name in self.checked.network.outputs:
            found.append(Piece(len(found), last, name, sink=True))
        return tuple(found)

    @cached_property
    def levels(self) -> tuple[tuple[Piece, ...], ...]:
        """The pieces that run side by side."""
        number = 1 + max(piece.level for piece in self.pieces)
        return tuple(tuple(p for p in self.pieces if p.level == k) for k in range(number))

    @cached_property
    def places(self) -> Mapping[tuple[str, bool], tuple[Piece, ...]]:
        """The pieces of each subquery and sink, by instance."""
        found: dict[tuple[str, bool], tuple[Piece, ...]] = {}
        for piece in self.pieces:
            key = piece.name, piece.sink
            found[key] = (*found.get(key, ()), piece)
        return found

    @cached_property
    def consumers(self) -> Mapping[Arc, tuple[Consumer, ...]]:
        """Who reads each arc that leaves a subquery."""
        found: dict[Arc, list[Consumer]] = {}
        for subquery in self.plan.subqueries:
            for number, edge in enumerate(subquery.inputs):
                found.setdefault(edge.arc, []).append(Consumer(subquery.name, edge=number))
        for name, output in self.checked.network.outputs.items():
            found.setdefault(output.source, []).append(Consumer(name, sink=True))
        return {arc: tuple(consumers) for arc, consumers in found.items()}

    @cached_property
    def ranked(self) -> bool:
        """Whether tuples have ranks."""
        return has_state(self.checked)

    @cached_property
    def writes(self) -> bool:
        """Whether it changes stored tables, and so runs in one place."""
        return any(node.box.writes for node in self.checked.network.boxes.values())

    @cached_property
    def stages(self) -> Mapping[str, tuple[Stage, ...]]:
        """The stages of each subquery."""
        return {s.name: find_stages(self.checked, s.boxes) for s in self.plan.subqueries}

    def order_of(self, arc: Arc) -> str | None:
        """The field by which an arc is in order, if it is."""
        schema = self.checked.schemas[arc]
        return schema.ts if schema.ordered else None

    def split(
        self, train: pl.DataFrame, consumer: Consumer
    ) -> Iterator[tuple[Piece, pl.DataFrame]]:
        """The load balancer: what each piece of a consumer gets of a train."""
        pieces = self.places[consumer.name, consumer.sink]
        if len(pieces) == 1:
            yield pieces[0], train
            return
        subquery = self.plan[consumer.name]
        routing = subquery.inputs[consumer.edge].routing
        places = locate(subquery, routing, train)
        for piece in pieces:
            yield piece, train.filter(places.owned_by(piece.instance))


@dataclass(frozen=True)
class Places:
    """Where rows belong: the bucket of each and, for each instance, the buckets that it owns."""

    buckets: NDArray[np.int64]
    owns: tuple[NDArray[np.int64], ...]

    def owned_by(self, instance: int) -> pl.Series:
        """Which rows belong to an instance; those of pairs belong to several."""
        return pl.Series(np.isin(self.buckets, self.owns[instance]))


def locate(subquery: Subquery, routing: Routing, rows: pl.DataFrame) -> Places:
    """Find the buckets of rows by their keys, once for all instances."""
    buckets, instances = subquery.buckets, subquery.instances
    if routing.kind != "pairs":
        registry = Registry.balanced(buckets, instances)
        owns = tuple(registry.owned_by(instance) for instance in range(instances))
        return Places(bucket_numbers(rows, routing, buckets), owns)
    grid = Grid.of(buckets)
    cells = [Registry.tiled(grid, instances).owned_by(instance) for instance in range(instances)]
    owns = tuple(own % grid.columns if routing.side else own // grid.columns for own in cells)
    return Places(bucket_numbers(rows, routing, grid.columns if routing.side else grid.rows), owns)


def owned(subquery: Subquery, instance: int, routing: Routing, rows: pl.DataFrame) -> pl.Series:
    """Which rows belong to an instance, by their keys."""
    if subquery.instances == 1:
        return pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)
    return locate(subquery, routing, rows).owned_by(instance)


def owned_first(
    subquery: Subquery, instance: int, routing: Routing, rows: pl.DataFrame
) -> pl.Series:
    """Of the rows for pairs, which several instances have, those whose first copy this one has."""
    if subquery.instances == 1:
        return pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)
    grid = Grid.of(subquery.buckets)
    owners = Registry.tiled(grid, subquery.instances).owners.reshape(grid.rows, grid.columns)
    numbers = bucket_numbers(rows, routing, grid.columns if routing.side else grid.rows)
    first = owners[0, numbers] if routing.side else owners[numbers, 0]
    return pl.Series(first == instance)


@lru_cache(maxsize=8)
def make_layout(network: str, shape: Shape) -> Layout:
    """Lay out a network, given as JSON: one that a run was begun with, so its code is trusted."""
    return lay_out(split_boxes(read_trusted(network).check().or_raise()), shape)


def lay_out(checked: Checked, shape: Shape) -> Layout:
    """Lay out a network as its plan says."""
    apart = dict(shape.apart)
    plan = plan_run(checked, shape.strategy, shape.buckets, shape.instances, apart, shape.grouped)
    return Layout(checked, plan)
