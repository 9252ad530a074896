"""Sources and sinks of a run, opened before the first epoch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from boxcars.connectors.read.base import Reader
from boxcars.connectors.read.open import open_source
from boxcars.connectors.read.sources import Files, Stream
from boxcars.connectors.systems.connector import Connector
from boxcars.connectors.systems.url import Url
from boxcars.connectors.write.base import SinkWriter
from boxcars.connectors.write.folder import FolderWriter
from boxcars.connectors.write.subscription import RetainedOutput
from boxcars.connectors.write.writers import FileWriter, open_sink
from boxcars.engine.epoch.dead_letters import LETTERS, SINK_NAME, DeadLetters
from boxcars.engine.epoch.planner import Planner, error_context
from boxcars.engine.exec.spark_reader import FrameReader
from boxcars.engine.exec.spark_writer import FrameWriter
from boxcars.engine.state.checkpoint import home_of
from boxcars.model.check import Checked
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import Schema

_log = logging.getLogger("boxcars.run")


def check_names(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise if a given name is unknown."""
    for name in given:
        if name not in set(known):
            raise Wrong(f"there is no {kind} '{name}'.{nearest(name, known)}")


def open_sources(net: Network, sources: Mapping[str, Any], folder: Path) -> dict[str, Reader]:
    """Open the readers of all inputs."""
    readers = {}
    for name, entity in net.inputs.items():
        if name not in sources:
            raise Wrong(f"input '{name}' has no source: give it data.")
        with error_context(name):
            home = home_of(folder, "inputs", name)
            readers[name] = _open_source(name, sources[name], home, entity)
        if entity.clock == "wall" and not readers[name].endless:
            _log.warning("input '%s': its source is finite, so clock: wall has no effect.", name)
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
) -> dict[str, SinkWriter]:
    """Open the writers of the outputs that have a sink."""
    writers: dict[str, SinkWriter] = {}
    for name, sink in sinks.items():
        schema = checked.schemas[checked.network.outputs[name].source]
        with error_context(name, "output"):
            writer = _open_sink(name, sink, home_of(folder, "outputs", name), schema, session)
            if any(writer.target == other.target for other in writers.values()):
                raise Wrong(f"{writer.target}: another output already writes there.")
        writers[name] = writer
    return writers


def _open_sink(
    name: str, sink: Any, home: Path, schema: Schema, session: Callable[[], SparkSession]
) -> SinkWriter:
    if callable(sink):
        return FrameWriter(home, sink, session)
    return open_sink(name, sink, home, schema)


def open_dead(
    sink: Any,
    folder: Path,
    session: Callable[[], SparkSession],
    writers: Mapping[str, SinkWriter],
    persistent: bool,
) -> DeadLetters:
    """Open the sink of dead letters: by default a folder of a ``persistent`` checkpoint."""
    if sink is None:
        writer: SinkWriter = FolderWriter(folder / "dead")
        return DeadLetters(folder, writer, str(writer.target) if persistent else "")
    earlier = folder / "dead"
    with error_context(SINK_NAME, "sink"):
        writer = _open_sink(SINK_NAME, sink, folder / "outputs" / "dead", LETTERS, session)
        if isinstance(writer, RetainedOutput):
            raise Wrong("dequeue:// is not supported: use a folder, a file or another address.")
        if any(writer.target == other.target for other in writers.values()):
            raise Wrong(f"{writer.target}: an output already writes there.")
    where = _where(sink, writer)
    if where and any(earlier.glob("part-*")):
        where = f"{earlier} and {where}"
    return DeadLetters(folder, writer, where)


def _where(sink: Any, writer: SinkWriter) -> str:
    """The location of a sink for messages; the secrets of an address are left out."""
    match sink:
        case str() if "://" in sink:
            return str(Url.parse(sink))
        case Connector():
            return str(sink.url)
        case str() | Path() | Files():
            return "their sink" if sink == "-" else str(writer.target)
    return "their sink"


def check_folders_are_new(writers: Mapping[str, SinkWriter]) -> None:
    """Raise if a new run would write among the parts of another one."""
    for name, writer in writers.items():
        if isinstance(writer, FolderWriter) and any(writer.target.glob("part-*")):
            raise Wrong(
                f"output '{name}': {writer.target} has parts of another run: use another "
                "folder, or remove them. To resume that run, give its checkpoint."
            )


def check_sinks_can_finish(planner: Planner, writers: Mapping[str, SinkWriter]) -> None:
    """Raise if a single file, which is written at the end of a run, has an unbounded input."""
    for name, writer in writers.items():
        if planner.endless and isinstance(writer, FileWriter):
            raise Wrong(
                f"output '{name}': input '{planner.endless[0]}' is unbounded, so a single file "
                f"would never be written: use a folder, such as {writer.target.with_suffix('')}/."
            )
