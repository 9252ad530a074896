"""The HTTP server of a run, in a thread of the run's process."""

from __future__ import annotations

import socket
import threading
import time

import uvicorn

from boxcars.engine.run import Run
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.app import make_app
from boxcars.service.connections import HeaderTimeoutProtocol, LimitedListener
from boxcars.service.security import Access
from boxcars.service.wire import MESSAGE

_QUIET = 60.0
"""Seconds without a pong after which a client counts as lost."""
_PATIENCE = 10.0
"""Seconds to wait for the server to start or stop."""


class Server:
    """The HTTP service of a run; a context manager, or :meth:`close` it.

    Port 0 picks a free one; ``access`` has its number.
    """

    def __init__(self, run: Run, access: Access | None = None) -> None:
        access = access or Access()
        self._socket = _bind(access)
        self.access = Access(
            access.host, self._socket.getsockname()[1], access.token, access.cert, access.key
        )
        config = uvicorn.Config(
            make_app(run, self.access),
            log_level="critical",
            access_log=False,
            loop="asyncio",
            http=HeaderTimeoutProtocol,
            ws_max_size=MESSAGE,
            ws_per_message_deflate=False,
            ws_ping_timeout=_QUIET,
            lifespan="off",
            timeout_graceful_shutdown=2,
            ssl_certfile=access.cert,
            ssl_keyfile=access.key,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="boxcars-service", daemon=True
        )

    def __enter__(self) -> Server:
        self._thread.start()
        until = time.monotonic() + _PATIENCE
        while not self._server.started:
            if time.monotonic() > until or not self._thread.is_alive():
                raise BoxcarsError(f"the service at {self.access.url} did not start.")
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Shut the service down."""
        self._server.should_exit = True
        self._thread.join(_PATIENCE)
        self._socket.close()


def _bind(access: Access) -> socket.socket:
    try:
        return LimitedListener.at(access.host, access.port)
    except OSError as error:
        raise Wrong(
            f"port {access.port} at {access.host} can't be opened ({error.strerror}): choose "
            "another port, or stop the process that uses it."
        ) from None
