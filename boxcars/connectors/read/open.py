"""Open the reader of a source that the user gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxcars.connectors.files import list_parts
from boxcars.connectors.read.base import Reader
from boxcars.connectors.read.file_reader import FILES, FileLog, FollowedFiles, ListedFiles
from boxcars.connectors.read.journal import JournalReader
from boxcars.connectors.read.materialize import store_data
from boxcars.connectors.read.rate import RateReader
from boxcars.connectors.read.script import ScriptReader
from boxcars.connectors.read.sources import Files, Rate, Script, source_of
from boxcars.connectors.systems.connector import Connector
from boxcars.connectors.within import check_within
from boxcars.model.entities import Input


def open_source(name: str, source: Any, home: Path, entity: Input) -> Reader:
    """Open the reader of a source; ``home`` is its folder in the checkpoint."""
    if isinstance(source, str | Path):
        source = source_of(str(source))
    match source:
        case Connector():
            return JournalReader(name, source, home, entity)
        case Files():
            return _open_files(source, home, entity)
        case Rate():
            return RateReader(source, entity)
        case Script():
            return ScriptReader(source, home, entity)
    return ListedFiles([store_data(source, home / "data.arrow")], entity)


def _open_files(source: Files, home: Path, entity: Input) -> Reader:
    """The reader of files: as listed at the first start of the run, or followed."""
    log = FileLog(home / FILES)
    if source.follow:
        return FollowedFiles(source.where, log, entity, source.within)
    if not log.entries:
        log.add([str(path.resolve()) for path in list_parts(source.where)])
    paths = [Path(name) for _, name in log.entries]
    if source.within is not None:
        check_within(paths, source.within)
    return ListedFiles(paths, entity, log)
