"""Readers of Spark DataFrames: Spark writes what it finds to files, and a run reads those.

A streaming DataFrame keeps its own ledger of what it has read. Each of its micro-batches becomes a
folder of Parquet files, written by the tasks of Spark, that appears at once under the number of the
batch. So both ledgers agree: a batch that Spark repeats is there already.

The partitions of a batch have no order among them, so a batch is put in the order of the input;
equal rows are in the order of their partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import expr, monotonically_increasing_id
from pyspark.sql.streaming.query import StreamingQuery

from boxcars.connectors.conform import conform
from boxcars.connectors.read.base import Place, Portion, Reader, take_files
from boxcars.connectors.read.file_reader import Heights
from boxcars.connectors.read.journal_batches import Batches
from boxcars.connectors.read.sources import Stream
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong, a
from boxcars.model.types import Type

_PLACE = "__place"
"""A column for the place of a row in its partition and batch."""

_TYPES = {
    "string": Type.STR,
    "varchar": Type.STR,
    "char": Type.STR,
    "tinyint": Type.INT,
    "smallint": Type.INT,
    "int": Type.INT,
    "bigint": Type.INT,
    "float": Type.FLOAT,
    "double": Type.FLOAT,
    "decimal": Type.FLOAT,
    "boolean": Type.BOOL,
    "timestamp": Type.TIMESTAMP,
    "timestamp_ntz": Type.TIMESTAMP,
    "date": Type.TIMESTAMP,
    "binary": Type.BYTES,
}
"""What the columns of Spark are here."""


class FrameReader(Reader):
    """A DataFrame of Spark, streaming or not, by way of files under the checkpoint."""

    def __init__(self, stream: Stream, home: Path, entity: Input) -> None:
        _check(stream.frame, entity)
        self._trigger = _trigger(stream.trigger)
        self.endless = stream.frame.isStreaming and "availableNow" not in self._trigger
        self._frame = stream.frame.select(*(_quoted(name) for name in entity.fields))
        self._staging = _Staging(home, stream.frame.isStreaming, entity)
        self._batches = self._staging.batches
        self._heights = Heights(entity)
        self._query: StreamingQuery | None = None
        self._begun = False

    def take(self, place: Place, rows: int) -> Portion:
        """The next rows that Spark has written; it ends when the stream has."""
        if not self._begun:
            self._begin()
        self._batches.take(place.file)
        ended = self._has_ended()
        portion = take_files(self._batches.files(place.file), place, rows, self._heights)
        at = portion.place
        left = next(self._batches.files(at.file), None)
        return Portion(portion.splits, Place(at.position, at.file, at.row, ended and left is None))

    def forget(self, place: Place) -> None:
        """Remove the files before a place."""
        self._batches.remove(place.file)

    def close(self) -> None:
        """Stop the stream, behind the batch it is writing; its own checkpoint knows where."""
        self._batches.close()
        if self._query is not None:
            self._query.stop()

    def _begin(self) -> None:
        self._begun = True
        if not self._frame.isStreaming:
            with _speaking():
                self._staging.stage(self._frame, 0)
            return
        with _speaking():
            self._query = (
                self._frame.writeStream.trigger(**self._trigger)
                .option("checkpointLocation", self._staging.ledger.as_uri())
                .foreachBatch(self._staging.stage)
                .start()
            )

    def _has_ended(self) -> bool:
        if self._query is None:
            return True
        if self._query.isActive:
            return False
        error = self._query.exception()
        if error is not None:
            raise _failed(error)
        return True


class _Staging:
    """Writes the micro-batches of a stream as batches of files."""

    def __init__(self, home: Path, streaming: bool, entity: Input) -> None:
        self.batches = Batches(home)
        self.ledger = home.resolve() / "query"
        self._streaming, self._entity = streaming, entity

    def stage(self, frame: DataFrame, batch: int) -> None:
        """Write a batch, once, unless too many wait to be read."""

        def fill(folder: Path) -> None:
            self._sorted(frame).write.parquet(folder.as_uri())
            _number_parts(folder)

        self.batches.add(batch, fill)

    def _sorted(self, frame: DataFrame) -> DataFrame:
        """In order, a batch in one task, a whole table in many."""
        order = _order(self._entity)
        placed = frame.withColumn(_PLACE, monotonically_increasing_id())
        if self._streaming:
            found = placed.repartition(1).sortWithinPartitions(order, _PLACE)
        else:
            found = placed.orderBy(order, _PLACE)
        return found.drop(_PLACE)


def _number_parts(folder: Path) -> None:
    """Leave only the files that have rows, named by the partitions that they come from."""
    for number, path in enumerate(sorted(folder.glob("part-*.parquet"))):
        if pq.read_metadata(path).num_rows:
            path.rename(folder / f"{number:06d}.parquet")
    for path in folder.iterdir():
        if not path.stem.isdecimal():
            path.unlink()


def _check(frame: Any, entity: Input) -> None:
    """Complain about columns that are not there or can't be what the input says."""
    if not isinstance(frame, DataFrame):
        raise Wrong(f"expected a DataFrame of Spark, got a {type(frame).__name__}.")
    columns: dict[str, pl.DataType] = {}
    for field in frame.schema:
        words = field.dataType.simpleString()
        found = _TYPES.get(words.partition("(")[0])
        if found is None and field.name in entity.fields:
            expected = a(entity.fields[field.name])
            raise Wrong(f"field '{field.name}' is {words} in the data, expected {expected}.")
        columns[field.name] = (found or Type.UNKNOWN).dtype
    conform(pl.DataFrame(schema=columns), entity)


def _order(entity: Input) -> Column:
    """The order attribute, also where it is a text in the data."""
    name = {Type.INT: "bigint", Type.FLOAT: "double"}.get(entity.fields[entity.ts], "timestamp")
    return expr(f"try_cast({_quoted(entity.ts)} AS {name})")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _trigger(text: str) -> dict[str, Any]:
    if text.replace(" ", "").replace("-", "").lower() == "availablenow":
        return {"availableNow": True}
    return {"processingTime": text}


@contextmanager
def _speaking() -> Iterator[None]:
    """Say in a sentence what Spark complains about."""
    try:
        yield
    except BoxcarsError:
        raise
    except Exception as error:
        raise _failed(error) from None


def _failed(error: Exception) -> BoxcarsError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return BoxcarsError(f"the DataFrame of Spark failed: {first}")
