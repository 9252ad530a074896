"""Webhooks: post the rows of each epoch to ``https://host/path``."""

from __future__ import annotations

import base64
import re
import ssl
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import quote, urlencode

import pyarrow as pa

from boxcars.connectors.systems.connector import Connector, Delivery, Lost
from boxcars.connectors.systems.messages import (
    EncodedDelivery,
    Encoder,
    check_options,
    client_tls,
    words,
)
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import BoxcarsError, Wrong, visible
from boxcars.model.schema import Schema

_SECONDS = 30.0
"""Default timeout in seconds."""
_ROWS = 10_000
"""Default rows per request."""
_PASSING = {408, 425, 429}
"""Status codes that allow a retry, besides 500 and above."""
_ANSWER = 2**20
"""Maximum bytes of a response that are read."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TYPES = {
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
}


class Webhook(Connector):
    """An HTTP endpoint that receives rows by POST, by default as JSON lines.

    Options: ``format``, also ``json`` for an array; ``rows``, the maximum per request; ``timeout``
    in seconds; ``token``, sent as a bearer token; ``header.NAME`` and ``query.NAME``, sent as
    given; ``ca``, a file of CA certificates.
    """

    scheme, title = "http", "webhooks"
    guarantee_out = "at least once; exactly once if the receiver honors the ``Idempotency-Key``"
    tested = "Python's built-in HTTP server"

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that posts rows."""
        sent = [n for n in self.url.options if n.startswith(("header.", "query."))]
        check_options(self.url, "rows", "timeout", "token", "ca", *sent)
        if not self.url.host:
            raise Wrong(f"{self.url}: expected a host, as in https://host/path.")
        return WebhookDelivery(self.url, schema, home)


class WebhookDelivery(EncodedDelivery):
    """Posts the rows of an epoch, in requests whose keys stay the same in a replay."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._url, self._home = url, home
        self._array = url.options.get("format") == "json"
        plain = Url(url.scheme, options={}) if self._array else url
        self._encoder = Encoder(schema, plain)
        self._rows = max(1, int(url.number("rows", _ROWS)))
        self._headers = _headers(url)
        query = {n.removeprefix("query."): v for n, v in url.options.items() if n[:6] == "query."}
        self._target = "/" + quote(url.path) + (f"?{urlencode(query)}" if query else "")
        self._connection = self._make()

    def _make(self) -> HTTPConnection:
        url, seconds = self._url, self._url.number("timeout", _SECONDS)
        if url.scheme == "http":
            return HTTPConnection(url.host, url.port, timeout=seconds)
        return HTTPSConnection(url.host, url.port, timeout=seconds, context=client_tls(url))

    def open(self) -> None:
        """Connect."""
        try:
            self._connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise Wrong(
                f"{self._url}: the certificate is not trusted: {words(error, self._url)}"
            ) from None
        except OSError as error:
            raise Lost(f"the server does not answer: {words(error, self._url)}") from None

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Post the rows; a replay posts all of them again, with the same keys."""
        for part, first in enumerate(range(0, table.num_rows, self._rows)):
            body = self._body(table.slice(first, self._rows))
            status, reason = self._post(body, f"{self._home}-{epoch}-{part}")
            if status in _PASSING or status >= 500:
                raise Lost(f"the server answered {status} {reason}.")
            if not 200 <= status < 300:
                raise BoxcarsError(f"{self._url}: the server answered {status} {reason}.")

    def _post(self, body: bytes, key: str) -> tuple[int, str]:
        try:
            headers = {**self._headers, "Idempotency-Key": key}
            self._connection.request("POST", self._target, body, headers)
            with self._connection.getresponse() as response:
                if len(response.read(_ANSWER)) == _ANSWER:
                    self._connection.close()  # discard the rest
                return response.status, response.reason
        except (OSError, HTTPException) as error:
            raise Lost(f"the server does not answer: {words(error, self._url)}") from None

    def _body(self, table: pa.Table) -> bytes:
        messages = self._encoder.encode(table)
        if self._array:
            return b"[" + b",".join(messages) + b"]"
        if self._url.options.get("format") == "arrow":
            return messages[0]
        return b"".join(message + b"\n" for message in messages)

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()


def _headers(url: Url) -> dict[str, str]:
    """The headers of each request, without its key."""
    format_ = url.options.get("format", "jsonl")
    headers = {"Content-Type": _TYPES.get(format_, "application/octet-stream")}
    if url.user or url.password:
        pair = base64.b64encode(f"{url.user}:{url.password}".encode()).decode()
        headers["Authorization"] = f"Basic {pair}"
    if token := url.options.get("token"):
        headers["Authorization"] = f"Bearer {token}"
    own = {n.removeprefix("header."): v for n, v in url.options.items() if n[:7] == "header."}
    for name, value in (headers | own).items():
        if not _HEADER.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise Wrong(f"{url}: the header '{visible(name)}' can't be sent: use plain ASCII.")
    return headers | own
