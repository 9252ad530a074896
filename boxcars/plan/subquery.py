"""A plan: subqueries, the edges between them, and their levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from boxcars.model.arc import Arc
from boxcars.model.problem import Wrong, nearest
from boxcars.model.routing import Routing
from boxcars.plan.registry import Grid, Registry

Strategy = Literal["operator-set-cloud", "operator-cloud", "query-cloud"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True)
class Edge:
    """An arc from one subquery to another: its consumer, and its routing by the load balancer."""

    arc: Arc
    consumer: str
    port: int
    routing: Routing


@dataclass(frozen=True)
class Subquery:
    """Boxes that run together, without a shuffle between them.

    A *prefix* reads an input, its ``source``, in one task; it has no buckets. Any other subquery
    reads its ``inputs``, all split into the same buckets, and partitions its state by them.
    """

    name: str
    boxes: tuple[str, ...]
    """In topological order."""
    entry: str | None
    """The box that determines the routing: the stateful one, or a union of other subqueries."""
    inputs: tuple[Edge, ...]
    outputs: tuple[Arc, ...]
    """The arcs to other subqueries, to outputs and to connection points."""
    level: int
    buckets: int
    instances: int
    source: str | None = None
    """The input that a prefix reads."""
    inside: tuple[Edge, ...] = ()
    """The arcs between its boxes up to the entry: they have the same routing as its inputs."""
    splittable: bool = False
    """Whether the entry can be pre-aggregated before the shuffle, and merged after it."""
    one_piece_reason: str = field(default="", compare=False)
    """The reason why a run has it as one piece, if it does."""
    owners: tuple[int, ...] = ()
    """The instance that owns each bucket; empty: all own about the same number of neighbours."""

    @cached_property
    def registry(self) -> Registry:
        """The owner of each bucket."""
        if self.owners:
            return Registry(np.array(self.owners, np.int64), self.instances)
        if self.kind == "pairs":
            return Registry.tiled(Grid.of(self.buckets), self.instances)
        return Registry.balanced(max(self.buckets, 1), self.instances)

    @property
    def owner_of(self) -> tuple[int, ...]:
        """The owner of each bucket as plain data: two placements are the same if these are."""
        return tuple(self.registry.owners.tolist())

    @property
    def nodes(self) -> tuple[str, ...]:
        """Its boxes, and its input if it is a prefix."""
        return self.boxes if self.source is None else (self.source, *self.boxes)

    @property
    def kind(self) -> str:
        """Its kind of routing: ``prefix``, or the strictest of its inputs."""
        if self.source is not None:
            return "prefix"
        kinds = {edge.routing.kind for edge in self.inputs}
        return next((kind for kind in ("single", "pairs", "key") if kind in kinds), "any")


@dataclass(frozen=True)
class Plan:
    """How a network runs: its subqueries in topological order."""

    network: str
    strategy: Strategy
    buckets: int
    subqueries: tuple[Subquery, ...]

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The names of the subqueries of each level; each level reads only earlier ones."""
        number = 1 + max((subquery.level for subquery in self.subqueries), default=-1)
        return tuple(
            tuple(s.name for s in self.subqueries if s.level == level) for level in range(number)
        )

    @cached_property
    def home(self) -> dict[str, str]:
        """The subquery of each box and of each input."""
        homes = {box: s.name for s in self.subqueries for box in s.boxes}
        return homes | {s.source: s.name for s in self.subqueries if s.source is not None}

    def __getitem__(self, name: str) -> Subquery:
        """The subquery of that name."""
        for subquery in self.subqueries:
            if subquery.name == name:
                return subquery
        names = [subquery.name for subquery in self.subqueries]
        raise Wrong(f"there is no subquery '{name}'.{nearest(name, names)}")

    @property
    def subclusters(self) -> tuple[tuple[str, ...], ...]:
        """Groups of subqueries that share their instances: a single one for the query-cloud."""
        names = tuple(subquery.name for subquery in self.subqueries if subquery.boxes)
        return (names,) if self.strategy == "query-cloud" else tuple((name,) for name in names)
