"""Run the studio in the foreground of a shell, until Ctrl-C."""

from __future__ import annotations

import secrets
import sys
import threading
import webbrowser
from pathlib import Path
from socket import socket
from time import sleep

from uvicorn import Server

from boxcars.connectors.systems.url import is_loopback
from boxcars.model.problem import Wrong
from boxcars.service.security import Access, token_from_environment
from boxcars.studio.api.serve import bind, server_of
from boxcars.studio.api.studio import Studio
from boxcars.studio.build import PageError, build, is_built
from boxcars.studio.edit.workspace import Workspace


def open_studio(
    where: Path,
    port: int | None,
    host: str,
    cert: Path | None,
    key: Path | None,
    *,
    allow_code: bool,
    browse: bool,
) -> None:
    """Serve the studio for a folder, or for a file in its folder, until it is interrupted."""
    folder, file = _folder_and_file(where)
    token = token_from_environment() or secrets.token_urlsafe(24)
    with bind(host, port) as listening:
        access = Access(host, listening.getsockname()[1], token, cert, key)
        if allow_code:
            sys.path.append(str(folder.resolve()))
        _ensure_page()
        _serve(Studio(Workspace(folder, allow_code), access, allow_code, file), listening, browse)


def _serve(studio: Studio, listening: socket, browse: bool) -> None:
    """Print the address and serve until Ctrl-C; then stop all runs."""
    address = f"{_shown(studio.access)}/#token={studio.access.token}"
    print(f"the studio is at {address}", flush=True)
    server = server_of(studio)
    if browse:
        threading.Thread(target=_open, args=(server, address), daemon=True).start()
    try:
        server.run([listening])
    except KeyboardInterrupt:
        print("the studio is closed.", file=sys.stderr)
    finally:
        studio.close()


def _folder_and_file(where: Path) -> tuple[Path, str | None]:
    """Return the folder, and the file in it to open first."""
    if where.is_dir():
        return where, None
    if not where.is_file():
        raise Wrong(f"{where}: there is no such folder or file.")
    Workspace(where.parent, code=True).path(where.name)
    return where.parent, where.name


def _ensure_page() -> None:
    """Build the page if it is not up to date; without a page the API is still served."""
    if not is_built():
        print("building the studio's page; this takes about a minute ...", file=sys.stderr)
        try:
            build()
        except PageError as error:
            print(error, file=sys.stderr)


def _shown(access: Access) -> str:
    """Return the address for a browser on this machine; a wildcard host becomes loopback."""
    if is_loopback(access.host) or access.host not in ("0.0.0.0", "::"):
        return access.url
    return Access("127.0.0.1", access.port, access.token, access.cert, access.key).url


def _open(server: Server, address: str) -> None:
    """Open a browser once the server has started."""
    for _ in range(100):
        if server.started:
            webbrowser.open(address)
            return
        sleep(0.05)
