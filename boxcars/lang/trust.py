"""Code in network files: some boxes name Python code, and to check or run them is to import it."""

from __future__ import annotations

from dataclasses import replace

from boxcars.model.plain import Reading
from boxcars.model.problem import Problem
from boxcars.model.superbox import flatten

_ALLOW = "allow that with --allow-code, or in Python with code=True, if you trust it."


def without_code(reading: Reading, way_out: str = _ALLOW) -> Reading:
    """The same, with a problem for each box that names code: such boxes are not looked into."""
    flat = flatten(reading.network, reading.broken)
    refused = {
        name: Problem(f"this box runs Python code: {way_out}", (*path, key))
        for name, path in flat.origins.items()
        if (key := flat.network.boxes[name].box.code)
    }
    problems = [*reading.problems, *refused.values()]
    return replace(reading, problems=problems, broken=reading.broken | refused.keys())
