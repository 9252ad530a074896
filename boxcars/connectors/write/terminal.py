"""The terminal as a sink: a table for each epoch, or a JSON object for each row on a pipe."""

from __future__ import annotations

import io
import sys

import polars as pl
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from boxcars.connectors.files import append_rows
from boxcars.model.problem import visible

_SHOWN = 100
"""Maximum rows of an epoch that are shown on a terminal."""


def print_rows(name: str, table: pa.Table) -> None:
    """Print rows: the first ones as a table on a terminal, all as JSON lines on a pipe."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    if not sys.stdout.isatty():
        lines = io.BytesIO()
        append_rows(frame, "jsonl", lines, head=False)
        sys.stdout.write(lines.getvalue().decode())
        sys.stdout.flush()
        return
    shown = Table(*frame.columns, title=name, title_justify="left")
    for row in frame.head(_SHOWN).iter_rows():
        shown.add_row(*(visible(str(value)) for value in row))
    terminal = Console(markup=False, emoji=False, highlight=False)
    terminal.print(shown)
    if frame.height > _SHOWN:
        terminal.print(f"... and {frame.height - _SHOWN:,} more")
