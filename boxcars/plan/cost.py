"""The cost of a plan as StreamCloud defines it: fan-out and hops (thesis, 3.2).

``c(X) = alpha * fanout(X) + beta * hops(X)``. The instances are divided evenly among the
subclusters. The thesis counts the channels of the query-cloud as pairs of instances, and those of
the other two as receivers only; with pairs everywhere the operator-set-cloud is no longer always
the cheapest, so ``channels`` has that number too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from boxcars.model.check import Checked
from boxcars.plan.planner import make_plan
from boxcars.plan.subquery import STRATEGIES, Plan, Strategy


@dataclass(frozen=True)
class Cost:
    """The cost of a strategy for a total number of instances."""

    strategy: Strategy
    subclusters: int
    size: float
    """Instances of each subcluster."""
    fanout: float
    hops: int
    channels: float

    def total(self, alpha: float = 1, beta: float = 1) -> float:
        """The cost, for weights between 0 and 1."""
        return alpha * self.fanout + beta * self.hops


def cost_of(plan: Plan, instances: int) -> Cost:
    """The cost of a plan for a total number of instances.

    >>> import boxcars as bx
    >>> net = bx.Network("hourly-calls")
    >>> calls = net.input("calls", ts="t", fields={"t": "int", "who": "str"})
    >>> hourly = calls.filter("t > 0").aggregate(bx.time(60), by="who", n="count()")
    >>> net.output("out", hourly)
    >>> cost_of(make_plan(net.check()), 10).total()
    6.0
    """
    links = _links(plan)
    hops = _longest(links)
    number = max(len(plan.subclusters), 1)
    if plan.strategy == "query-cloud":
        pairs = float(instances * (instances - 1))
        return Cost(plan.strategy, number, instances, pairs, hops, pairs)
    size = instances / number
    edges = sum(map(len, links.values()))
    return Cost(plan.strategy, number, size, size * edges, hops, size * size * edges)


def compare(checked: Checked, instances: int) -> tuple[Cost, ...]:
    """The costs of all strategies for the same number of instances."""
    return tuple(cost_of(make_plan(checked, strategy), instances) for strategy in STRATEGIES)


def _links(plan: Plan) -> Mapping[str, set[str]]:
    """The upstream subqueries of each subquery; inputs are not part of the cluster."""
    working = {subquery.name for subquery in plan.subqueries if subquery.boxes}
    return {
        subquery.name: {plan.home[edge.arc.source] for edge in subquery.inputs} & working
        for subquery in plan.subqueries
        if subquery.boxes
    }


def _longest(links: Mapping[str, set[str]]) -> int:
    """The number of hops on the longest path; subqueries are in topological order."""
    hops: dict[str, int] = {}
    for name, upstream in links.items():
        hops[name] = max((hops[source] + 1 for source in upstream), default=0)
    return max(hops.values(), default=0)
