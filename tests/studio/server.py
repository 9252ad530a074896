"""A studio served from a thread of the tests, and a client for it."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from boxcars.service.security import Access
from boxcars.studio.api.serve import bind, server_of
from boxcars.studio.api.studio import Studio
from boxcars.studio.edit.workspace import Workspace
from tests.patience import PATIENCE

TOKEN = "sesame"


class Served:
    """A running studio; ``call`` uses its token unless another is given."""

    def __init__(self, folder: Path, *, allow_code: bool = False, host: str = "127.0.0.1") -> None:
        self._socket: socket.socket = bind("127.0.0.1", 0)
        self.port = self._socket.getsockname()[1]
        access = Access(host, self.port, TOKEN)
        self.studio = Studio(Workspace(folder, allow_code), access, allow_code)
        self.folder = folder
        self._server = server_of(self.studio)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()
        until = time.monotonic() + PATIENCE
        while not self._server.started:
            assert time.monotonic() < until, "the studio does not start"
            time.sleep(0.01)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        named = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return answer.status, answer.read(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(), dict(error.headers)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        code, text, _ = self.request(method, path, body, **headers)
        return code, json.loads(text) if text else None

    def get(self, path: str) -> Any:
        code, found = self.call("GET", path)
        assert code == 200, found
        return found

    def post(self, path: str, body: Any = None) -> Any:
        code, found = self.call("POST", path, {} if body is None else body)
        assert code == 200, found
        return found

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """The status and the message of a refused request."""
        code, found = self.call(method, path, body)
        assert 400 <= code < 500, found
        return code, str(found["detail"])

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._socket.close()
