"""The layout of a run: the pieces of each subquery, the rows each owns, and their consumers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
from boxcars.plan import Grid, Strategy, Subquery, plan_run
from boxcars.plan.buckets import bucket_numbers
from boxcars.plan.instances import has_state
from boxcars.plan.partial_aggregation import split_boxes
from boxcars.plan.subquery import Plan

BUCKETS = 64
"""Default number of buckets (key groups) of a subquery."""


@dataclass(frozen=True)
class Shape:
    """The parameters of a layout; small, so that every task can rebuild the layout."""

    instances: int
    buckets: int
    strategy: Strategy = "operator-set-cloud"
    grouped: bool = False
    """Whether the boxes of a group run together."""
    apart: tuple[tuple[str, int], ...] = ()
    """Subqueries with their own number of instances."""
    owners: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Subqueries with their own placement: the instance that owns each bucket."""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Shape:
        """Read a shape from JSON."""
        apart = tuple((str(name), int(number)) for name, number in plain["apart"])
        owners = tuple((str(name), tuple(map(int, own))) for name, own in plain["owners"])
        return cls(**{**plain, "apart": apart, "owners": owners})

    def resized(self, subquery: str, instances: int) -> Shape:
        """With another number of instances of one subquery, which then own equal shares."""
        apart = {**dict(self.apart), subquery: instances}
        owners = tuple(own for own in self.owners if own[0] != subquery)
        return replace(self, apart=tuple(sorted(apart.items())), owners=owners)


@dataclass(frozen=True)
class Piece:
    """The unit of one task: an instance of a subquery, or the sink of an output."""

    number: int
    level: int
    name: str
    instance: int = 0
    sink: bool = False


@dataclass(frozen=True)
class Consumer:
    """A consumer of an arc that leaves a subquery: an edge of another subquery, or a sink."""

    name: str
    sink: bool = False
    edge: int = 0


@dataclass(frozen=True)
class Layout:
    """The pieces of a network, and the routing between them."""

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
        """The pieces of each level; those of a level run in parallel."""
        number = 1 + max(piece.level for piece in self.pieces)
        return tuple(tuple(p for p in self.pieces if p.level == k) for k in range(number))

    @cached_property
    def pieces_of(self) -> Mapping[tuple[str, bool], tuple[Piece, ...]]:
        """The pieces of each subquery and sink, by instance."""
        found: dict[tuple[str, bool], tuple[Piece, ...]] = {}
        for piece in self.pieces:
            key = piece.name, piece.sink
            found[key] = (*found.get(key, ()), piece)
        return found

    @cached_property
    def consumers(self) -> Mapping[Arc, tuple[Consumer, ...]]:
        """The consumers of each arc that leaves a subquery."""
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
        """Whether it writes stored tables, and so runs on a single instance."""
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
        """The load balancer: split a train by the pieces of a consumer."""
        pieces = self.pieces_of[consumer.name, consumer.sink]
        if len(pieces) == 1:
            yield pieces[0], train
            return
        subquery = self.plan[consumer.name]
        routing = subquery.inputs[consumer.edge].routing
        ownership = find_ownership(subquery, routing, train)
        for piece in pieces:
            yield piece, train.filter(ownership.owned_by(piece.instance))


@dataclass(frozen=True)
class Ownership:
    """Ownership of rows: the bucket of each row, and the buckets that each instance owns."""

    buckets: NDArray[np.int64]
    owns: tuple[NDArray[np.int64], ...]

    def owned_by(self, instance: int) -> pl.Series:
        """Mask of the rows that an instance owns; rows routed as pairs have several owners."""
        return pl.Series(np.isin(self.buckets, self.owns[instance]))


def find_ownership(subquery: Subquery, routing: Routing, rows: pl.DataFrame) -> Ownership:
    """Compute the buckets of rows from their keys, once for all instances."""
    owned = tuple(map(subquery.registry.owned_by, range(subquery.instances)))
    if routing.kind != "pairs":
        return Ownership(bucket_numbers(rows, routing, subquery.buckets), owned)
    grid = Grid.of(subquery.buckets)
    owns = tuple(own % grid.columns if routing.side else own // grid.columns for own in owned)
    return Ownership(
        bucket_numbers(rows, routing, grid.columns if routing.side else grid.rows), owns
    )


def owned_rows(
    subquery: Subquery, instance: int, routing: Routing, rows: pl.DataFrame
) -> pl.Series:
    """Mask of the rows that an instance owns, by their keys."""
    if subquery.instances == 1:
        return pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)
    return find_ownership(subquery, routing, rows).owned_by(instance)


def owned_first_copies(
    subquery: Subquery, instance: int, routing: Routing, rows: pl.DataFrame
) -> pl.Series:
    """Mask of the rows routed as pairs whose first copy this instance has."""
    if subquery.instances == 1:
        return pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)
    grid = Grid.of(subquery.buckets)
    owners = subquery.registry.owners.reshape(grid.rows, grid.columns)
    numbers = bucket_numbers(rows, routing, grid.columns if routing.side else grid.rows)
    first = owners[0, numbers] if routing.side else owners[numbers, 0]
    return pl.Series(first == instance)


@lru_cache(maxsize=8)
def make_layout(network: str, shape: Shape) -> Layout:
    """Lay out a network, given as JSON; it is that of a started run, so its code is trusted."""
    return lay_out(split_boxes(read_trusted(network).check().or_raise()), shape)


def lay_out(checked: Checked, shape: Shape) -> Layout:
    """Plan a network for a shape."""
    apart = dict(shape.apart)
    plan = plan_run(checked, shape.strategy, shape.buckets, shape.instances, apart, shape.grouped)
    owners = dict(shape.owners)
    placed = [replace(s, owners=owners.get(s.name, ())) for s in plan.subqueries]
    return Layout(checked, replace(plan, subqueries=tuple(placed)))
