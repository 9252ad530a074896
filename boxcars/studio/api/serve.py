"""The server of the studio: its application at a port, until it is ended."""

from __future__ import annotations

import socket

import uvicorn

from boxcars.model.problem import Wrong
from boxcars.service.connections import Listening, PatientProtocol
from boxcars.service.security import Access
from boxcars.studio.api.app import make_app
from boxcars.studio.api.server_log import quieten
from boxcars.studio.api.studio import Studio

PORT = 7080
"""The port, if it is free and nobody wants another one."""
LARGEST_MESSAGE = 2**16
"""Bytes of the largest message over a WebSocket: a page only says that it is there."""
_QUIET = 60.0
"""Seconds without a sign of life after which a page counts as lost."""


def bind(host: str, port: int | None) -> socket.socket:
    """A socket at a port; without one at ours, or at any that is free."""
    try:
        return Listening.at(host, PORT if port is None else port)
    except OSError as error:
        if port is None:
            return bind(host, 0)
        raise Wrong(
            f"port {port} at {host} can't be opened ({error.strerror}): choose another one with "
            "--port, or leave it out, and a free one is taken."
        ) from None


def server_of(studio: Studio) -> uvicorn.Server:
    """A server for a studio; it is run with the sockets that it listens to."""
    access: Access = studio.access
    config = uvicorn.Config(
        make_app(studio),
        log_level="error",
        access_log=False,
        loop="asyncio",
        http=PatientProtocol,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_timeout=_QUIET,
        timeout_graceful_shutdown=2,
        ssl_certfile=access.cert,
        ssl_keyfile=access.key,
    )
    quieten()
    return uvicorn.Server(config)
