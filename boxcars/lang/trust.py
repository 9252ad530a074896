"""Code in network files: decides whether it may run, for every language and front end.

Some boxes name Python code, which is imported when they are checked or run; stored Polars
expressions contain code. In a file that may not run code both remain uninterpreted text.
"""

from __future__ import annotations

from dataclasses import replace

from boxcars.expr.stored import code_in, vouch_for
from boxcars.model.flatten import flatten
from boxcars.model.problem import Problem
from boxcars.model.reader import Reading

_ALLOW = "allow that with --allow-code, or in Python with code=True, if you trust it."
_NAMED = "this box runs Python code: "
_MODULES = "these modules are Python code: "
_STORED = "this is a stored Polars expression, which can run code: write it in SQL, or "


def judged(reading: Reading, code: bool, way_out: str = _ALLOW) -> Reading:
    """Permit the code of a reading to run, or add a problem for each part that has code."""
    if not code:
        return without_code(reading, way_out)
    vouch_for(reading.network)
    return reading


def without_code(reading: Reading, way_out: str = _ALLOW) -> Reading:
    """Add a problem for each box that has code; such boxes are not checked any further."""
    flat = flatten(reading.network, reading.broken)
    refused = {
        name: [
            Problem(_NAMED if part == (box.code,) else _STORED, (*path, *part))
            for part in code_in(box)
        ]
        for name, path in flat.origins.items()
        for box in [flat.network.boxes[name].box]
    }
    modules = [Problem(_MODULES + way_out, ("modules",))] if reading.network.modules else []
    found = [problem for problems in refused.values() for problem in problems]
    messages = [replace(problem, message=problem.message + way_out) for problem in found]
    broken = {name for name, problems in refused.items() if problems}
    problems = [*modules, *reading.problems, *messages]
    return replace(reading, problems=problems, broken=reading.broken | broken)
