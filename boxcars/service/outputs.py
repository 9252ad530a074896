"""The outputs of a run that programs take tuples from: server-sent events, and WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

import pyarrow as pa
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.responses import StreamingResponse
from fastapi.websockets import WebSocketDisconnect
from starlette.types import Receive, Scope, Send

from boxcars.connectors.write.subscription import Gone, Tap
from boxcars.engine.run import Run
from boxcars.service.asked import Number, find
from boxcars.service.door import Slow
from boxcars.service.seats import Seats
from boxcars.service.wire import LOOK, numbered, table_to_json

READERS = 64
"""Who may read outputs at once."""
_ENDED, _STOPPED = (1000, "the run has ended."), (1001, "the run was stopped.")
"""How a WebSocket to a reader is closed."""
_KIND = "dequeue:// output"

T = TypeVar("T")
Encode = Callable[[int, pa.Table], T]
"""How an epoch is told to a reader."""


def add_outputs(app: FastAPI, run: Run) -> None:
    """Add the routes."""
    readers, reading = Seats("readers", lambda: READERS), CapacityLimiter(4)

    @app.get("/api/outputs/{name}")
    async def events(name: str, request: Request, after: Number = 0) -> Response:
        """The tuples of an output as server-sent events: one for each epoch, with its number."""
        tap = find(run.taps, name, _KIND)
        seen = request.headers.get("last-event-id", "")
        first = int(seen) if seen.isdecimal() and len(seen) < 19 else after
        return _Seated(_events(_epochs(tap, first, _event, reading), tap), readers.take())

    @app.websocket("/api/outputs/{name}/tap")
    async def dequeue(socket: WebSocket, name: str, after: Number = 0) -> None:
        """The tuples of an output: for each epoch one message, its number and an Arrow stream."""
        tap = find(run.taps, name, _KIND)
        with readers.taken():
            await socket.accept()
            leaving = asyncio.create_task(_leaves(socket))
            sending = asyncio.create_task(
                _send(socket, tap, _epochs(tap, after, numbered, reading))
            )
            try:
                await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                leaving.cancel()
                sending.cancel()
                await asyncio.gather(leaving, sending, return_exceptions=True)


async def _send(socket: WebSocket, tap: Tap, messages: AsyncIterator[bytes]) -> None:
    """Send what comes, and say how it ended."""
    with suppress(Slow, WebSocketDisconnect):
        try:
            async for message in messages:
                await socket.send_bytes(message)
            await socket.close(*_ENDED if tap.finished else _STOPPED)
        except Gone as gone:
            await socket.close(1008, str(gone)[:120])


async def _leaves(socket: WebSocket) -> None:
    """Wait until a reader leaves: its seat is free then, also if nothing comes for it."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        continue


async def _epochs(
    tap: Tap, after: int, encode: Encode[T], limiter: CapacityLimiter
) -> AsyncIterator[T]:
    """One epoch after the other, until the run has ended; a thread is only needed to read one."""

    def read() -> tuple[int, T] | None:
        found = tap.read(after, 0)
        return None if found is None else (found[0], encode(*found))

    while True:
        closed = tap.closed
        found = await run_sync(read, limiter=limiter) if tap.newest > after else None
        if found is not None:
            after = found[0]
            yield found[1]
        elif closed:
            return
        else:
            await asyncio.sleep(LOOK)


class _Seated(StreamingResponse):
    """Events for a reader that has a seat."""

    def __init__(self, events: AsyncIterator[str], seat: AbstractContextManager[object]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._seat = seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them, until one of both leaves."""
        with self._seat:
            await super().__call__(scope, receive, send)


def _event(epoch: int, table: pa.Table) -> str:
    return f"id: {epoch}\ndata: {table_to_json(table)}\n\n"


async def _events(epochs: AsyncIterator[str], tap: Tap) -> AsyncIterator[str]:
    try:
        async for event in epochs:
            yield event
    except Gone as gone:
        yield f"event: gone\ndata: {gone}\n\n"
    code, words = _ENDED if tap.finished else _STOPPED
    yield f"event: {'end' if code == _ENDED[0] else 'stop'}\ndata: {words}\n\n"
