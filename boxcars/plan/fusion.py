"""Which boxes run together: the blocks of a network.

A block is known by one of its boxes, or by its input if it is a prefix. The rules, in this order:

1. Boxes that share a table which one of them writes are one block, and so, if the user asks for
   it, are the boxes of a group; what lies between two boxes of a block belongs to it.
2. A box whose tuples must meet (a stateful box, or one that writes a table) starts a block.
3. Any other box belongs to the block that it reads. If it reads several it starts one of its own:
   only a union does, and it has to wait for all of them.
4. Such a union moves in front of the one block that reads it, if that stays as well split (and
   is none of rule 1).
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
    """What the rules need to know of a network."""

    checked: Checked

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """Each arc with a box that reads it, in the order in which the boxes run."""
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
        """The boxes that treat each tuple by itself."""
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
        """The boxes with all that lies on a way from one of them to another."""
        ahead, behind = set(boxes), set(boxes)
        for reading in self.readings:
            if reading.arc.source in behind:
                behind.add(reading.box)
        for reading in reversed(self.readings):
            if reading.box in ahead:
                ahead.add(reading.arc.source)
        return ahead & behind


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
    """Each set with what lies between its boxes, and those that overlap as one."""
    found: list[set[str]] = []
    for new in sets:
        whole = graph.between(new)
        while apart := [other for other in found if other & whole]:
            found = [other for other in found if not other & whole]
            whole = graph.between(whole.union(*apart))
        found.append(whole)
    return found


def _assign(graph: Graph, together: list[set[str]], alone: bool) -> dict[str, str]:
    checked = graph.checked
    first = {box: min(boxes, key=checked.order.index) for boxes in together for box in boxes}
    home = {name: name for name in checked.network.inputs}
    for name in checked.order:
        before = {home[arc.source] for arc in checked.network.boxes[name].inputs}
        follows = name in graph.free and len(before) == 1 and not alone
        home[name] = first.get(name) or (before.pop() if follows else name)
    return home


def _find_loop(graph: Graph, home: Home) -> set[str]:
    """Blocks that wait for each other, which no block may."""
    before: dict[str, set[str]] = {block: set() for block in home.values()}
    for reading in graph.readings:
        source, target = home[reading.arc.source], home[reading.box]
        if source != target:
            before[target].add(source)
    left = dict(before)
    while ready := [block for block in left if not left.keys() & before[block]]:
        for block in ready:
            del left[block]
    for block in left:
        reached = _reach(before, block)
        if block in reached:
            return {other for other in reached if block in _reach(before, other)}
    return set()


def _reach(before: Mapping[str, set[str]], block: str) -> set[str]:
    """All blocks that one waits for."""
    reached: set[str] = set()
    waiting = [block]
    while waiting:
        new = before[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _unions_forward(graph: Graph, home: dict[str, str], kept: set[str]) -> dict[str, str]:
    """Rule 4; from the back, for a union may be in front of a union. Blocks of rule 1 stay."""
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
    """How everything that enters a block is split, and what is on the way to its entry."""
    own = {box for box, of in home.items() if of == block}
    return routes_within(graph.checked, own, graph.free)
