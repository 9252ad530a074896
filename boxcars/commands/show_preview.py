"""Print the results of a preview, or write them to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from boxcars.connectors.files import write_table
from boxcars.model.problem import number_of, visible

if TYPE_CHECKING:
    from boxcars.engine.preview import Preview

_SHOWN = 20
"""Rows per output that are printed."""


def deliver(name: str, table: pa.Table, sink: str) -> None:
    """Write the rows of an output to a file, or print the first of them."""
    if sink != "-":
        write_table(table, sink)
        return
    typer.echo(f"{name}: {table.num_rows:,} tuples")
    shown = Table()
    for column in table.column_names:
        shown.add_column(column)
    for row in table.slice(0, _SHOWN).to_pylist():
        shown.add_row(*(visible(str(value)) for value in row.values()))
    Console(markup=False, emoji=False, highlight=False).print(shown)
    if table.num_rows > _SHOWN:
        typer.echo(f"... and {table.num_rows - _SHOWN:,} more; --sink {name}=FILE writes them all")


def report_dead(result: Preview, path: Path | None) -> None:
    """Report dead letters and late tuples; write dead letters to ``path`` if there is one."""
    late = sum(box.late for box in result.stats.values())
    if path is not None:
        write_table(result.dead, path)
    if result.dead.num_rows:
        first = result.dead.slice(0, 1).to_pylist()[0]
        hint = "" if path else " Use --dead FILE to keep them."
        typer.echo(
            f"{number_of(result.dead.num_rows, 'dead letter')}, first at '{first['source']}': "
            f"{visible(first['reason'])}.{hint}",
            err=True,
        )
    if late:
        were = "was" if late == 1 else "were"
        typer.echo(f"{number_of(late, 'tuple')} arrived too late and {were} dropped.", err=True)
