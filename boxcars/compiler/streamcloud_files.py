"""Compiles a plan to the files of a StreamCloud project (thesis, 6.3).

The parallel query is a network of ordinary boxes: the instances of a box ``OP`` are ``OP_1`` to
``OP_n``, a load balancer is a filter by ``hash``, and an input merger is a union. It has the same
results as the network itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from boxcars.expr import Expr
from boxcars.lang.borealis_write import write
from boxcars.lang.deploy import Deployment, Placement
from boxcars.lang.streamcloud import Machine, Project, Resources
from boxcars.model.arc import MAIN, Arc
from boxcars.model.box import box_types
from boxcars.model.check import Checked
from boxcars.model.entities import Input, Node, Output
from boxcars.model.network import Network
from boxcars.model.problem import Wrong
from boxcars.model.routing import Routing
from boxcars.model.schema import Schema
from boxcars.plan.registry import Grid
from boxcars.plan.subquery import Edge, Plan, Subquery

_HOST, _STARTER, _FIRST = "127.0.0.1", 8000, 15000
"""The machine, the port of its starter, and the first port of instances."""
_LAUNCH = """#!/bin/sh
# Check the project and run its parallel query: launch.sh --source NAME=FILE --sink NAME=FOLDER
set -e
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
boxcars check "$here/SC.xml"
exec boxcars run "$here/query.xml" "$@"
"""


def project_files(plan: Plan, checked: Checked) -> dict[str, str]:
    """The files of a StreamCloud project, by name."""
    query = parallel_query(plan, checked)
    deployment, resources = _deploy(query)
    balancers = tuple(node.endpoint for node in deployment.node if node.what.startswith("LB_"))
    project = Project("query.xml", "deploy.xml", "ResourceManager.xml", balancers=balancers)
    working = [subquery for subquery in plan.subqueries if subquery.boxes]
    return {
        "query.xml": write(query),
        "deploy.xml": deployment.write(),
        "SC.xml": project.write(),
        "ResourceManager.xml": resources.write(),
        **{
            f"Skeleton{number}.xml": write(skeleton(subquery, checked))
            for number, subquery in enumerate(working, start=1)
        },
        "launch.sh": _LAUNCH,
    }


def parallel_query(plan: Plan, checked: Checked) -> Network:
    """Build the network of all instances of all boxes, with balancers and mergers in between."""
    net = checked.network
    made = _Parallel(plan, checked)
    for subquery in plan.subqueries:
        made.add(subquery)
    outputs = {
        given: replace(output, source=arc)
        for name, output in net.outputs.items()
        for given, arc in made.leaving(name, output.source).items()
    }
    grouped = dict(sorted(made.boxes.items(), key=lambda item: made.groups.index(item[1].group)))
    bare = Network(f"{net.name}-parallel", inputs=net.inputs, tables=net.tables)
    return bare._with("boxes", grouped)._with("outputs", outputs)


class _Parallel:
    """Builds a parallel query, subquery by subquery."""

    def __init__(self, plan: Plan, checked: Checked) -> None:
        self.plan, self.checked = plan, checked
        self.boxes: dict[str, Node] = {}

    @property
    def groups(self) -> list[str]:
        """The groups in the order in which they were added."""
        return list(dict.fromkeys(node.group for node in self.boxes.values()))

    def add(self, subquery: Subquery) -> None:
        """Add all instances of a subquery, with the balancers and mergers of its inputs."""
        edges = subquery.inputs or tuple(self._source_edges(subquery))
        incoming = {(f.consumer, f.port): self._balanced(f, subquery) for f in edges}
        for instance in range(subquery.instances if subquery.boxes else 0):
            group = f"{subquery.name}_{instance + 1}"
            for name in subquery.boxes:
                node = self.checked.network.boxes[name]
                arcs = []
                for port, arc in enumerate(node.inputs):
                    if (name, port) in incoming:
                        streams = incoming[name, port][instance]
                        merger = f"IM_{name}_{port}_{instance + 1}"
                        arcs.append(self._union(merger, group, streams, arc))
                    else:
                        arcs.append(Arc(f"{arc.source}_{instance + 1}", arc.port))
                self._put(f"{name}_{instance + 1}", Node(node.box, tuple(arcs), group))

    def _source_edges(self, subquery: Subquery) -> Iterator[Edge]:
        """The edges from the input of a prefix: any tuple may go to any instance."""
        for name in subquery.boxes:
            for port, arc in enumerate(self.checked.network.boxes[name].inputs):
                if arc.source == subquery.source:
                    yield Edge(arc, name, port, Routing("any"))

    def leaving(self, name: str, arc: Arc) -> dict[str, Arc]:
        """The arcs of an output: its instances merged, or each of them if they are unordered."""
        streams = self._instances(arc)
        if len(streams) > 1 and not self.checked.schemas[arc].ordered:
            return {f"{name}_{i + 1}": stream for i, stream in enumerate(streams)}
        return {name: self._union(f"IM_{name}", f"IM_{name}", streams, arc)}

    def _instances(self, arc: Arc) -> list[Arc]:
        """The streams of all instances of an arc."""
        if arc.source in self.checked.network.inputs:
            return [arc]
        number = self.plan[self.plan.home[arc.source]].instances
        return [Arc(f"{arc.source}_{i + 1}", arc.port) for i in range(number)]

    def _balanced(self, edge: Edge, subquery: Subquery) -> list[list[Arc]]:
        """The streams of each instance for its share of an edge."""
        streams = self._instances(edge.arc)
        if subquery.instances == 1:
            return [streams]
        routes, shares = _shares(edge, subquery, self.plan.buckets, self.checked)
        balancer = box_types()["filter"].from_plain({"where": routes})
        names = []
        for number, stream in enumerate(streams, start=1):
            names.append(f"LB_{_name(edge.arc)}_{edge.consumer}_{edge.port}_{number}")
            sender = self.boxes.get(stream.source)
            group = sender.group if sender else f"LB_{stream.source}"
            self._put(names[-1], Node(balancer, (stream,), group))
        return [[Arc(name, str(route)) for name in names] for route in shares]

    def _union(self, name: str, group: str, streams: Sequence[Arc], arc: Arc) -> Arc:
        if len(streams) == 1:
            return streams[0]
        if not self.checked.schemas[arc].ordered:
            raise Wrong(
                f"'{arc}' is unordered, so its instances can't be merged: plan it with 1 instance."
            )
        self._put(name, Node(box_types()["union"].build(), tuple(streams), group))
        return Arc(name)

    def _put(self, name: str, node: Node) -> None:
        if name in self.boxes or name in self.checked.network.inputs:
            raise Wrong(f"the parallel query would have two boxes '{name}': rename your box.")
        self.boxes[name] = node


def _shares(
    edge: Edge, subquery: Subquery, buckets: int, checked: Checked
) -> tuple[list[str], list[int]]:
    """The predicates of a load balancer, and the index of the one for each instance."""
    parts, cells = subquery.instances, subquery.buckets or buckets
    if edge.routing.kind == "pairs":
        tiles, grid = Grid.of(parts), Grid.of(cells)
        across = edge.port % 2 == 1
        shares = [i % tiles.columns if across else i // tiles.columns for i in range(parts)]
        parts, cells = (tiles.columns, grid.columns) if across else (tiles.rows, grid.rows)
    else:
        shares = list(range(parts))
    number = _bucket(edge.routing, checked.schemas[edge.arc], cells)
    ends = [-(-cells * (part + 1) // parts) for part in range(parts)]
    return [f"{number} < {end}" for end in ends], shares


def _bucket(routing: Routing, schema: Schema, cells: int) -> str:
    """The bucket number as SQL, equal to that of :mod:`boxcars.plan.buckets`."""
    names = routing.fields or tuple(schema.fields)
    types = routing.types or tuple(schema.fields.values())
    keys = []
    for name, type_ in zip(names, types, strict=True):
        quoted = '"' + name.replace('"', '""') + '"'
        keys.append(quoted if schema[name] is type_ else f"cast({quoted} AS {type_})")
    hashed = f"hash({', '.join(keys)})"
    return str(Expr.of(f"({hashed} % {cells} + {cells}) % {cells}"))


def skeleton(subquery: Subquery, checked: Checked) -> Network:
    """One subquery as a separate network: the template of its instances."""
    net = checked.network
    boxes = {name: net.boxes[name] for name in subquery.boxes}
    inputs: dict[str, Input] = {}
    streams: dict[Arc, Arc] = {}
    for name in subquery.boxes:
        for arc in boxes[name].inputs:
            if arc.source not in boxes and arc not in streams:
                stream = _free_name(arc, {*boxes, *inputs})
                schema = checked.schemas[arc]
                inputs[stream] = Input(schema.fields, schema.ts)
                streams[arc] = Arc(stream)
    used = {
        name: replace(node, inputs=tuple(streams.get(arc, arc) for arc in node.inputs), group="")
        for name, node in boxes.items()
    }
    outputs: dict[str, Output] = {}
    for arc in subquery.outputs:
        if arc.source in boxes:
            outputs[_free_name(arc, outputs)] = Output(arc)
    bare = Network(subquery.name, inputs=inputs, tables=net.tables)
    return bare._with("boxes", used)._with("outputs", outputs)


def _free_name(arc: Arc, taken: Mapping[str, object] | set[str]) -> str:
    name = _name(arc)
    while name in taken:
        name += "-"
    return name


def _name(arc: Arc) -> str:
    return arc.source if arc.port == MAIN else f"{arc.source}-{arc.port}"


def _deploy(query: Network) -> tuple[Deployment, Resources]:
    """Deploy an instance for each group, all on this machine; inputs and outputs have ports."""
    groups = list(dict.fromkeys(node.group for node in query.boxes.values()))
    names = [*groups, *query.inputs, *query.outputs]
    ports = range(_FIRST, _FIRST + len(names))
    placements = [Placement(f"{_HOST}:{p}", name) for p, name in zip(ports, names, strict=True)]
    first, second = len(groups), len(groups) + len(query.inputs)
    deployment = Deployment(
        tuple(placements[first:second]), tuple(placements[:first]), tuple(placements[second:])
    )
    machine = Machine("localhost", _HOST, _STARTER, tuple(ports[:first]))
    return deployment, Resources((machine,))
