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
