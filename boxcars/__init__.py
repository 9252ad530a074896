"""Boxcars: stream processing with boxes and arrows, on Spark.

>>> import boxcars as bx
>>> net = bx.Network("cheap-calls")
>>> calls = net.input("calls", ts="time", fields={"time": "int", "price": "float"})
>>> net.output("cheap", calls.filter("price < 1"))
>>> bx.preview(net, {"calls": {"time": [1, 2], "price": [0.5, 3.0]}})["cheap"].num_rows
1
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boxcars import boxes
from boxcars.connectors.formats import RecordFormat, converter
from boxcars.connectors.read.sources import ABORT, EOF, PAUSE, Aborted, files, rate, script, stream
from boxcars.connectors.write.sinks import callback, console
from boxcars.control.decisions import Controller, Decision, View
from boxcars.expr import Expr, function
from boxcars.kernels.aggregates.user import aggregate
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.user.operator import Operator, Setup
from boxcars.kernels.user.per_key import PerKey
from boxcars.lang.files import check_file, check_text, dumps, load, loads, save
from boxcars.model.box import Box, box_types
from boxcars.model.check import Checked
from boxcars.model.diff import diff
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, NetworkError, Problem
from boxcars.model.qos import Qos
from boxcars.model.schema import Schema
from boxcars.model.stream import Stream
from boxcars.model.superbox import use
from boxcars.model.types import Type
from boxcars.model.window import Window, landmark, runs, time, tuples, value

if TYPE_CHECKING:
    from boxcars.engine.preview import Preview, preview
    from boxcars.engine.run import Run
    from boxcars.engine.start import run
    from boxcars.engine.stats.run_stats import RunStats
    from boxcars.engine.status import Status
    from boxcars.service.client import Client, connect
    from boxcars.service.security import Access
    from boxcars.service.server import Server
    from boxcars.testing.split_invariance import check_cuts

_LATER = {
    "Access": "service.security",
    "Client": "service.client",
    "Preview": "engine.preview",
    "Run": "engine.run",
    "RunStats": "engine.stats.run_stats",
    "Server": "service.server",
    "Status": "engine.status",
    "check_cuts": "testing.split_invariance",
    "connect": "service.client",
    "preview": "engine.preview",
    "run": "engine.start",
}
"""Names that need the engine, Spark or the HTTP service, imported when they are first used."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"boxcars.{_LATER[name]}"), name)
    raise AttributeError(f"module 'boxcars' has no attribute '{name}'")


__all__ = [
    "ABORT",
    "EOF",
    "PAUSE",
    "Aborted",
    "Access",
    "Box",
    "BoxcarsError",
    "Checked",
    "Client",
    "Controller",
    "Decision",
    "Expr",
    "Frontier",
    "Network",
    "NetworkError",
    "Operator",
    "PerKey",
    "Preview",
    "Problem",
    "Qos",
    "RecordFormat",
    "Run",
    "RunStats",
    "Schema",
    "Server",
    "Setup",
    "State",
    "Status",
    "Stream",
    "Type",
    "View",
    "Window",
    "aggregate",
    "box_types",
    "boxes",
    "callback",
    "check_cuts",
    "check_file",
    "check_text",
    "connect",
    "console",
    "converter",
    "diff",
    "dumps",
    "files",
    "function",
    "landmark",
    "load",
    "loads",
    "preview",
    "rate",
    "run",
    "runs",
    "save",
    "script",
    "stream",
    "time",
    "tuples",
    "use",
    "value",
]
