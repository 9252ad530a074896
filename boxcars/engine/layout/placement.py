"""Apply a decision to the layout of a run."""

from __future__ import annotations

from dataclasses import replace

from boxcars.control.decisions import Decision
from boxcars.engine.layout.pieces import Shape, make_layout
from boxcars.model.problem import Wrong


def place(network: str, shape: Shape, decision: Decision) -> Shape:
    """The shape after a decision; raises Wrong if the network can't be laid out so."""
    name, number, owners = decision.subquery, decision.instances, decision.owners
    subquery = make_layout(network, shape).plan[name]
    buckets = subquery.buckets
    if owners and subquery.kind == "pairs":  # an instance must own a rectangle of the grid
        raise Wrong(
            f"subquery '{name}' matches all pairs of tuples, and its buckets are cells of a grid, "
            "which can't be moved one by one: change its number of instances."
        )
    if owners and (len(owners) != buckets or not all(0 <= own < number for own in owners)):
        raise Wrong(
            f"subquery '{name}' has {buckets} buckets, each owned by one of {number} instances: "
            f"got {len(owners)} owners from {min(owners)} to {max(owners)}."
        )
    resized = shape.resized(name, number)
    if owners:
        resized = replace(resized, owners=tuple(sorted([*resized.owners, (name, owners)])))
    make_layout(network, resized)  # an impossible number of instances is an error here
    return resized


def resumed(network: str, asked: Shape, last: Shape | None) -> Shape:
    """The shape of a resumed run for which no numbers of instances were given.

    Decisions of the run before still hold, as far as the network still has their subqueries.
    """
    if last is None or (asked.buckets, asked.strategy, asked.grouped) != (
        last.buckets,
        last.strategy,
        last.grouped,
    ):
        return asked
    known = {s.name: s.buckets for s in make_layout(network, asked).plan.subqueries}
    owners = dict(last.owners)
    found = asked
    for name, number in last.apart:
        if name in known and number <= known[name]:
            own = owners.get(name, ())
            own = own if len(own) == known[name] else ()
            found = place(network, found, Decision(name, number, own))
    return found
