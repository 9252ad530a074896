"""What a preview gave, on the terminal."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from boxcars.connectors.files import write_table
from boxcars.engine.preview import Preview
from boxcars.model.problem import visible

_SHOWN = 20


def deliver(name: str, table: pa.Table, sink: str) -> None:
    """Write what came to an output to a file, or show the first of it."""
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
        typer.echo(f"... and {table.num_rows - _SHOWN:,} more; --sink {name}=FILE has them all")


def report_dead(result: Preview, path: Path | None) -> None:
    """Say what was lost, and write the dead letters to a file if there is one."""
    late = sum(box.late for box in result.stats.values())
    if path is not None:
        write_table(result.dead, path)
    if result.dead.num_rows:
        first = result.dead.slice(0, 1).to_pylist()[0]
        hint = "" if path else " --dead FILE keeps them."
        typer.echo(
            f"{result.dead.num_rows:,} dead letters, first at '{first['source']}': "
            f"{visible(first['reason'])}.{hint}",
            err=True,
        )
    if late:
        typer.echo(f"{late:,} tuples came too late and were dropped.", err=True)
