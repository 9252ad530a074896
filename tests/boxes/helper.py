"""Helpers for the tests of boxes: a network of one input, and its output."""

from collections.abc import Callable, Mapping
from typing import Any

import boxcars as bx
from boxcars.model.stream import Stream

CALLS = {"time": "int", "caller": "str", "price": "float"}
Draw = Callable[[Stream], Stream]


def network(draw: Draw, fields: Mapping[str, str] = CALLS, ts: str = "time") -> bx.Network:
    """One input, the streams that ``draw`` makes of it, and an output for each."""
    net = bx.Network("n")
    drawn = draw(net.input("calls", ts=ts, fields=fields))
    for port, stream in enumerate(drawn):
        net.output(f"out{port}", stream)
    return net


def run(net: bx.Network, trains: int = 1, **sources: Any) -> list[list[dict[str, Any]]]:
    """The rows of every output."""
    return [table.to_pylist() for table in bx.preview(net, sources, trains=trains).values()]


def schema(net: bx.Network, output: str = "out0") -> str:
    """The schema of an output; ``*`` marks an order attribute, ``?`` one that is out of order."""
    checked = net.check().or_raise()
    return str(checked.schemas[checked.network.outputs[output].source])


def problems(net: bx.Network) -> list[str]:
    """The problems, without line numbers."""
    return [str(problem).partition(": ")[2] for problem in net.check().problems]
