"""The route to read the events of a run, page by page, waiting for the next ones if asked to."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, Query, Request

from boxcars.engine.run import Run
from boxcars.service.concurrency import ConcurrencyLimit
from boxcars.service.parameters import Number

PAGE = 1000
"""Events of a response."""
READERS = 32
"""Concurrent requests for events."""
_WAIT = 60.0
"""Maximum seconds to wait for the next event."""
_PAUSE = 0.1
"""Seconds between two looks at the log."""


def add_events(app: FastAPI, run: Run) -> None:
    """Add the route."""
    readers, reading = ConcurrencyLimit("readers of events", lambda: READERS), CapacityLimiter(2)

    @app.get("/api/events")
    async def events(
        request: Request,
        after: Number = 0,
        seconds: Annotated[float, Query(ge=0, le=_WAIT)] = 0.0,
    ) -> dict[str, Any]:
        """The events after a number, the first ones; waits up to ``seconds`` for one.

        ``live`` is false once the run has ended, so that no more will follow.
        """
        with readers.acquired():
            until = asyncio.get_running_loop().time() + seconds
            seen: object = None
            while True:
                live = run.status().state in ("running", "waiting")
                if (now := run.event_log.signature()) != seen:
                    seen = now
                    page = await run_sync(run.event_log.read, after, PAGE, limiter=reading)
                late = asyncio.get_running_loop().time() >= until
                if page.events or not live or late or await request.is_disconnected():
                    found = [event.plain() for event in page.events]
                    return {"events": found, "damaged": page.damaged, "live": live}
                await asyncio.sleep(_PAUSE)
