"""Access settings that all ports of Boxcars share: address, token and TLS."""

from __future__ import annotations

import hmac
import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from boxcars.connectors.systems.url import is_loopback
from boxcars.model.problem import Wrong

TOKEN = "BOXCARS_TOKEN"
"""Environment variable that holds the token."""


@dataclass(frozen=True)
class Access:
    """The address to listen on, the token that clients need, and the files for TLS.

    Without a token only loopback addresses are allowed.
    """

    host: str = "127.0.0.1"
    port: int = 7070
    token: str = field(default="", repr=False)
    cert: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if not self.token and not is_loopback(self.host):
            raise Wrong(
                f"port {self.port} would be open to other machines on {self.host}: set {TOKEN} in "
                "the environment, or listen on 127.0.0.1."
            )
        if self.cert is not None:
            self._check_certificate()

    def _check_certificate(self) -> None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(str(self.cert), self.key)
        except (OSError, ssl.SSLError) as error:
            raise Wrong(f"{self.cert}: the certificate can't be read: {error}.") from None

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"{'https' if self.cert else 'http'}://{self.host}:{self.port}"

    def admits(self, header: str | None, query: str | None = None) -> bool:
        """Whether the token is right, from ``Authorization: Bearer`` or a query parameter.

        >>> access = Access(token="sesame")
        >>> access.admits("Bearer sesame"), access.admits("Bearer x"), access.admits(None, "sesame")
        (True, False, True)
        """
        if not self.token:
            return True
        said = (header or "").removeprefix("Bearer ") or (query or "")
        return hmac.compare_digest(said.encode(), self.token.encode())


def token_from_environment() -> str:
    """The token from ``BOXCARS_TOKEN``, or an empty string."""
    return os.environ.get(TOKEN, "")
