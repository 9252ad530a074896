"""``boxcars studio``: draw a network in the browser, run it and watch it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio_command(
    where: Annotated[
        Path,
        typer.Argument(
            help="A folder with network files, or a network file to open.", metavar="[WHERE]"
        ),
    ] = Path(),
    port: Annotated[
        int | None, typer.Option(help="Of the page; 7080 if it is free, else another.", min=0)
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only show the address, open no browser.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="Who may connect: only this machine, unless another is given.")
    ] = "127.0.0.1",
    cert: Annotated[Path | None, typer.Option(help="A certificate, for TLS.")] = None,
    key: Annotated[Path | None, typer.Option(help="The key of the certificate.")] = None,
    allow_code: Annotated[
        bool,
        typer.Option(
            "--allow-code", help="Also run networks that name Python code, and .py files."
        ),
    ] = False,
) -> None:
    """Open the studio: draw a network, check it, preview it, run it on Spark and watch it.

    The address that is shown has a token, without which nothing can be changed; BOXCARS_TOKEN
    gives another one. Ctrl-C ends the studio, and stops the runs that it has started.
    """
    from boxcars.studio.foreground import open_studio

    open_studio(where, port, host, cert, key, allow_code=allow_code, browse=not no_open)
