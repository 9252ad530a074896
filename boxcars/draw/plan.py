"""Drawings of plans: as text with costs, and as a picture with a frame for each subquery."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from boxcars.draw.frames import Frame, Link, to_framed_mermaid, to_framed_svg
from boxcars.draw.picture import output_key, picture_of
from boxcars.model.arc import MAIN
from boxcars.model.check import Checked
from boxcars.model.routing import Routing
from boxcars.plan.cost import compare
from boxcars.plan.subquery import Edge, Plan, Subquery


def plan_text(plan: Plan, checked: Checked) -> str:
    """Write the levels with their subqueries, the routing of each arc, and the costs."""
    counts = f"{_count(len(plan.subqueries), 'subquery', 'subqueries')}, "
    counts += _count(len(plan.levels), "level", "levels")
    lines = [f"{plan.network} by {plan.strategy}: {counts}"]
    width = max(len(subquery.name) for subquery in plan.subqueries) + 2
    for number, names in enumerate(plan.levels):
        lines += ["", f"level {number}"]
        for name in names:
            words = _subquery_lines(plan[name], checked)
            heads = [name, *[""] * (len(words) - 1)]
            lines += [f"  {h:<{width}}{w}" for h, w in zip(heads, words, strict=True)]
    return "\n".join([*lines, "", *_cost_lines(plan, checked)]) + "\n"


def _subquery_lines(subquery: Subquery, checked: Checked) -> list[str]:
    boxes = checked.network.boxes
    lines = [f"reads the input {subquery.source}"] if subquery.source is not None else []
    edges = [(f"{f.arc} → {f.consumer}", _words(f)) for f in subquery.inputs]
    room = max((len(arc) for arc, _ in edges), default=0)
    lines += [f"{arc.ljust(room)}  {words}" for arc, words in edges]
    if subquery.boxes:
        lines.append("runs " + "  ".join(f"{boxes[b].box.icon} {b}" for b in subquery.boxes))
    lines.append(_size(subquery))
    if subquery.one_piece_reason and subquery.kind not in ("prefix", "single"):
        lines.append(f"one piece: {subquery.one_piece_reason}")
    if subquery.splittable:
        lines.append(f"{subquery.entry} is computed in part before the shuffle")
    return lines


def _size(subquery: Subquery) -> str:
    instances = _count(subquery.instances, "instance", "instances")
    if subquery.source is not None:
        return instances
    return f"{_count(subquery.buckets, 'bucket', 'buckets')} on {instances}"


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _words(edge: Edge) -> str:
    """Describe the routing of an edge; for pairs, the left side are the rows of the grid."""
    if edge.routing.kind != "pairs":
        return str(edge.routing)
    return f"pairs, {('rows', 'columns')[edge.port % 2]} by {', '.join(edge.routing.fields)}"


def _cost_lines(plan: Plan, checked: Checked) -> list[str]:
    """Write a table of the strategies' costs, with the one of this plan marked."""
    sizes = [subquery.instances for subquery in plan.subqueries if subquery.boxes]
    total = max(sizes, default=1) if plan.strategy == "query-cloud" else max(sum(sizes), 1)
    heads = ["subclusters", "of", "fan-out", "hops", "cost", "channels"]
    cells = [["", *heads]]
    for cost in compare(checked, total):
        numbers = (cost.subclusters, cost.size, cost.fanout, cost.hops, cost.total(), cost.channels)
        cells.append([cost.strategy, *(f"{round(number, 1):g}" for number in numbers)])
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = [f"cost on {_count(total, 'instance', 'instances')} in all (fan-out + hops)"]
    for row in cells:
        right = "  ".join(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))
        mark = "* " if row[0] == plan.strategy else "  "
        lines.append(f"{mark}{row[0]:<{widths[0]}}  {right}".rstrip())
    return lines


def plan_svg(plan: Plan, checked: Checked) -> str:
    """Draw a plan as SVG: a frame for each subquery, a column for each level."""
    return to_framed_svg(picture_of(checked.network), _frames(plan, checked), _links(plan, checked))


def plan_mermaid(plan: Plan, checked: Checked) -> str:
    """Write a plan as Mermaid, with a subgraph for each subquery."""
    net = checked.network
    return to_framed_mermaid(picture_of(net), _frames(plan, checked), _links(plan, checked))


def _frames(plan: Plan, checked: Checked) -> list[Frame]:
    """Return a frame for each subquery, with its boxes, its input and its outputs."""
    frames = []
    for subquery in plan.subqueries:
        items = ((subquery.source,) if subquery.source is not None else ()) + subquery.boxes
        outputs = tuple(
            output_key(name)
            for name, output in sorted(checked.network.outputs.items())
            if plan.home[output.source.source] == subquery.name
        )
        frames.append(Frame(subquery.name, subquery.name, _size(subquery), items + outputs))
    return frames


def _links(plan: Plan, checked: Checked) -> list[Link]:
    links = []
    for edge in (edge for subquery in plan.subqueries for edge in subquery.inputs):
        node = checked.network.boxes.get(edge.arc.source)
        several = edge.arc.port != MAIN or (node is not None and len(node.box.ports) > 1)
        label = edge.arc.port if several else ""
        words = _BRIEF[edge.routing.kind](edge.routing, edge.port)
        tooltip = f"{_words(edge)}; {checked.schemas[edge.arc]}"
        links.append(Link(edge.arc.source, edge.consumer, edge.port, label, words, tooltip))
    return links


_BRIEF: Mapping[str, Callable[[Routing, int], str]] = {
    "any": lambda _routing, _port: "anywhere",
    "key": lambda routing, _port: str(routing),
    "pairs": lambda routing, port: (
        f"{('rows', 'columns')[port % 2]} by {', '.join(routing.fields)}"
    ),
    "single": lambda _routing, _port: "one bucket",
}

PLAN_FORMATS: Mapping[str, Callable[[Plan, Checked], str]] = {
    "text": plan_text,
    "svg": plan_svg,
    "mermaid": plan_mermaid,
}
