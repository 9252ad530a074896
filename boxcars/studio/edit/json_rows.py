"""Convert tuples to JSON rows, and back."""

from __future__ import annotations

import base64
import io
import json
from datetime import date, datetime
from math import isfinite, isnan
from typing import Any

import polars as pl

from boxcars.connectors.conform import Conformed, conform
from boxcars.connectors.files import append_rows
from boxcars.connectors.formats import make_format
from boxcars.model.entities import Input, Table
from boxcars.model.schema import HIDDEN
from boxcars.studio.wire.messages import Row
from boxcars.studio.wire.run_messages import InputData


def plain_rows(frame: pl.DataFrame) -> list[Row]:
    """Return the rows of a frame as JSON values, without system columns.

    >>> plain_rows(pl.DataFrame({"t": [datetime(2026, 1, 1)], "x": [float("nan")], "__p": [1]}))
    [{'t': '2026-01-01T00:00:00Z', 'x': 'NaN'}]
    """
    names = [name for name in frame.columns if not name.startswith(HIDDEN)]
    rows = frame.select(names).iter_rows(named=True)
    return [{name: plain_value(value) for name, value in row.items()} for row in rows]


def plain_value(value: Any) -> Any:
    """Convert a value to JSON, as the format ``jsonl`` writes it."""
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {name: plain_value(item) for name, item in value.items()}
    if isinstance(value, date) or not isinstance(value, bool | int | float | str | None):
        return str(value)
    return value


def csv_text(frame: pl.DataFrame) -> str:
    """Write a frame as CSV with a header."""
    found = io.BytesIO()
    append_rows(frame, "csv", found, head=True)
    return found.getvalue().decode()


def read_data(data: InputData, entity: Input | Table) -> Conformed:
    """Read the tuples in a request for an input or a table."""
    if data.format == "rows":
        return from_rows(data.rows, entity)
    return from_text(data.text, data.format, entity)


def from_rows(rows: list[Row], entity: Input | Table) -> Conformed:
    """Convert JSON rows to tuples; rows that do not fit are dead letters."""
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return from_text(lines, "jsonl", entity)


def from_text(text: str, format: str, entity: Input | Table) -> Conformed:
    """Parse CSV with a header, or JSON lines, to tuples."""
    options = {"header": True, "breaks": True} if format == "csv" else {}
    data = pl.Series("data", [text.encode("utf-8", "replace")], dtype=pl.Binary)
    decoded = make_format(format, entity.fields, options).decode(data)
    fitting = conform(decoded.tuples, entity)
    return Conformed(fitting.tuples, pl.concat([decoded.dead.drop("origin"), fitting.dead]))
