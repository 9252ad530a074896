"""Readers of Spark DataFrames: Spark stages the rows as files, and the run reads those.

A streaming query has its own checkpoint. Each of its micro-batches becomes a folder of Parquet
files, written by Spark tasks, that appears atomically under the number of the batch. So both
checkpoints agree: a batch that Spark replays exists already and is skipped.

The partitions of a batch are unordered, so a batch is sorted by the order attribute of the input;
ties keep the order of their partitions.
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
from boxcars.connectors.read.base import Offset, Portion, Reader, take_files
from boxcars.connectors.read.file_reader import Heights
from boxcars.connectors.read.journal_batches import Batches
from boxcars.connectors.read.sources import Stream
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong, a
from boxcars.model.types import Type

_ROW = "__row"
"""Temporary column: partition and row index of a row, as a tie-breaker."""

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
"""Spark column types and their types here."""


class FrameReader(Reader):
    """Reads a Spark DataFrame, static or streaming, through files in the checkpoint."""

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

    def take(self, offset: Offset, rows: int) -> Portion:
        """Take the next rows that Spark has staged; the input ends when the stream has."""
        if not self._begun:
            self._begin()
        self._batches.take(offset.file)
        self._batches.verify(offset.file)
        ended = self._has_ended()
        portion = take_files(self._batches.files(offset.file), offset, rows, self._heights)
        at = portion.offset
        left = next(self._batches.files(at.file), None)
        return Portion(portion.splits, Offset(at.position, at.file, at.row, ended and left is None))

    def forget(self, offset: Offset) -> None:
        """Remove the files before an offset."""
        self._batches.remove(offset.file)

    def close(self) -> None:
        """Stop the stream after its current batch; its own checkpoint has the offset."""
        self._batches.close()
        if self._query is not None:
            self._query.stop()

    def _begin(self) -> None:
        self._begun = True
        if not self._frame.isStreaming:
            with _in_one_sentence():
                self._staging.stage(self._frame, 0)
            return
        with _in_one_sentence():
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
    """Stages the micro-batches of a stream as batches of files."""

    def __init__(self, home: Path, streaming: bool, entity: Input) -> None:
        self.batches = Batches(home)
        self.ledger = home.resolve() / "query"
        self._streaming, self._entity = streaming, entity

    def stage(self, frame: DataFrame, batch: int) -> None:
        """Write a batch, if it does not exist yet; block while too many are unread."""

        def fill(folder: Path) -> None:
            self._sorted(frame).write.parquet(folder.as_uri())
            _number_parts(folder)

        self.batches.add(batch, fill)

    def _sorted(self, frame: DataFrame) -> DataFrame:
        """Sort the rows: a micro-batch in one task, a static table in parallel."""
        order = [] if self._entity.stamped else [_order(self._entity)]
        numbered = frame.withColumn(_ROW, monotonically_increasing_id())
        if self._streaming:
            found = numbered.repartition(1).sortWithinPartitions(*order, _ROW)
        else:
            found = numbered.orderBy(*order, _ROW)
        return found.drop(_ROW)


def _number_parts(folder: Path) -> None:
    """Keep only the files that have rows, named by the number of their partition."""
    for number, path in enumerate(sorted(folder.glob("part-*.parquet"))):
        if pq.read_metadata(path).num_rows:
            path.rename(folder / f"{number:06d}.parquet")
    for path in folder.iterdir():
        if not path.stem.isdecimal():
            path.unlink()


def _check(frame: Any, entity: Input) -> None:
    """Raise if a column is missing or its type does not fit the input."""
    if not isinstance(frame, DataFrame):
        raise Wrong(f"expected a Spark DataFrame, got a {type(frame).__name__}.")
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
    """The order attribute, cast from text if needed."""
    name = {Type.INT: "bigint", Type.FLOAT: "double"}.get(entity.order_type, "timestamp")
    return expr(f"try_cast({_quoted(entity.ts)} AS {name})")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _trigger(text: str) -> dict[str, Any]:
    if text.replace(" ", "").replace("-", "").lower() == "availablenow":
        return {"availableNow": True}
    return {"processingTime": text}


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """Turn Spark's errors into one sentence."""
    try:
        yield
    except BoxcarsError:
        raise
    except Exception as error:
        raise _failed(error) from None


def _failed(error: Exception) -> BoxcarsError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return BoxcarsError(f"the Spark DataFrame failed: {first}")
