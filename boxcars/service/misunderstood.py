"""Requests that can't be understood are answered with a sentence, as all other errors are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.responses import Response

_TOLD = 3
"""How many things are told that are wrong with a request."""


def explain_misunderstood(app: FastAPI) -> None:
    """Answer 422 with sentences instead of lists of pydantic."""

    @app.exception_handler(RequestValidationError)
    async def misunderstand(_: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"detail": " ".join(map(_sentence, error.errors()[:_TOLD]))}, 422)


def _sentence(error: Mapping[str, Any]) -> str:
    """What is wrong with a request, and where.

    >>> _sentence({"loc": ("body", "rows"), "msg": "Field required"})
    "'rows': field required."
    """
    if error.get("type") == "json_invalid":
        return "the request is no JSON."
    place = ".".join(map(str, error["loc"][1:]))
    message = f"{error['msg'][:1].lower()}{error['msg'][1:].rstrip('.')}."
    return f"'{place}': {message}" if place else message
