"""The door in front of the ports of runs and of the studio: who may come in, and with how much.

A caller must call this machine by its own name, so that no page can reach it by a name of its own
(DNS rebinding). What a browser sends must come from our own page: no other page can feed a run,
read from it or stop it. Programs send no ``Origin``, and are let in by the token, where there is
one. What a caller asks for is bounded, in bytes and in time.
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
"""Bytes of the largest request."""
UNDER_WAY = 4 * LARGEST
"""Bytes of all requests that are being read at once."""
SLOW = 30.0
"""Seconds in which the body of a request must have come."""
STUCK = 300.0
"""Seconds in which a reader must take a part of what it asked for."""
_OTHERS = ("cross-site", "same-site")
"""What a browser says of a request that another page has caused."""


class Slow(Exception):
    """Who asked does not take the answer."""


@dataclass(frozen=True)
class Rules:
    """What is different from port to port: who it is, and for what the token is needed."""

    name: str
    needs_token: Callable[[Scope], bool]
    way_in: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Door:
    """The middleware: it looks at the host, the origin, the token, the size and the time."""

    def __init__(self, app: ASGIApp, access: Access, rules: Rules) -> None:
        self._app, self._access, self._rules = app, access, rules
        self._alone = is_loopback(access.host)
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
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
        except Slow:
            return
        finally:
            self._under_way -= body.size

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host, name = headers.get("host", ""), self._rules.name
        if self._alone and not _is_here(host):
            return 403, f"{name} is for 127.0.0.1 and localhost, and for no other name."
        if _comes_from_elsewhere(scope, headers, host):
            return 403, f"{name} takes no orders from the pages of others."
        if self._rules.needs_token(scope) and not self._admits(scope, headers):
            return 401, f"the token is missing or wrong: {self._rules.way_in}"
        if _length(headers) > LARGEST:
            return 413, _too_large()
        return None

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        """A token stands in a header; only a WebSocket of a page has to say it in its address."""
        query = QueryParams(scope["query_string"])
        by_query = query.get("token") if scope["type"] == "websocket" else None
        return self._access.admits(headers.get("authorization"), by_query)

    def more(self, size: int) -> None:
        """Somebody sends so many bytes. Raises if that is too much for all together."""
        if self._under_way + size > UNDER_WAY:
            raise HTTPException(503, f"{self._rules.name} is busy with other requests; try again.")
        self._under_way += size

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
    """The body of a request, as far as it may be long, and as long as it may take."""

    def __init__(self, door: Door, receive: Receive) -> None:
        self._door, self._receive = door, receive
        self._whole, self.size = False, 0
        self._until = asyncio.get_running_loop().time() + SLOW

    async def receive(self) -> Message:
        """The next part; behind the body, whatever comes whenever it comes."""
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"the request did not come within {SLOW:.0f} s.") from None
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
    """Send, but not for ever to somebody who does not take it."""

    async def sending(message: Message) -> None:
        try:
            async with asyncio.timeout(STUCK):
                await send(message)
        except TimeoutError:
            raise Slow from None

    return sending


def _comes_from_elsewhere(scope: Scope, headers: Headers, host: str) -> bool:
    """Whether a page of somebody else is behind a request; to follow a link to a page is no harm.

    A browser says so in ``Origin``, but not for all requests, and in ``Sec-Fetch-Site``.
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
    """Whether a ``host:port`` names this machine, and not by a name that others may give it.

    >>> _is_here("127.0.0.1:7080"), _is_here("localhost"), _is_here("evil.example:7080")
    (True, True, False)
    """
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def _too_large() -> str:
    return f"a request has at most {LARGEST // 2**20} MB: send less at once, or give a file."
