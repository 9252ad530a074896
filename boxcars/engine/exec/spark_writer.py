"""A sink that calls a user's function with the rows of each epoch as a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from boxcars.connectors.write.merge_parts import read_part
from boxcars.connectors.write.writers import CallbackWriter

Sink = Callable[[DataFrame, int], Any]
"""A function of the rows and the number of an epoch."""


class FrameWriter(CallbackWriter):
    """Calls a function with the rows of each epoch as a DataFrame over its part files."""

    def __init__(self, home: Path, sink: Sink, session: Callable[[], SparkSession]) -> None:
        super().__init__(home, lambda parts, epoch: sink(_frame(session(), parts), epoch))


def _frame(spark: SparkSession, parts: list[Path]) -> DataFrame:
    schema = from_arrow_schema(read_part(parts[0]).schema, prefer_timestamp_ntz=True)
    return spark.read.schema(schema).parquet(*(part.resolve().as_uri() for part in parts))
