"""``boxcars apps``: the applications, and a run of one of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from boxcars.apps import apps, find_app
from boxcars.model.problem import Wrong


def apps_command(
    name: Annotated[
        str | None, typer.Argument(help="Which one to run; without a name they are listed.")
    ] = None,
    rows: Annotated[int, typer.Option(help="How many tuples are generated.", min=1)] = 1_000_000,
    rate: Annotated[
        float | None,
        typer.Option(help="Tuples a second, while it runs; else all are made before.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives other data.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="A new folder that keeps the network, the data and the results."),
    ] = None,
    instances: Annotated[
        int | None, typer.Option(help="In how many places a subquery runs; else one for a core.")
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="The Spark cluster; without it, this machine.")
    ] = None,
) -> None:
    """List the applications of the papers, or run one over data with planted cases.

    The exit code is 1 if a case was missed or something else was reported.
    """
    console = Console(highlight=False)
    if name is None:
        _list(console)
        return
    from boxcars.apps.show import run_app

    app = find_app(name)
    if out is not None and out.exists() and any(out.iterdir()):
        raise Wrong(f"{out}: the folder is not empty; give a new one.")
    with ExitStack() as closing:
        folder = out or Path(closing.enter_context(TemporaryDirectory(prefix="boxcars-app-")))
        folder.mkdir(parents=True, exist_ok=True)
        console.print(f"[bold]{app.name}[/bold]: {app.sentence}\n")
        outcome = run_app(
            app,
            folder,
            console,
            rows=rows,
            seed=seed,
            rate=rate,
            master=master,
            instances=instances,
        )
    if out is not None:
        console.print(f"The network, the data and the results are in {out}.")
    if not outcome.right:
        raise typer.Exit(1)


def _list(console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    family = ""
    for app in apps().values():
        if app.family != family:
            family = app.family
            table.add_row(f"[bold]{family}[/bold]")
        table.add_row(f"  {app.name}", app.sentence)
    console.print(table)
    console.print("\nRun one with [bold]boxcars apps NAME[/bold]; docs/apps/ tells more.")
