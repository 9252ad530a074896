"""The service of a run, as a web application: feed it, tap it, watch it, stop it.

Nobody who waits holds a thread, so that ``/health`` answers however many wait or read slowly.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated, Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import Scope

from boxcars.connectors.systems.mailbox import Full, Stopped
from boxcars.engine.run import Run
from boxcars.model.problem import BoxcarsError
from boxcars.service.door import Door, Rules
from boxcars.service.inputs import add_inputs
from boxcars.service.metrics import prometheus_text
from boxcars.service.misunderstood import explain_misunderstood
from boxcars.service.outputs import add_outputs
from boxcars.service.seats import Seats
from boxcars.service.security import Access
from boxcars.service.wire import table_to_json

PEEKS = 32
"""Who may look at arcs at once."""
_WAIT = 60.0
"""Seconds to wait for tuples on an arc, at the most."""
_PAUSE = 0.1
"""Seconds between two looks at an arc: many who wait must cost little."""
_OPEN = ("/health", "/ready")
"""What answers without a token, and so with the state alone: a status has parts of tuples."""


def make_app(run: Run, access: Access) -> FastAPI:
    """The application for a run."""
    app = FastAPI(title="Boxcars", version=version("boxcars"), docs_url=None, redoc_url=None)
    _add_watching(app, run)
    add_inputs(app, run)
    add_outputs(app, run)

    @app.exception_handler(BoxcarsError)
    async def say(_: Request, error: BoxcarsError) -> Response:
        later = isinstance(error, Full | Stopped)
        return JSONResponse({"detail": str(error)}, 503 if later else 400)

    explain_misunderstood(app)
    app.add_middleware(Door, access=access, rules=_rules(access))
    return app


def _rules(access: Access) -> Rules:
    """A run has a token if it was given one; without one only programs of this machine come in."""

    def needs_token(scope: Scope) -> bool:
        return bool(access.token) and scope["path"] not in _OPEN

    return Rules("this run", needs_token, "it is the one in BOXCARS_TOKEN of the run.")


def _add_watching(app: FastAPI, run: Run) -> None:
    peeks, stopping = Seats("looks at arcs", lambda: PEEKS), CapacityLimiter(1)

    @app.get("/health")
    async def health() -> Response:
        """Whether the run is well: 200, or 503 if it has failed."""
        state = run.status().state
        return JSONResponse({"state": state}, 503 if state == "failed" else 200)

    @app.get("/ready")
    async def ready() -> Response:
        """Whether the run takes tuples: 200, or 503 if it does not any more."""
        state = run.status().state
        return JSONResponse({"state": state}, 200 if state in ("running", "waiting") else 503)

    @app.get("/metrics")
    def metrics() -> Response:
        """The statistics for Prometheus."""
        return Response(prometheus_text(run), media_type="text/plain; version=0.0.4")

    @app.get("/api/status")
    async def status() -> dict[str, Any]:
        """How the run stands."""
        return asdict(run.status())

    @app.get("/api/stats")
    def stats() -> dict[str, Any]:
        """What each box, piece and bucket did."""
        return run.stats().to_plain()

    @app.get("/api/arcs/{arc:path}")
    async def peek(
        arc: str, request: Request, seconds: Annotated[float, Query(ge=0, le=_WAIT)] = 5.0
    ) -> Response:
        """The last tuples on an arc; waits for some, but not longer than so many seconds."""
        with peeks.taken():
            until = asyncio.get_running_loop().time() + seconds
            while not (found := run.peek(arc, 0)).num_rows and _is_live(run):
                late = asyncio.get_running_loop().time() >= until
                if late or await request.is_disconnected():
                    break
                await asyncio.sleep(_PAUSE)
        rows = f'{{"rows": {table_to_json(found)}}}'
        return Response(rows, media_type="application/json")

    @app.post("/api/stop")
    async def stop() -> dict[str, Any]:
        """Stop behind the epoch that is under way."""
        return asdict(await run_sync(run.stop, limiter=stopping))


def _is_live(run: Run) -> bool:
    return run.status().state in ("running", "waiting")
