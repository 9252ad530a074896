"""Fusion: which boxes run together, as the blocks of a network.

A block is named by one of its boxes, or by its input if it is a prefix. The rules, in this order:

1. Boxes that share a table which one of them writes form one block; with ``grouped`` so do the
   boxes of a group. Every box between two boxes of a block belongs to it.
2. A box that needs related tuples together (a stateful box, or one that writes a table) starts a
   block.
3. Any other box belongs to the block upstream of it. A union of several blocks starts its own
   block, because it waits for all of them.
4. Such a union moves into the block downstream of it, if that is its only consumer, can be split
   as well as before, and is not a block of rule 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from boxcars.model.arc import Arc
from boxcars.model.check import Checked
from boxcars.model.table_order import shared_tables
from boxcars.plan.route import Reading, Routes, routes_within
from boxcars.plan.subquery import Strategy

Home = Mapping[str, str]
"""The block of each box and input."""


@dataclass(frozen=True)
class Graph:
    """The arcs and boxes of a network, as the rules need them."""

    checked: Checked

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """Each arc with a box that reads it, in topological order."""
        boxes = self.checked.network.boxes
        return tuple(
            Reading(arc, name, port)
            for name in self.checked.order
            for port, arc in enumerate(boxes[name].inputs)
        )

    @cached_property
    def leaving(self) -> frozenset[Arc]:
        """The arcs that outputs and connection points read."""
        net = self.checked.network
        arcs = {output.source for output in net.outputs.values()}
        return frozenset(arcs | {point.arc for point in net.connection_points.values()})

    @cached_property
    def free(self) -> frozenset[str]:
        """The boxes that process each tuple independently."""
        boxes, inputs_of = self.checked.network.boxes, self.checked.inputs_of
        return frozenset(
            name
            for name, node in boxes.items()
            if all(
                node.box.routing(port, inputs_of(name)).kind == "any"
                for port in range(len(node.inputs))
            )
        )

    def between(self, boxes: Collection[str]) -> set[str]:
        """The boxes, and all boxes on a path from one of them to another."""
        upstream, downstream = set(boxes), set(boxes)
        for reading in self.readings:
            if reading.arc.source in downstream:
                downstream.add(reading.box)
        for reading in reversed(self.readings):
            if reading.box in upstream:
                upstream.add(reading.arc.source)
        return upstream & downstream


def find_blocks(graph: Graph, strategy: Strategy, grouped: bool) -> dict[str, str]:
    """The block of each box and of each input."""
    together = list(_kept_together(graph, grouped))
    while True:
        together = _closed(graph, together)
        home = _assign(graph, together, alone=strategy == "operator-cloud")
        loop = _find_loop(graph, home)
        if not loop:
            break
        together.append({box for box in graph.checked.order if home[box] in loop})
    if strategy == "operator-cloud":
        return home
    return _unions_forward(graph, home, kept={home[box] for boxes in together for box in boxes})


def _kept_together(graph: Graph, grouped: bool) -> Iterable[set[str]]:
    net = graph.checked.network
    for boxes in shared_tables(net).values():
        yield set(boxes)
    if grouped:
        groups: dict[str, set[str]] = {}
        for name, node in net.boxes.items():
            groups.setdefault(node.group, set()).add(name)
        groups.pop("", None)
        yield from groups.values()


def _closed(graph: Graph, sets: Iterable[set[str]]) -> list[set[str]]:
    """Add to each set the boxes between its boxes, and merge sets that overlap."""
    found: list[set[str]] = []
    for new in sets:
        merged = graph.between(new)
        while overlapping := [other for other in found if other & merged]:
            found = [other for other in found if not other & merged]
            merged = graph.between(merged.union(*overlapping))
        found.append(merged)
    return found


def _assign(graph: Graph, together: list[set[str]], alone: bool) -> dict[str, str]:
    checked = graph.checked
    first = {box: min(boxes, key=checked.order.index) for boxes in together for box in boxes}
    home = {name: name for name in checked.network.inputs}
    for name in checked.order:
        upstream = {home[arc.source] for arc in checked.network.boxes[name].inputs}
        follows = name in graph.free and len(upstream) == 1 and not alone
        home[name] = first.get(name) or (upstream.pop() if follows else name)
    return home


def _find_loop(graph: Graph, home: Home) -> set[str]:
    """The blocks of a cycle, if there is one: they would wait for each other."""
    upstream: dict[str, set[str]] = {block: set() for block in home.values()}
    for reading in graph.readings:
        source, target = home[reading.arc.source], home[reading.box]
        if source != target:
            upstream[target].add(source)
    left = dict(upstream)
    while ready := [block for block in left if not left.keys() & upstream[block]]:
        for block in ready:
            del left[block]
    for block in left:
        reached = _reach(upstream, block)
        if block in reached:
            return {other for other in reached if block in _reach(upstream, other)}
    return set()


def _reach(upstream: Mapping[str, set[str]], block: str) -> set[str]:
    """All blocks upstream of one."""
    reached: set[str] = set()
    waiting = [block]
    while waiting:
        new = upstream[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _unions_forward(graph: Graph, home: dict[str, str], kept: set[str]) -> dict[str, str]:
    """Apply rule 4, from the outputs backwards, because a union may feed another union."""
    for name in reversed(graph.checked.order):
        block = {box for box, of in home.items() if of == name}
        if name not in block or name in kept or not block <= graph.free:
            continue
        leaves = [reading for reading in graph.readings if _leaves(reading, home, name)]
        if len(leaves) != 1 or any(arc.source in block for arc in graph.leaving):
            continue
        target = home[leaves[0].box]
        if target in kept:
            continue
        moved = {box: target if of == name else of for box, of in home.items()}
        if _kinds(block_routes(graph, moved, target)) <= _kinds(block_routes(graph, home, target)):
            home = moved
    return home


def _leaves(reading: Reading, home: Home, block: str) -> bool:
    return home[reading.arc.source] == block != home[reading.box]


def _kinds(routes: Routes) -> set[str]:
    return {routing.kind for routing in routes.values()}


def block_routes(graph: Graph, home: Home, block: str) -> Routes:
    """The routing of all arcs that enter a block, and of those inside it up to its entry."""
    own = {box for box, of in home.items() if of == block}
    return routes_within(graph.checked, own, graph.free)
