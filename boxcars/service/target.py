"""Network targets of the load injector: the port of a run, or a TCP port that takes lines."""

from __future__ import annotations

import io
import socket
from collections.abc import Mapping
from contextlib import ExitStack

import polars as pl

from boxcars.connectors.files import append_rows
from boxcars.connectors.systems.url import Url
from boxcars.inject import Batch, Target
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.client import Client, Feed

_PATIENCE = 10.0
"""Seconds to connect."""


class Service(Target):
    """The ``enqueue://`` inputs of a run, through its port; each batch is one message."""

    def __init__(self, client: Client, inputs: Mapping[str, str]) -> None:
        self._client, self._inputs = client, inputs
        self._closing = ExitStack()
        self._feeds: dict[str, Feed] = {}

    def open(self) -> None:
        """Connect to each input."""
        for name, target in self._inputs.items():
            feed = self._client.feed(target, batch=2**31 - 1)
            self._feeds[name] = self._closing.enter_context(feed)

    def send(self, batch: Batch) -> None:
        """Send the rows of each input."""
        for name, frame in batch.items():
            if frame.height:
                self._feeds[name].send(frame)

    def finish(self) -> None:
        """Wait until all batches are acknowledged."""
        for feed in self._feeds.values():
            feed.flush()

    def close(self) -> None:
        """Disconnect."""
        self._closing.close()


class Lines(Target):
    """A TCP port that takes lines: ``tcp://127.0.0.1:7001?format=csv``."""

    def __init__(self, url: Url) -> None:
        url.check(["format", "token"])
        self._url, self._format = url, url.options.get("format", "jsonl")
        if self._format not in ("jsonl", "csv"):
            raise Wrong(f"{url}: expected format=jsonl or format=csv, got '{self._format}'.")
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Connect, and send the token."""
        where = self._url.host or "127.0.0.1", self._url.port or 0
        try:
            self._socket = socket.create_connection(where, _PATIENCE)
            self._socket.settimeout(None)
            if token := self._url.options.get("token"):
                self._socket.sendall(token.encode() + b"\n")
        except OSError as error:
            raise BoxcarsError(f"{self._url}: can't be reached: {error}.") from None

    def send(self, batch: Batch) -> None:
        """Write the rows as lines; blocks while the other side does not read."""
        assert self._socket is not None
        for frame in batch.values():
            try:
                self._socket.sendall(lines_of(frame, self._format))
            except OSError as error:
                raise BoxcarsError(f"{self._url}: the connection was lost: {error}.") from None

    def close(self) -> None:
        """Disconnect."""
        if self._socket is not None:
            self._socket.close()


def lines_of(frame: pl.DataFrame, format_: str) -> bytes:
    r"""Encode rows as lines.

    >>> lines_of(pl.DataFrame({"t": [1], "who": ["ann"]}), "jsonl")
    b'{"t":1,"who":"ann"}\n'
    """
    found = io.BytesIO()
    append_rows(frame, format_, found, head=False)
    return found.getvalue()
