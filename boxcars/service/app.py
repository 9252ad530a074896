"""The web application of a run: feed it, read its outputs, monitor and stop it.

Waiting requests hold no thread, so that ``/health`` answers however many wait or read slowly.
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
from boxcars.service.concurrency import ConcurrencyLimit
from boxcars.service.events import add_events
from boxcars.service.guard import Guard, Rules
from boxcars.service.inputs import add_inputs
from boxcars.service.metrics import prometheus_text
from boxcars.service.outputs import add_outputs
from boxcars.service.security import Access
from boxcars.service.validation_errors import explain_validation_errors
from boxcars.service.wire import table_to_json

PEEKS = 32
"""Concurrent requests for the tuples of an arc."""
_WAIT = 60.0
"""Maximum seconds to wait for tuples on an arc."""
_PAUSE = 0.1
"""Seconds between polls of an arc; long, so that many waiting requests cost little."""
_OPEN = ("/health", "/ready")
"""Paths that need no token, so they return the state only: a full status contains tuple data."""


def make_app(run: Run, access: Access) -> FastAPI:
    """The application for a run."""
    app = FastAPI(title="Boxcars", version=version("boxcars"), docs_url=None, redoc_url=None)
    _add_watching(app, run)
    add_events(app, run)
    add_inputs(app, run)
    add_outputs(app, run)

    @app.exception_handler(BoxcarsError)
    async def say(_: Request, error: BoxcarsError) -> Response:
        later = isinstance(error, Full | Stopped)
        return JSONResponse({"detail": str(error)}, 503 if later else 400)

    explain_validation_errors(app)
    app.add_middleware(Guard, access=access, rules=_rules(access))
    return app


def _rules(access: Access) -> Rules:
    """The token is required if the run has one; without one the port is local (see Access)."""

    def needs_token(scope: Scope) -> bool:
        return bool(access.token) and scope["path"] not in _OPEN

    return Rules("this run", needs_token, "use the run's BOXCARS_TOKEN.")


def _add_watching(app: FastAPI, run: Run) -> None:
    peeks, stopping = ConcurrencyLimit("arc requests", lambda: PEEKS), CapacityLimiter(1)

    @app.get("/health")
    async def health() -> Response:
        """Liveness of the run: 200, or 503 if it has failed."""
        state = run.status().state
        return JSONResponse({"state": state}, 503 if state == "failed" else 200)

    @app.get("/ready")
    async def ready() -> Response:
        """Readiness of the run: 200 while it accepts tuples, 503 after it has ended."""
        state = run.status().state
        return JSONResponse({"state": state}, 200 if state in ("running", "waiting") else 503)

    @app.get("/metrics")
    def metrics() -> Response:
        """The statistics in the Prometheus text format."""
        return Response(prometheus_text(run), media_type="text/plain; version=0.0.4")

    @app.get("/api/status")
    async def status() -> dict[str, Any]:
        """The state and progress of the run."""
        return asdict(run.status())

    @app.get("/api/stats")
    def stats() -> dict[str, Any]:
        """Statistics of each box, piece and bucket."""
        return run.stats().to_plain()

    @app.get("/api/arcs/{arc:path}")
    async def peek(
        arc: str, request: Request, seconds: Annotated[float, Query(ge=0, le=_WAIT)] = 5.0
    ) -> Response:
        """The latest tuples on an arc; waits up to ``seconds`` for the first ones."""
        with peeks.acquired():
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
        """Stop the run after the current epoch."""
        return asdict(await run_sync(run.stop, limiter=stopping))


def _is_live(run: Run) -> bool:
    return run.status().state in ("running", "waiting")
