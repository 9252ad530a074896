"""Routes to put tuples into the ``enqueue://`` inputs of a run, over HTTP and WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, HTTPException, Request, WebSocket
from fastapi.websockets import WebSocketDisconnect

from boxcars.connectors.systems.mailbox import Mailbox, Message, Stopped
from boxcars.connectors.untrusted_arrow import read_stream
from boxcars.engine.run import Run
from boxcars.model.problem import BoxcarsError
from boxcars.service.concurrency import ConcurrencyLimit
from boxcars.service.guard import SlowReader
from boxcars.service.parameters import Number, Sender, find
from boxcars.service.wire import ARROW, POLL, UNREGISTER, BatchCodec

LINES = 1_000_000
"""Maximum lines in a request."""
FEEDS = 32
"""Concurrent feeds over WebSockets."""
_SMALL = 2**20
"""Bytes; larger messages are decoded in a thread."""
_WAIT = 60.0
"""Seconds to wait until a batch is durable."""
_KIND = "enqueue:// input"

T = TypeVar("T")


def add_inputs(app: FastAPI, run: Run) -> None:
    """Add the routes."""
    feeds, reading = ConcurrencyLimit("feeds", lambda: FEEDS), CapacityLimiter(2)

    async def read(take: Callable[[bytes], T], data: bytes) -> T:
        return take(data) if len(data) < _SMALL else await run_sync(take, data, limiter=reading)

    @app.post("/api/inputs/{name}")
    async def enqueue(
        name: str, request: Request, sender: Sender = "", number: Number = 0
    ) -> dict[str, int]:
        """Put tuples into an input: an Arrow stream, or lines in the format of the input.

        The response is sent when they are stored durably. A ``sender`` may number its batches from
        1 on; duplicates are ignored. Without a number, a batch is the sender's next one.
        """
        mailbox = find(run.feeds, name, _KIND)
        data: bytes | pa.Table = await request.body()
        if request.headers.get("content-type", "") == ARROW:
            data = await read(read_stream, data)
        elif data.count(b"\n") > LINES:
            raise HTTPException(413, f"a request has at most {LINES:,} lines: send several.")
        if sender:
            return await _put_durably(mailbox, Message(data, sender, number))
        once = uuid4().hex
        try:
            return await _put_durably(mailbox, Message(data, once, 1))
        finally:
            mailbox.unregister(once)

    @app.delete("/api/inputs/{name}/senders/{sender}")
    async def leave(name: str, sender: str) -> None:
        """Unregister a sender: it sends nothing again, and is forgotten."""
        find(run.feeds, name, _KIND).unregister(sender)

    @app.websocket("/api/inputs/{name}/feed")
    async def feed(socket: WebSocket, name: str, sender: Sender, first: Number = 1) -> None:
        """Put batches into an input, one per message; replies acknowledge durable batches."""
        mailbox = find(run.feeds, name, _KIND)
        with feeds.acquired():
            await socket.accept()
            acknowledging = asyncio.create_task(_acknowledge(socket, mailbox, sender))
            try:
                await _feed(socket, mailbox, Message(b"", sender, max(first, 1)), read)
            except Stopped as stopped:
                await socket.close(1001, str(stopped)[:120])
            except (BoxcarsError, KeyError) as error:
                await socket.close(1008, str(error)[:120])
            finally:
                acknowledging.cancel()


async def _feed(socket: WebSocket, mailbox: Mailbox, first: Message, read: Any) -> None:
    """Receive batches until the sender unregisters or disconnects."""
    codec, number = BatchCodec(), first.number
    with suppress(WebSocketDisconnect):
        while (message := await socket.receive_bytes()) != UNREGISTER:
            table = await read(codec.read, message)
            if table is not None:
                await _put(mailbox, Message(table, first.sender, number))
                number += 1
        mailbox.unregister(first.sender)
        await socket.close()


async def _put(mailbox: Mailbox, message: Message, seconds: float = float("inf")) -> int | None:
    """Put a message in as soon as there is room; return its number, or None after ``seconds``."""
    until = asyncio.get_running_loop().time() + seconds
    while (number := mailbox.put(message, 0)) is None:
        if asyncio.get_running_loop().time() > until:
            return None
        await asyncio.sleep(POLL)
    return number


async def _put_durably(mailbox: Mailbox, message: Message) -> dict[str, int]:
    """Put a message in, and wait until it is durable."""
    until = asyncio.get_running_loop().time() + _WAIT
    number = await _put(mailbox, message, _WAIT)
    while number is not None and not mailbox.wait_kept(message.sender, number, 0):
        if asyncio.get_running_loop().time() >= until:
            number = None
        await asyncio.sleep(POLL)
    if number is None:
        raise HTTPException(503, "the run is too busy to accept more tuples; try again.")
    return {"kept": number}


async def _acknowledge(socket: WebSocket, mailbox: Mailbox, sender: str) -> None:
    """Send the number of the last durable batch whenever it grows."""
    acknowledged = -1
    with suppress(SlowReader, WebSocketDisconnect, RuntimeError):
        while True:
            kept = mailbox.kept(sender)
            if kept > acknowledged:
                await socket.send_text(str(kept))
                acknowledged = kept
            await asyncio.sleep(POLL)
