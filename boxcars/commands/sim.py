"""``boxcars sim``: the real driver in simulated worlds, by seed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    help="Simulate the driver and its controllers, deterministically by seed.",
)


@app.callback()
def _sim() -> None:
    """Simulate the driver and its controllers, deterministically by seed."""


@app.command()
def driver(
    histories: Annotated[int, typer.Option(help="Number of histories.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the first history.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the counts to this file as JSON.")
    ] = None,
) -> None:
    """Run histories of the driver with deaths, power losses, failures, pauses and resizes.

    After each history the promise is checked: the output of an undisturbed run, and one committed
    history. The seed of a history that breaks it is printed, and the exit code is 1.
    """
    from rich.progress import track

    from boxcars.sim.driver_history import Broken, run_history

    counts: Counter[str] = Counter()
    started = perf_counter()
    for at in track(range(seed, seed + histories), "histories", transient=True):
        try:
            counts.update(asdict(run_history(at)))
        except Broken as error:
            typer.echo(f"{error} Repeat it with --histories 1 --seed {at}.", err=True)
            raise typer.Exit(1) from None
    seconds = perf_counter() - started
    figures = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    typer.echo(f"{histories:,} histories, the promise held in each: {figures} ({seconds:.0f} s).")
    if json_file is not None:
        result = {"histories": histories, "seed": seed, "seconds": seconds, **counts}
        json_file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
