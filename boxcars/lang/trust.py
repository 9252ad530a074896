"""Code in network files: whether it may run is decided here, for every language and front end.

Some boxes name Python code, and to check or run them is to import it; stored Polars expressions
bring code with them. A file that may not run code keeps both as texts that nobody looks into.
"""

from __future__ import annotations

from dataclasses import replace

from boxcars.expr.stored import code_in, vouch_for
from boxcars.model.problem import Problem
from boxcars.model.serialize import Reading
from boxcars.model.superbox import flatten

_ALLOW = "allow that with --allow-code, or in Python with code=True, if you trust it."
_NAMED = "this box runs Python code: "
_MODULES = "these modules are Python code: "
_STORED = "this is a stored Polars expression, which can run code: write it in SQL, or "


def judged(reading: Reading, code: bool, way_out: str = _ALLOW) -> Reading:
    """What was read, with leave to run its code, or with a problem for each place that has some."""
    if not code:
        return without_code(reading, way_out)
    vouch_for(reading.network)
    return reading


def without_code(reading: Reading, way_out: str = _ALLOW) -> Reading:
    """The same, with a problem for each box that has code: such boxes are not looked into."""
    flat = flatten(reading.network, reading.broken)
    refused = {
        name: [
            Problem(_NAMED if place == (box.code,) else _STORED, (*path, *place))
            for place in code_in(box)
        ]
        for name, path in flat.origins.items()
        for box in [flat.network.boxes[name].box]
    }
    modules = [Problem(_MODULES + way_out, ("modules",))] if reading.network.modules else []
    found = [problem for problems in refused.values() for problem in problems]
    told = [replace(problem, message=problem.message + way_out) for problem in found]
    broken = {name for name, problems in refused.items() if problems}
    problems = [*modules, *reading.problems, *told]
    return replace(reading, problems=problems, broken=reading.broken | broken)
