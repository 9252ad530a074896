"""In how many instances a run has each subquery: as many as are wanted, where it can be split."""

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
    """The plan of a run: what ``boxcars plan`` and the studio show is what the engine does.

    ``apart`` has the subqueries with another number of instances; one that can't have as many is
    an error.
    """
    plan = make_plan(checked, strategy, buckets, instances, grouped)
    if apart:
        usual = {subquery.name: instances for subquery in plan.subqueries}
        plan = make_plan(checked, strategy, buckets, usual | dict(apart), grouped)
    made = tuple(_placed(checked, subquery) for subquery in plan.subqueries)
    for subquery in made:
        wanted = apart.get(subquery.name, 1)
        if wanted > subquery.instances:
            why = subquery.whole or _least(subquery)
            raise Wrong(f"subquery '{subquery.name}' can't have {wanted} instances: {why}.")
    return replace(plan, subqueries=made)


def _placed(checked: Checked, subquery: Subquery) -> Subquery:
    if why := _whole(checked, subquery):
        return replace(subquery, instances=1, whole=why)
    wanted = subquery.instances
    if subquery.kind == "pairs":
        grid = Grid.of(subquery.buckets)
        wanted = next(n for n in range(wanted, 0, -1) if _tiles(grid, n))
    return replace(subquery, instances=wanted)


def _whole(checked: Checked, subquery: Subquery) -> str:
    """Why a subquery is one piece, if it is."""
    boxes = {name: node.box for name, node in checked.network.boxes.items()}
    if any(box.writes for box in boxes.values()):
        return "the network changes a stored table, so all of it runs in one place"
    if subquery.source is not None:
        return "an input is read by one task"
    if not has_state(checked):
        return "nothing is kept, so nothing is worth to be split"
    edges = (*subquery.inputs, *subquery.inside)
    if reasons := [edge.routing.why for edge in edges if edge.routing.kind == "single"]:
        return reasons[0]
    own = [boxes[name] for name in subquery.boxes]
    stuck = [box for box in own if isinstance(box, Stateful) and not box.spreads()]
    return f"{stuck[0].type} runs in one place" if stuck else ""


def _least(subquery: Subquery) -> str:
    if subquery.kind == "pairs":
        return f"its pairs are shared out in a grid, next below on {subquery.instances}"
    return f"it has {subquery.buckets} bucket{'s' * (subquery.buckets != 1)}"


def has_state(checked: Checked) -> bool:
    """Whether anything is worth to be split, and so tuples need ranks: not if nothing is kept."""
    return any(isinstance(node.box, Stateful) for node in checked.network.boxes.values())


def _tiles(grid: Grid, instances: int) -> bool:
    """Whether the grid can be cut into that many rectangles."""
    tiles = Grid.of(instances)
    return tiles.rows <= grid.rows and tiles.columns <= grid.columns
