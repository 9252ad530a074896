"""``boxcars apps``: list the applications, or run one of them."""

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
        str | None, typer.Argument(help="The application to run. Default: list all of them.")
    ] = None,
    rows: Annotated[int, typer.Option(help="Number of generated tuples.", min=1)] = 1_000_000,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Tuples per second, generated during the run. Default: generate all before.",
            min=1,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the generator.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="A new folder for the network, the data and the results."),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(help="Parallel instances per subquery. Default: one per core."),
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="URL of the Spark master. Default: this machine.")
    ] = None,
) -> None:
    """List the applications from the papers, or run one on generated data with planted cases.

    The exit code is 1 if a case was missed or a false one was reported.
    """
    console = Console(highlight=False)
    if name is None:
        _list(console)
        return
    from boxcars.apps.show import run_app

    app = find_app(name)
    if out is not None and out.exists() and any(out.iterdir()):
        raise Wrong(f"{out}: the folder is not empty. Give a new one.")
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
    console.print("\nRun one with [bold]boxcars apps NAME[/bold]; docs/apps/ describes them.")
