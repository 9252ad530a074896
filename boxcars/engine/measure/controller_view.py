"""The view that controllers get: counts of boxes, added up for each subquery."""

from __future__ import annotations

from collections.abc import Mapping

from boxcars.control.decisions import View
from boxcars.engine.measure.counters import Counts
from boxcars.plan.subquery import Plan, Subquery


def view_of(epoch: int, plan: Plan, counts: Mapping[str, tuple[Counts, ...]]) -> View:
    """Add up the counts of the last epoch; there are none before the first."""
    known = [s for s in plan.subqueries if all(name in counts for name in s.nodes)]
    return View(
        epoch,
        {s.name: s.instances for s in plan.subqueries},
        {s.name: sum(own.tuples_in for own in counts[s.nodes[0]]) for s in known if s.nodes},
        {s.name: _busy(s, counts) for s in known},
    )


def _busy(subquery: Subquery, counts: Mapping[str, tuple[Counts, ...]]) -> tuple[float, ...]:
    """Seconds of each instance, over all boxes of a subquery."""
    columns = zip(*(counts[name] for name in subquery.nodes), strict=False)
    return tuple(sum(own.seconds for own in boxes) for boxes in columns)
