"""The ends of a run: its sources and sinks, opened before the first epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from boxcars.connectors.read.base import Reader
from boxcars.connectors.read.open import open_source
from boxcars.connectors.read.sources import Files, Stream
from boxcars.connectors.systems.connector import Connector
from boxcars.connectors.systems.url import Url
from boxcars.connectors.write.base import Outlet
from boxcars.connectors.write.subscription import Tap
from boxcars.connectors.write.writers import OneFile, open_sink
from boxcars.engine.epoch.dead_letters import LETTERS, WHO, DeadLetters
from boxcars.engine.epoch.planner import Planner, naming
from boxcars.engine.exec.spark_reader import FrameReader
from boxcars.engine.exec.spark_writer import FrameWriter
from boxcars.engine.state.checkpoint import home_of
from boxcars.model.check import Checked
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import Schema


def check_names(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Complain about a name that nobody has."""
    for name in given:
        if name not in set(known):
            raise Wrong(f"there is no {kind} '{name}'.{nearest(name, known)}")


def open_sources(net: Network, sources: Mapping[str, Any], folder: Path) -> dict[str, Reader]:
    """The readers of all inputs."""
    readers = {}
    for name, entity in net.inputs.items():
        if name not in sources:
            raise Wrong(f"input '{name}' has no source: give it data.")
        with naming(name):
            home = home_of(folder, "inputs", name)
            readers[name] = _open_source(name, sources[name], home, entity)
    return readers


def _open_source(name: str, source: Any, home: Path, entity: Input) -> Reader:
    home.mkdir(parents=True, exist_ok=True)
    match source:
        case DataFrame():
            return FrameReader(Stream(source), home, entity)
        case Stream():
            return FrameReader(source, home, entity)
    return open_source(name, source, home, entity)


def open_sinks(
    checked: Checked,
    sinks: Mapping[str, Any],
    folder: Path,
    session: Callable[[], SparkSession],
) -> dict[str, Outlet]:
    """The outlets of the outputs that have a sink."""
    outlets: dict[str, Outlet] = {}
    for name, sink in sinks.items():
        schema = checked.schemas[checked.network.outputs[name].source]
        with naming(name, "output"):
            outlet = _open_sink(name, sink, home_of(folder, "outputs", name), schema, session)
            if any(outlet.target == other.target for other in outlets.values()):
                raise Wrong(f"{outlet.target}: another output is written there.")
        outlets[name] = outlet
    return outlets


def _open_sink(
    name: str, sink: Any, home: Path, schema: Schema, session: Callable[[], SparkSession]
) -> Outlet:
    if callable(sink):
        return FrameWriter(home, sink, session)
    return open_sink(name, sink, home, schema)


def open_dead(
    sink: Any,
    folder: Path,
    session: Callable[[], SparkSession],
    outlets: Mapping[str, Outlet],
    kept: bool,
) -> DeadLetters:
    """The sink of dead letters; without one they are in the checkpoint, if that is ``kept``."""
    if sink is None:
        outlet = Outlet(folder / "dead", folder / "dead")
        return DeadLetters(folder, outlet, str(outlet.target) if kept else "")
    earlier = folder / "dead"
    with naming(WHO, "sink"):
        outlet = _open_sink(WHO, sink, folder / "outputs" / "dead", LETTERS, session)
        if isinstance(outlet, Tap):
            raise Wrong("they can't be dequeued: give them a folder, a file or another address.")
        if any(outlet.target == other.target for other in outlets.values()):
            raise Wrong(f"{outlet.target}: an output is written there.")
    where = _where(sink, outlet)
    if where and any(earlier.glob("part-*")):
        where = f"{earlier} and {where}"
    return DeadLetters(folder, outlet, where)


def _where(sink: Any, outlet: Outlet) -> str:
    """Where people find what is written to a sink; an address has no secrets in it."""
    match sink:
        case str() if "://" in sink:
            return str(Url.parse(sink))
        case Connector():
            return str(sink.url)
        case str() | Path() | Files():
            return "their sink" if sink == "-" else str(outlet.target)
    return "their sink"


def check_folders(outlets: Mapping[str, Outlet]) -> None:
    """A run that begins does not write among the parts of another one."""
    for name, outlet in outlets.items():
        if outlet.folder == outlet.target and any(outlet.target.glob("part-*")):
            raise Wrong(
                f"output '{name}': {outlet.target} has parts of another run: give it another "
                "folder, or remove them. A run goes on with its own parts from its checkpoint."
            )


def check_ends(planner: Planner, outlets: Mapping[str, Outlet]) -> None:
    """One file is written when the run has finished, so the run must be able to finish."""
    for name, outlet in outlets.items():
        if planner.endless and isinstance(outlet, OneFile):
            raise Wrong(
                f"output '{name}': input '{planner.endless[0]}' never ends, so it can't become one "
                f"file: give it a folder, such as {outlet.target.with_suffix('')}/."
            )
