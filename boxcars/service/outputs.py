"""Routes to read ``dequeue://`` outputs of a run: server-sent events and WebSockets."""

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

from boxcars.connectors.write.subscription import Expired, RetainedOutput
from boxcars.engine.run import Run
from boxcars.service.concurrency import ConcurrencyLimit
from boxcars.service.guard import SlowReader
from boxcars.service.parameters import Number, find
from boxcars.service.wire import POLL, encode_epoch, table_to_json

READERS = 64
"""Concurrent readers of outputs."""
_ENDED, _STOPPED = (1000, "the run has ended."), (1001, "the run was stopped.")
"""Close codes and reasons of a reader's WebSocket."""
_KIND = "dequeue:// output"

T = TypeVar("T")
Encode = Callable[[int, pa.Table], T]
"""Encodes an epoch for a reader."""


def add_outputs(app: FastAPI, run: Run) -> None:
    """Add the routes."""
    readers, reading = ConcurrencyLimit("readers", lambda: READERS), CapacityLimiter(4)

    @app.get("/api/outputs/{name}")
    async def events(name: str, request: Request, after: Number = 0) -> Response:
        """The tuples of an output as server-sent events: one per epoch, whose number is the id."""
        output = find(run.taps, name, _KIND)
        seen = request.headers.get("last-event-id", "")
        first = int(seen) if seen.isdecimal() and len(seen) < 19 else after
        return _LimitedStream(
            _events(_epochs(output, first, _event, reading), output), readers.acquire()
        )

    @app.websocket("/api/outputs/{name}/tap")
    async def dequeue(socket: WebSocket, name: str, after: Number = 0) -> None:
        """The tuples of an output: one message per epoch, its number and an Arrow stream."""
        output = find(run.taps, name, _KIND)
        with readers.acquired():
            await socket.accept()
            disconnected = asyncio.create_task(_disconnection(socket))
            sending = asyncio.create_task(
                _send(socket, output, _epochs(output, after, encode_epoch, reading))
            )
            try:
                await asyncio.wait({disconnected, sending}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                disconnected.cancel()
                sending.cancel()
                await asyncio.gather(disconnected, sending, return_exceptions=True)


async def _send(socket: WebSocket, output: RetainedOutput, messages: AsyncIterator[bytes]) -> None:
    """Send messages, then close the socket with the reason of the end."""
    with suppress(SlowReader, WebSocketDisconnect):
        try:
            async for message in messages:
                await socket.send_bytes(message)
            await socket.close(*_ENDED if output.finished else _STOPPED)
        except Expired as expired:
            await socket.close(1008, str(expired)[:120])


async def _disconnection(socket: WebSocket) -> None:
    """Wait until a reader disconnects, to free its slot even when there is nothing to send."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        continue


async def _epochs(
    output: RetainedOutput, after: int, encode: Encode[T], limiter: CapacityLimiter
) -> AsyncIterator[T]:
    """Yield epochs until the run has ended; threads are used only to read, not to wait."""

    def read() -> tuple[int, T] | None:
        found = output.read(after, 0)
        return None if found is None else (found[0], encode(*found))

    while True:
        closed = output.closed
        found = await run_sync(read, limiter=limiter) if output.newest > after else None
        if found is not None:
            after = found[0]
            yield found[1]
        elif closed:
            return
        else:
            await asyncio.sleep(POLL)


class _LimitedStream(StreamingResponse):
    """An event stream that holds a slot of a concurrency limit."""

    def __init__(self, events: AsyncIterator[str], slot: AbstractContextManager[object]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until either side disconnects."""
        with self._slot:
            await super().__call__(scope, receive, send)


def _event(epoch: int, table: pa.Table) -> str:
    return f"id: {epoch}\ndata: {table_to_json(table)}\n\n"


async def _events(epochs: AsyncIterator[str], output: RetainedOutput) -> AsyncIterator[str]:
    try:
        async for event in epochs:
            yield event
    except Expired as expired:
        yield f"event: gone\ndata: {expired}\n\n"
    code, words = _ENDED if output.finished else _STOPPED
    yield f"event: {'end' if code == _ENDED[0] else 'stop'}\ndata: {words}\n\n"
