"""Validation errors of requests as sentences, like all other errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.responses import Response

_REPORTED = 3
"""Maximum number of errors reported per request."""


def explain_validation_errors(app: FastAPI) -> None:
    """Answer 422 with sentences instead of pydantic's error lists."""

    @app.exception_handler(RequestValidationError)
    async def explain(_: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"detail": " ".join(map(_sentence, error.errors()[:_REPORTED]))}, 422)


def _sentence(error: Mapping[str, Any]) -> str:
    """A validation error and its location as a sentence.

    >>> _sentence({"loc": ("body", "rows"), "msg": "Field required"})
    "'rows': field required."
    """
    if error.get("type") == "json_invalid":
        return "the request is not valid JSON."
    location = ".".join(map(str, error["loc"][1:]))
    message = f"{error['msg'][:1].lower()}{error['msg'][1:].rstrip('.')}."
    return f"'{location}': {message}" if location else message
