"""What a plan is made of: subqueries, the edges between them, and the levels they run at."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from boxcars.model.arc import Arc
from boxcars.model.problem import Wrong, nearest
from boxcars.model.routing import Routing

Strategy = Literal["operator-set-cloud", "operator-cloud", "query-cloud"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True)
class Edge:
    """An arc from one subquery to another: who reads it, and how a load balancer splits it."""

    arc: Arc
    consumer: str
    port: int
    routing: Routing


@dataclass(frozen=True)
class Subquery:
    """Boxes that run together, without a shuffle between them.

    A *prefix* reads an input, its ``source``, in one task; it has no buckets. Any other reads its
    ``inputs``, each split into the same buckets, and its state belongs to them.
    """

    name: str
    boxes: tuple[str, ...]
    """In the order in which they run."""
    entry: str | None
    """The box that the edges are routed for: the stateful one, or a union of other subqueries."""
    inputs: tuple[Edge, ...]
    outputs: tuple[Arc, ...]
    """What leaves it: for other subqueries, for outputs and for connection points."""
    level: int
    buckets: int
    instances: int
    source: str | None = None
    """The input that a prefix reads."""
    inside: tuple[Edge, ...] = ()
    """The arcs between its boxes on the way to the entry: split like what enters."""
    splittable: bool = False
    """Whether the entry may be computed in part before the shuffle, and combined behind it."""
    whole: str = field(default="", compare=False)
    """Why a run has it in one piece, if it does."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Its boxes, and its input if it is a prefix."""
        return self.boxes if self.source is None else (self.source, *self.boxes)

    @property
    def kind(self) -> str:
        """How it is split: ``prefix``, or the strictest of its routings."""
        if self.source is not None:
            return "prefix"
        kinds = {edge.routing.kind for edge in self.inputs}
        return next((kind for kind in ("single", "pairs", "key") if kind in kinds), "any")


@dataclass(frozen=True)
class Plan:
    """How a network runs: its subqueries in the order of the arrows."""

    network: str
    strategy: Strategy
    buckets: int
    subqueries: tuple[Subquery, ...]

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The names of the subqueries that run side by side; each level reads only earlier ones."""
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
        """Subqueries that share their instances: one piece, if each runs the whole query."""
        names = tuple(subquery.name for subquery in self.subqueries if subquery.boxes)
        return (names,) if self.strategy == "query-cloud" else tuple((name,) for name in names)
