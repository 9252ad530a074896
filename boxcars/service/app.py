"""The service of a run, as a web application: feed it, tap it, watch it, stop it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response, WebSocket
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.websockets import WebSocketDisconnect
from starlette.requests import HTTPConnection

from boxcars.engine.run import Run
from boxcars.io.tap import Gone, Tap
from boxcars.model.problem import BoxcarsError
from boxcars.outside.mailbox import Mailbox, Message
from boxcars.service.metrics import prometheus_text
from boxcars.service.security import Access
from boxcars.service.wire import (
    ARROW,
    LONGEST,
    Schemed,
    numbered,
    table_from_bytes,
    table_to_json,
)

_LOOK = 0.02
"""Seconds between two looks at what is new."""
_ENDED, _STOPPED = (1000, "the run has ended."), (1001, "the run was stopped.")
"""How a WebSocket to a reader is closed."""
_WAIT = 60.0
"""Seconds to wait until a batch is kept."""


def make_app(run: Run, access: Access) -> FastAPI:
    """The application for a run."""
    app = FastAPI(title="Boxcars", version=version("boxcars"), docs_url=None, redoc_url=None)
    guard = [Depends(_guard(access))]

    @app.get("/health")
    def health() -> Response:
        """Whether the run is well: 200, or 503 if it has failed."""
        status = run.status()
        return JSONResponse(asdict(status), 503 if status.state == "failed" else 200)

    @app.get("/ready")
    def ready() -> Response:
        """Whether the run takes tuples: 200, or 503 if it does not any more."""
        status = run.status()
        return JSONResponse(asdict(status), 200 if status.state in ("running", "waiting") else 503)

    @app.get("/metrics", dependencies=guard)
    def metrics() -> Response:
        """The statistics for Prometheus."""
        return Response(prometheus_text(run), media_type="text/plain; version=0.0.4")

    @app.get("/api/status", dependencies=guard)
    def status() -> dict[str, Any]:
        """How the run stands."""
        return asdict(run.status())

    @app.get("/api/stats", dependencies=guard)
    def stats() -> dict[str, Any]:
        """What each box, piece and bucket did."""
        return run.stats().to_plain()

    @app.get("/api/arcs/{arc:path}", dependencies=guard)
    def peek(arc: str, seconds: Annotated[float, Query(ge=0, le=_WAIT)] = 5.0) -> Response:
        """The last tuples on an arc; waits for some, but not longer than so many seconds."""
        rows = table_to_json(run.peek(arc, seconds))
        return Response(f'{{"rows": {rows}}}', media_type="application/json")

    @app.post("/api/stop", dependencies=guard)
    def stop() -> dict[str, Any]:
        """Stop behind the epoch that is under way."""
        return asdict(run.stop())

    _add_inputs(app, run, guard)
    _add_outputs(app, run, guard)

    @app.exception_handler(BoxcarsError)
    def say(_: Request, error: BoxcarsError) -> Response:
        return JSONResponse({"detail": str(error)}, 400)

    return app


def _guard(access: Access) -> Callable[[HTTPConnection], None]:
    """Refuse callers who do not know the token."""

    def check(call: HTTPConnection) -> None:
        query = call.query_params.get("token")
        if not access.admits(call.headers.get("authorization"), query):
            raise HTTPException(401, "the token is missing or wrong.")

    return check


def _add_inputs(app: FastAPI, run: Run, guard: list[Any]) -> None:
    @app.post("/api/inputs/{name}", dependencies=guard)
    async def enqueue(
        name: str, request: Request, sender: str = "", number: Annotated[int, Query(ge=0)] = 0
    ) -> dict[str, int]:
        """Put tuples into an input: an Arrow stream, or lines in the format of the input.

        The answer comes when they are kept. A ``sender`` may number its batches from 1 on; one that
        comes again is not taken again.
        """
        mailbox = _find(run.feeds, name, "enqueue:// input")
        body = await _body(request)
        arrow = request.headers.get("content-type", "") == ARROW
        sender = sender or f"{request.client}"
        number = number or mailbox.kept(sender) + 1
        message = Message(table_from_bytes(body) if arrow else body, sender, number)
        await asyncio.to_thread(_put_kept, mailbox, message)
        return {"kept": number}

    @app.websocket("/api/inputs/{name}/feed", dependencies=guard)
    async def feed(socket: WebSocket, name: str, sender: str, first: int = 1) -> None:
        """Put batches into an input, one message each; the answers say up to which are kept."""
        mailbox = _find(run.feeds, name, "enqueue:// input")
        await socket.accept()
        telling = asyncio.create_task(_tell_kept(socket, mailbox, sender))
        schemed, number = Schemed(), first
        try:
            while True:
                table = schemed.read(await socket.receive_bytes())
                if table is None:
                    continue
                while not mailbox.put(Message(table, sender, number), 0):
                    await asyncio.sleep(_LOOK)
                number += 1
        except WebSocketDisconnect:
            return
        except (BoxcarsError, KeyError) as error:
            await socket.close(1008, str(error)[:120])
        finally:
            telling.cancel()


def _put_kept(mailbox: Mailbox, message: Message) -> None:
    if not mailbox.put(message, _WAIT) or not mailbox.wait_kept(
        message.sender, message.number, _WAIT
    ):
        raise HTTPException(503, "the run is too busy to take more tuples; try again.")


async def _tell_kept(socket: WebSocket, mailbox: Mailbox, sender: str) -> None:
    """Say which batches are kept, whenever there are more."""
    told = -1
    while True:
        kept = mailbox.kept(sender)
        if kept > told:
            await socket.send_text(str(kept))
            told = kept
        await asyncio.sleep(_LOOK)


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST:
            raise HTTPException(413, f"a request has at most {LONGEST:,} bytes.")
    return body


def _add_outputs(app: FastAPI, run: Run, guard: list[Any]) -> None:
    @app.get("/api/outputs/{name}", dependencies=guard)
    def events(name: str, request: Request, after: int = 0) -> Response:
        """The tuples of an output as server-sent events: one for each epoch, with its number."""
        tap = _find(run.taps, name, "dequeue:// output")
        seen = request.headers.get("last-event-id", "")
        first = int(seen) if seen.isdecimal() else after
        return StreamingResponse(_events(tap, first), media_type="text/event-stream")

    @app.websocket("/api/outputs/{name}/tap", dependencies=guard)
    async def dequeue(socket: WebSocket, name: str, after: int = 0) -> None:
        """The tuples of an output: for each epoch one message, its number and an Arrow stream."""
        tap = _find(run.taps, name, "dequeue:// output")
        await socket.accept()
        try:
            async for epoch, table in _epochs(tap, after):
                await socket.send_bytes(numbered(epoch, table))
            await socket.close(*_ENDED if tap.finished else _STOPPED)
        except Gone as gone:
            await socket.close(1008, str(gone)[:120])
        except WebSocketDisconnect:
            return


async def _epochs(tap: Tap, after: int) -> AsyncIterator[tuple[int, Any]]:
    """One epoch behind the other, until the run has ended."""
    while True:
        found = await asyncio.to_thread(tap.read, after, 0.5)
        if found is not None:
            after = found[0]
            yield found
        elif tap.closed:
            return


async def _events(tap: Tap, after: int) -> AsyncIterator[str]:
    try:
        async for epoch, table in _epochs(tap, after):
            yield f"id: {epoch}\ndata: {table_to_json(table)}\n\n"
    except Gone as gone:
        yield f"event: gone\ndata: {gone}\n\n"
    code, words = _ENDED if tap.finished else _STOPPED
    yield f"event: {'end' if code == _ENDED[0] else 'stop'}\ndata: {words}\n\n"


def _find(found: Any, name: str, kind: str) -> Any:
    if name not in found:
        raise HTTPException(404, f"this run has no {kind} '{name}'.")
    return found[name]
