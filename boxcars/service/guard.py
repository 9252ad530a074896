"""Access control for the ports of runs and of the studio: host, origin, token, and limits.

On a loopback address the ``Host`` header must name this machine, which defeats DNS rebinding.
Requests of browsers must come from our own page: no other page can feed, read or stop a run.
Programs send no ``Origin``, and are authorized by the token, if there is one. Requests are limited
in bytes and in time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from boxcars.connectors.systems.url import is_loopback
from boxcars.service.security import Access

LARGEST = 64 * 2**20
"""Maximum bytes of a request."""
MAX_IN_FLIGHT = 4 * LARGEST
"""Maximum bytes of all requests being read."""
BODY_TIMEOUT = 30.0
"""Seconds in which the body of a request must arrive."""
SEND_TIMEOUT = 300.0
"""Seconds in which a client must accept a part of its response."""
_OTHERS = ("cross-site", "same-site")
"""Values of ``Sec-Fetch-Site`` for requests caused by another site's page."""


class SlowReader(Exception):
    """The client does not read its response."""


@dataclass(frozen=True)
class Rules:
    """The settings of one port: its name in errors, and which requests need the token."""

    name: str
    needs_token: Callable[[Scope], bool]
    way_in: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Guard:
    """ASGI middleware that checks the host, origin and token, and limits size and time."""

    def __init__(self, app: ASGIApp, access: Access, rules: Rules) -> None:
        self._app, self._access, self._rules = app, access, rules
        self._alone = is_loopback(access.host)
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it with a reason."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await self._refuse(scope, receive, send, *refusal)
            return
        body = _Body(self, receive)
        try:
            await self._app(scope, body.receive, _patient(self._with_headers(send)))
        except SlowReader:
            return
        finally:
            self._in_flight -= body.size

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host, name = headers.get("host", ""), self._rules.name
        if self._alone and not _is_here(host):
            return 403, f"{name} answers only to the host names 127.0.0.1 and localhost."
        if _comes_from_elsewhere(scope, headers, host):
            return 403, f"{name} rejects requests from other web pages."
        if self._rules.needs_token(scope) and not self._admits(scope, headers):
            return 401, f"the token is missing or wrong: {self._rules.way_in}"
        if _length(headers) > LARGEST:
            return 413, _too_large()
        return None

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        """Whether the token is right: in a header, or for WebSockets of a page in the query."""
        query = QueryParams(scope["query_string"])
        by_query = query.get("token") if scope["type"] == "websocket" else None
        return self._access.admits(headers.get("authorization"), by_query)

    def more(self, size: int) -> None:
        """Count ``size`` more bytes being read. Raises if all requests together are too large."""
        if self._in_flight + size > MAX_IN_FLIGHT:
            raise HTTPException(503, f"{self._rules.name} is busy with other requests; try again.")
        self._in_flight += size

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given: list[Any] = list(message.get("headers", []))
                own = [(name.encode(), text.encode()) for name, text in self._headers()]
                message = {**message, "headers": [*given, *own]}
            await send(message)

        return sending

    def _headers(self) -> list[tuple[str, str]]:
        own = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}
        return [*own.items(), *self._rules.headers.items()]

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, code: int, sentence: str
    ) -> None:
        if scope["type"] == "websocket" and "websocket.http.response" not in scope["extensions"]:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": sentence})
            return
        await JSONResponse({"detail": sentence}, code)(scope, receive, self._with_headers(send))


class _Body:
    """The body of a request, with limits on its size and time."""

    def __init__(self, guard: Guard, receive: Receive) -> None:
        self._door, self._receive = guard, receive
        self._whole, self.size = False, 0
        self._until = asyncio.get_running_loop().time() + BODY_TIMEOUT

    async def receive(self) -> Message:
        """The next part of the body; after the body, any message, without a time limit."""
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(
                408, f"the request did not arrive within {BODY_TIMEOUT:.0f} s."
            ) from None
        if message["type"] != "http.request":
            self._whole = True
            return message
        self._whole = not message.get("more_body", False)
        self._count(len(message.get("body", b"")))
        return message

    def _count(self, size: int) -> None:
        if self.size + size > LARGEST:
            raise HTTPException(413, _too_large())
        self._door.more(size)
        self.size += size


def _patient(send: Send) -> Send:
    """Send with a timeout, for clients that do not read."""

    async def sending(message: Message) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await send(message)
        except TimeoutError:
            raise SlowReader from None

    return sending


def _comes_from_elsewhere(scope: Scope, headers: Headers, host: str) -> bool:
    """Whether another site's page caused a request; following a link to our page is harmless.

    Browsers send ``Origin`` for some requests, and ``Sec-Fetch-Site`` for all.
    """
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return True
    if headers.get("sec-fetch-site") not in _OTHERS:
        return False
    visit = headers.get("sec-fetch-mode") == "navigate" and scope.get("method") == "GET"
    return not visit or scope["path"].startswith("/api/")


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "")
    return int(text) if text.isdecimal() and text.isascii() else 0


def _is_here(host: str) -> bool:
    """Whether a ``host:port`` is a loopback name, which no foreign DNS entry can claim.

    >>> _is_here("127.0.0.1:7080"), _is_here("localhost"), _is_here("evil.example:7080")
    (True, True, False)
    """
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def _too_large() -> str:
    return f"a request has at most {LARGEST // 2**20} MB: split it, or use a file."
