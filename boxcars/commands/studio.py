"""``boxcars studio``: draw a network in the browser, run it and watch it."""

from __future__ import annotations

import secrets
import sys
import threading
import webbrowser
from pathlib import Path
from time import sleep
from typing import Annotated

import typer

from boxcars.model.problem import Wrong
from boxcars.service.security import Access, is_loopback, token_from_environment
from boxcars.studio.serve import bind, server_of
from boxcars.studio.studio import Studio
from boxcars.studio.workspace import Workspace


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
    folder, file = _place(where)
    token = token_from_environment() or secrets.token_urlsafe(24)
    listening = bind(host, port)
    access = Access(host, listening.getsockname()[1], token, cert, key)
    if allow_code:
        sys.path.append(str(folder.resolve()))
    studio = Studio(Workspace(folder, allow_code), access, allow_code, file)
    address = f"{_shown(access)}/#token={token}"
    typer.echo(f"the studio is at {address}")
    server = server_of(studio)
    if not no_open:
        threading.Thread(target=_open, args=(server, address), daemon=True).start()
    try:
        server.run([listening])
    except KeyboardInterrupt:
        typer.echo("the studio is closed.", err=True)
    finally:
        studio.close()
        listening.close()


def _place(where: Path) -> tuple[Path, str | None]:
    """The folder, and the file in it that is opened first."""
    if where.is_dir():
        return where, None
    if not where.is_file():
        raise Wrong(f"{where}: there is no such folder or file.")
    Workspace(where.parent).path(where.name)
    return where.parent, where.name


def _shown(access: Access) -> str:
    """The address for a browser on this machine; a host that stands for all is this one."""
    if is_loopback(access.host) or access.host not in ("0.0.0.0", "::"):
        return access.url
    return Access("127.0.0.1", access.port, access.token, access.cert, access.key).url


def _open(server: object, address: str) -> None:
    """Open a browser once the page is there."""
    for _ in range(100):
        if getattr(server, "started", False):
            webbrowser.open(address)
            return
        sleep(0.05)
