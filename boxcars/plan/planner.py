"""The planner: makes the plan of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from boxcars.model.arc import Arc
from boxcars.model.check import Checked
from boxcars.model.problem import Wrong, nearest
from boxcars.plan.fusion import Graph, Home, block_routes, find_blocks
from boxcars.plan.partial_aggregation import find_halves
from boxcars.plan.route import Routes
from boxcars.plan.subquery import STRATEGIES, Edge, Plan, Strategy, Subquery


def make_plan(
    checked: Checked,
    strategy: Strategy = "operator-set-cloud",
    buckets: int = 64,
    instances: int | Mapping[str, int] = 4,
    grouped: bool = False,
) -> Plan:
    """Divide a network into subqueries, with the routing of each.

    ``instances`` is the number for every subquery, or a mapping by name (default: 1); a subquery
    never has more instances than buckets. With ``grouped`` the boxes of a group run together with
    every strategy.

    >>> import boxcars as bx
    >>> net = bx.Network("hourly-calls")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "who": "str"})
    >>> net.output("out", calls.aggregate(bx.time(60), by="who", n="count()").named("hourly"))
    >>> make_plan(net.check()).levels
    (('calls',), ('hourly',))
    """
    checked.or_raise()
    if strategy not in STRATEGIES:
        raise Wrong(f"there is no strategy '{strategy}'.{nearest(strategy, STRATEGIES)}")
    if buckets < 1:
        raise Wrong(f"a plan needs at least 1 bucket, got {buckets}.")
    graph = Graph(checked)
    home = find_blocks(graph, strategy, grouped)
    levels = _levels(graph, home)
    blocks = sorted(levels, key=partial(_sort_key, checked, home, levels))
    made = [_subquery(graph, home, levels, block, buckets) for block in blocks]
    return Plan(checked.network.name, strategy, buckets, _with_instances(made, instances))


def _levels(graph: Graph, home: Home) -> dict[str, int]:
    """Levels of blocks: 0 for prefixes, and one above its upstream blocks for any other."""
    levels = dict.fromkeys(graph.checked.network.inputs, 0)
    blocks = {home[name] for name in graph.checked.order} - levels.keys()
    waiting = {
        block: {home[r.arc.source] for r in graph.readings if home[r.box] == block} - {block}
        for block in blocks
    }
    while waiting:
        for block in [block for block, upstream in waiting.items() if upstream <= levels.keys()]:
            levels[block] = 1 + max(levels[source] for source in waiting.pop(block))
    return levels


def _sort_key(
    checked: Checked, home: Home, levels: Mapping[str, int], block: str
) -> tuple[int, int, str]:
    """Sort key: by level, then in topological order; prefixes by name."""
    if block in checked.network.inputs:
        return 0, 0, block
    first = next(index for index, name in enumerate(checked.order) if home[name] == block)
    return levels[block], first, block


def _subquery(
    graph: Graph, home: Home, levels: Mapping[str, int], block: str, buckets: int
) -> Subquery:
    checked = graph.checked
    boxes = tuple(name for name in checked.order if home[name] == block)
    source = block if block in checked.network.inputs else None
    routes: Routes = {} if source else block_routes(graph, home, block)
    entry = None if source else _entry(graph, boxes)
    into = {r: routing for r, routing in routes.items() if home[r.arc.source] != block}
    single = any(routing.kind == "single" for routing in routes.values())
    return Subquery(
        name=source or entry or boxes[0],
        boxes=boxes,
        entry=entry,
        inputs=tuple(Edge(r.arc, r.box, r.port, routing) for r, routing in into.items()),
        inside=tuple(Edge(r.arc, r.box, r.port, routes[r]) for r in routes if r not in into),
        outputs=_outputs(graph, home, block),
        level=levels[block],
        buckets=0 if source else 1 if single else buckets,
        instances=1,
        source=source,
        splittable=entry in find_halves(checked),
    )


def _entry(graph: Graph, boxes: tuple[str, ...]) -> str | None:
    """The first box that needs related tuples together, else the first with several inputs."""
    nodes = graph.checked.network.boxes
    strict = [name for name in boxes if name not in graph.free]
    merging = [name for name in boxes if len(nodes[name].inputs) > 1]
    return next(iter([*strict, *merging]), None)


def _outputs(graph: Graph, home: Home, block: str) -> tuple[Arc, ...]:
    read = [r.arc for r in graph.readings if home[r.arc.source] == block != home[r.box]]
    read += sorted(arc for arc in graph.leaving if home[arc.source] == block)
    return tuple(dict.fromkeys(read))


def _with_instances(
    made: list[Subquery], instances: int | Mapping[str, int]
) -> tuple[Subquery, ...]:
    names = [subquery.name for subquery in made]
    given = dict.fromkeys(names, instances) if isinstance(instances, int) else dict(instances)
    for name, number in given.items():
        if name not in names:
            raise Wrong(f"there is no subquery '{name}'.{nearest(name, names)}")
        if number < 1:
            raise Wrong(f"subquery '{name}' needs at least 1 instance, got {number}.")
    numbers = {s.name: given.get(s.name, 1) for s in made}
    return tuple(
        replace(s, instances=min(numbers[s.name], s.buckets or numbers[s.name])) for s in made
    )
