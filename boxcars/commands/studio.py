"""``boxcars studio``: draw a network in the browser, run it and watch it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio_command(
    where: Annotated[
        Path,
        typer.Argument(
            help="A folder with network files, or a network file to open.", metavar="[PATH]"
        ),
    ] = Path(),
    port: Annotated[
        int | None,
        typer.Option(help="Port to serve on. Default: 7080, or a free one if it is taken.", min=0),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the URL without opening a browser.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="The address to listen on. The default accepts local clients only.")
    ] = "127.0.0.1",
    cert: Annotated[Path | None, typer.Option(help="TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(help="Private key of the certificate (PEM).")] = None,
    allow_code: Annotated[
        bool,
        typer.Option(
            "--allow-code", help="Also run networks that name Python code, and .py networks."
        ),
    ] = False,
) -> None:
    """Open the studio in the browser: draw, check, preview, run and monitor networks.

    The printed URL contains a token, which every change requires; set
    BOXCARS_TOKEN to choose it. Ctrl-C ends the studio and stops its runs.
    """
    from boxcars.studio.foreground import open_studio

    open_studio(where, port, host, cert, key, allow_code=allow_code, browse=not no_open)
