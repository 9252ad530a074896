"""The order of boxes that share a stored table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boxcars.model.network import Network

Graph = dict[str, set[str]]
"""For each box, the boxes and inputs that run before it."""


def shared_tables(net: Network) -> Mapping[str, tuple[str, ...]]:
    """Return the tables that several boxes use and at least one writes, with these boxes."""
    users: dict[str, list[str]] = {}
    for name, node in net.boxes.items():
        for table in node.box.tables:
            users.setdefault(table, []).append(name)
    return {
        table: tuple(boxes)
        for table, boxes in users.items()
        if len(boxes) > 1 and any(net.boxes[box].box.writes for box in boxes)
    }


def graph_with_turns(net: Network) -> Graph:
    """Return the dependencies of boxes: the arrows, and an order of the boxes of each shared table.

    Where no arrow decides, writers run before readers, then by name, so that the behavior does not
    depend on the order in which a network was drawn.
    """
    graph = {name: {arc.source for arc in node.inputs} for name, node in net.boxes.items()}
    for _, boxes in sorted(shared_tables(net).items()):
        turns = _turns(net, graph, boxes)
        for before, after in pairwise(turns):
            graph[after].add(before)
    return graph


def _turns(net: Network, graph: Graph, boxes: Sequence[str]) -> list[str]:
    """Return the boxes of a table, each after those that it depends on."""
    waits = {box: _all_before(graph, box).intersection(boxes) - {box} for box in boxes}
    turns: list[str] = []
    while len(turns) < len(boxes):
        ready = [box for box in boxes if box not in turns and waits[box] <= set(turns)]
        if not ready:  # a loop, which the check reports
            return turns
        turns.append(min(ready, key=lambda box: (not net.boxes[box].box.writes, box)))
    return turns


def _all_before(graph: Graph, box: str) -> set[str]:
    found: set[str] = set()
    waiting = [box]
    while waiting:
        for name in graph.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found
