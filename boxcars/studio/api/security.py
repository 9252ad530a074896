"""Access rules of the studio, enforced by its :mod:`guard <boxcars.service.guard>`.

By default the studio listens on loopback only, and requests that change something need the token.
On any other host the whole API needs it.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Scope

from boxcars.connectors.systems.url import is_loopback
from boxcars.service.guard import Rules
from boxcars.service.security import Access

_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; connect-src 'self' ws: wss:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
}


def rules(access: Access) -> Rules:
    """Return the access rules of a studio."""
    way_in = "open the address that boxcars studio shows."
    return Rules("this studio", _needs_token(is_loopback(access.host)), way_in, _HEADERS)


def _needs_token(alone: bool) -> Callable[[Scope], bool]:
    def needs(scope: Scope) -> bool:
        if scope["path"].startswith("/openapi.json"):
            return True
        if not scope["path"].startswith("/api/"):
            return False
        changes = scope["type"] == "http" and scope["method"] not in ("GET", "HEAD")
        return changes or not alone

    return needs
