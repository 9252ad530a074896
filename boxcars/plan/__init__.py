"""The plan: a checked network as subqueries, levels, buckets and instances, without Spark."""

from boxcars.plan.instances import plan_run
from boxcars.plan.planner import make_plan
from boxcars.plan.registry import Grid, Registry
from boxcars.plan.subquery import STRATEGIES, Edge, Plan, Strategy, Subquery

__all__ = [
    "STRATEGIES",
    "Edge",
    "Grid",
    "Plan",
    "Registry",
    "Strategy",
    "Subquery",
    "make_plan",
    "plan_run",
]
