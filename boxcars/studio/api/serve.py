"""The studio's web server."""

from __future__ import annotations

import socket

import uvicorn

from boxcars.model.problem import Wrong
from boxcars.service.connections import HeaderTimeoutProtocol, LimitedListener
from boxcars.service.security import Access
from boxcars.studio.api.app import make_app
from boxcars.studio.api.server_log import install_filter
from boxcars.studio.api.studio import Studio

PORT = 7080
"""The default port, if it is free."""
LARGEST_MESSAGE = 2**16
"""Bytes; the largest WebSocket message accepted: a page only sends keep-alives."""
_QUIET = 60.0
"""Seconds without a pong after which a page is considered disconnected."""


def bind(host: str, port: int | None) -> socket.socket:
    """Return a listening socket; without a port at the default one, or any that is free."""
    try:
        return LimitedListener.at(host, PORT if port is None else port)
    except OSError as error:
        if port is None:
            return bind(host, 0)
        raise Wrong(
            f"port {port} at {host} can't be opened ({error.strerror}): choose another one with "
            "--port, or omit --port to use a free one."
        ) from None


def server_of(studio: Studio) -> uvicorn.Server:
    """Return the server of a studio; run it with its listening sockets."""
    access: Access = studio.access
    config = uvicorn.Config(
        make_app(studio),
        log_level="error",
        access_log=False,
        loop="asyncio",
        http=HeaderTimeoutProtocol,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_timeout=_QUIET,
        timeout_graceful_shutdown=2,
        ssl_certfile=access.cert,
        ssl_keyfile=access.key,
    )
    install_filter()
    return uvicorn.Server(config)
