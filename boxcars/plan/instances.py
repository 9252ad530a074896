"""The number of instances of each subquery in a run: the requested one, if it can be split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from boxcars.kernels.contract import Stateful
from boxcars.model.check import Checked
from boxcars.model.problem import Wrong
from boxcars.plan.planner import make_plan
from boxcars.plan.registry import Grid
from boxcars.plan.subquery import Plan, Strategy, Subquery

_NOTHING: Mapping[str, int] = {}


def plan_run(
    checked: Checked,
    strategy: Strategy,
    buckets: int,
    instances: int,
    apart: Mapping[str, int] = _NOTHING,
    grouped: bool = False,
) -> Plan:
    """Make the plan that a run follows; ``boxcars plan`` and the studio show the same plan.

    ``apart`` sets the number of instances of single subqueries; a number that is not possible is
    an error.
    """
    plan = make_plan(checked, strategy, buckets, instances, grouped)
    if apart:
        usual = {subquery.name: instances for subquery in plan.subqueries}
        plan = make_plan(checked, strategy, buckets, usual | dict(apart), grouped)
    made = tuple(_set_instances(checked, subquery) for subquery in plan.subqueries)
    for subquery in made:
        wanted = apart.get(subquery.name, 1)
        if wanted > subquery.instances:
            why = subquery.one_piece_reason or _limit(subquery)
            raise Wrong(f"subquery '{subquery.name}' can't have {wanted} instances: {why}.")
    return replace(plan, subqueries=made)


def _set_instances(checked: Checked, subquery: Subquery) -> Subquery:
    if why := _one_piece_reason(checked, subquery):
        return replace(subquery, instances=1, one_piece_reason=why)
    wanted = subquery.instances
    if subquery.kind == "pairs":
        grid = Grid.of(subquery.buckets)
        wanted = next(n for n in range(wanted, 0, -1) if _tiles(grid, n))
    return replace(subquery, instances=wanted)


def _one_piece_reason(checked: Checked, subquery: Subquery) -> str:
    """The reason why a subquery runs as one piece, or an empty text if it can be split."""
    boxes = {name: node.box for name, node in checked.network.boxes.items()}
    if any(box.writes for box in boxes.values()):
        return "the network writes a stored table, so all of it runs on one instance"
    if subquery.source is not None:
        return "an input is read by one task"
    if not has_state(checked):
        return "no box of the network has state, so splitting it would gain nothing"
    edges = (*subquery.inputs, *subquery.inside)
    if reasons := [edge.routing.why for edge in edges if edge.routing.kind == "single"]:
        return reasons[0]
    own = [boxes[name] for name in subquery.boxes]
    single = [box for box in own if isinstance(box, Stateful) and not box.spreads()]
    return f"{single[0].type} runs on one instance" if single else ""


def _limit(subquery: Subquery) -> str:
    if subquery.kind == "pairs":
        return f"its pairs form a grid; the next lower number is {subquery.instances}"
    return f"it has {subquery.buckets} bucket{'s' * (subquery.buckets != 1)}"


def has_state(checked: Checked) -> bool:
    """Whether any box has state; only then subqueries are split, and tuples need ranks."""
    return any(isinstance(node.box, Stateful) for node in checked.network.boxes.values())


def _tiles(grid: Grid, instances: int) -> bool:
    """Whether the grid can be cut into that many rectangles."""
    tiles = Grid.of(instances)
    return tiles.rows <= grid.rows and tiles.columns <= grid.columns
