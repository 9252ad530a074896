"""Who may do what: the door of the studio, in front of all routes.

By default only this machine is listened to. Whoever wants to change something must know the token;
if others can reach the port, everybody must, for anything of the API. A page of somebody else that
runs in a browser here can neither change anything nor read along.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from boxcars.outside.url import is_loopback
from boxcars.service.security import Access

LARGEST = 64 * 2**20
"""Bytes of the largest request."""
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; connect-src 'self' ws: wss:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


class Door:
    """The middleware: it looks at the host, the origin, the token and the size of each request."""

    def __init__(self, app: ASGIApp, access: Access, largest: int = LARGEST) -> None:
        self._app, self._access, self._largest = app, access, largest
        self._alone = is_loopback(access.host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        await self._app(scope, _bounded(receive, self._largest), _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if self._alone and not _is_here(headers.get("host", "")):
            return 403, "this studio is for 127.0.0.1 and localhost, and for no other name."
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, headers.get("host", "")):
            return 403, "this studio takes no orders from the pages of others."
        if self._needs_token(scope) and not self._admits(scope, headers):
            return 401, "the token is missing or wrong: open the address that boxcars studio shows."
        if int(headers.get("content-length", "0") or 0) > self._largest:
            return 413, _too_large(self._largest)
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether a request comes from our page, or from one of this machine."""
        return urlsplit(origin).netloc == host or (self._alone and _is_here(_netloc(origin)))

    def _needs_token(self, scope: Scope) -> bool:
        if not scope["path"].startswith(("/api/", "/openapi.json")):
            return False
        changes = scope["type"] == "http" and scope["method"] not in ("GET", "HEAD")
        return changes or not self._alone

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        query = QueryParams(scope["query_string"])
        by_query = query.get("token") if scope["type"] == "websocket" else None
        return self._access.admits(headers.get("authorization"), by_query)


def _netloc(origin: str) -> str:
    return urlsplit(origin).netloc


def _is_here(host: str) -> bool:
    """Whether a ``host:port`` names this machine, and not by a name that others may give it.

    >>> _is_here("127.0.0.1:7080"), _is_here("localhost"), _is_here("evil.example:7080")
    (True, True, False)
    """
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def _too_large(largest: int) -> str:
    return f"a request has at most {largest // 2**20} MB: send less at once, or give a file."


def _bounded(receive: Receive, largest: int) -> Receive:
    """Read a body as far as it may be long."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > largest:
                raise HTTPException(413, _too_large(largest))
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given: list[Any] = list(message.get("headers", []))
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*given, *own]}
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, code: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    await JSONResponse({"detail": sentence}, code)(scope, receive, _with_headers(send))
