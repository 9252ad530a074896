"""The web application of the studio: its API under ``/api``, and its page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

from boxcars.model.problem import BoxcarsError
from boxcars.service.guard import Guard
from boxcars.service.validation_errors import explain_validation_errors
from boxcars.studio.api.network_routes import add_editing, add_networks, add_parts
from boxcars.studio.api.preview_routes import add_plans, add_previews
from boxcars.studio.api.run_routes import add_injectors, add_runs, add_watching
from boxcars.studio.api.security import rules
from boxcars.studio.api.studio import Studio
from boxcars.studio.wire.errors import Missing, Unable
from boxcars.studio.wire.messages import Refusal

STATIC = Path(__file__).parents[1] / "static"
"""The built page."""
_WORTH, _QUICK = 2_000, 4
"""Responses above this size in bytes are compressed; the level favours speed over size."""
_ABOUT = """Draw networks, check them, preview them, run them on Spark and watch them.

A network is sent in its plain form, as in a JSON file. Requests that change something need
`Authorization: Bearer TOKEN`. Errors have a status of 4xx and the body
`{"detail": "a sentence."}`."""
_UNBUILT = """<!doctype html><title>Boxcars studio</title>
<p>The studio's page is not built in this checkout: run <code>bin/env</code>, then reload this
page. The API is available.</p>"""


def make_app(studio: Studio, static: Path = STATIC) -> FastAPI:
    """Return the web application of a studio."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        studio.close()

    app = FastAPI(
        title="Boxcars studio",
        version=version("boxcars"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=_name,
        responses={
            "4XX": {"model": Refusal, "description": "The request failed; the detail says why."}
        },
    )
    for add in (add_networks, add_parts, add_editing, add_plans, add_previews):
        add(app, studio)
    for add in (add_runs, add_watching, add_injectors):
        add(app, studio)
    _add_error_handlers(app)
    _add_page(app, static)
    app.add_middleware(GZipMiddleware, minimum_size=_WORTH, compresslevel=_QUICK)
    app.add_middleware(Guard, access=studio.access, rules=rules(studio.access))
    return app


def _name(route: APIRoute) -> str:
    """Name an operation after its function."""
    return route.name


def _add_error_handlers(app: FastAPI) -> None:
    codes: Mapping[type[BoxcarsError], int] = {Missing: 404, Unable: 409, BoxcarsError: 400}

    @app.exception_handler(BoxcarsError)
    def refuse(_: Request, error: BoxcarsError) -> Response:
        code = next(code for kind, code in codes.items() if isinstance(error, kind))
        return JSONResponse({"detail": str(error)}, code)

    explain_validation_errors(app)


class _Page(StaticFiles):
    """The files of the page; those with a hash in their names are cached forever."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        """Return a file, with its cache lifetime."""
        response = super().file_response(*arguments, **named)
        scope: Scope = named.get("scope") or arguments[2]
        lasting = scope["path"].startswith("/assets/")
        response.headers["cache-control"] = "max-age=31536000, immutable" if lasting else "no-cache"
        return response


def _add_page(app: FastAPI, static: Path) -> None:
    if (static / "index.html").exists():
        app.mount("/", _Page(directory=static, html=True), name="page")
        return

    @app.get("/", include_in_schema=False)
    def unbuilt() -> HTMLResponse:
        return HTMLResponse(_UNBUILT)
