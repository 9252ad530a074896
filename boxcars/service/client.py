"""The client of a run in another process: Aurora's enqueue and dequeue, over the network.

``bx.connect("http://127.0.0.1:7070").enqueue("calls", {"time": [1], "caller": ["ann"]})``; see
docs/how-to/feed-and-tap.md.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from time import monotonic, sleep
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import polars as pl
import pyarrow as pa
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from boxcars.connectors.conform import as_frame
from boxcars.engine.stats.run_stats import RunStats
from boxcars.events.event import Event
from boxcars.events.event_log import Page
from boxcars.model.problem import BoxcarsError
from boxcars.service.wire import LONGEST, MESSAGE, UNREGISTER, BatchCodec, decode_epoch

BATCH = 1000
"""Default number of tuples per batch."""
_MAX_IN_FLIGHT = 64 * 2**20
"""Bytes of unacknowledged batches, above which a sender waits."""
_ENDED, _REFUSED = 1000, (1008, 1009)
"""WebSocket close codes: normal end, and rejected messages of the client."""
_QUIET = 60.0
"""Seconds without a pong after which a connection counts as lost."""
_PATIENCE = 30.0
"""Seconds of retries for a run that does not answer."""


class Refused(BoxcarsError):
    """The run rejected a message or request of the client."""


class Client:
    """A client of a run, which it reaches through the HTTP service at ``address``."""

    def __init__(self, address: str, token: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.address, self._token, self._tls = address.rstrip("/"), token, tls

    def status(self) -> dict[str, Any]:
        """The state and progress of the run."""
        found: dict[str, Any] = self._call("/api/status")
        return found

    def stats(self) -> RunStats:
        """Counts, rates and latencies of each box, piece and bucket."""
        return RunStats.from_plain(self._call("/api/stats"))

    def peek(self, arc: str, seconds: float = 5.0) -> list[dict[str, Any]]:
        """The latest tuples on an arc; waits up to ``seconds`` for the first ones."""
        found: list[dict[str, Any]] = self._call(f"/api/arcs/{quote(arc)}?seconds={seconds}")[
            "rows"
        ]
        return found

    def events(self, after: int = 0, seconds: float = 0.0) -> tuple[Page, bool]:
        """The next events after a number, and whether the run is live.

        It waits up to ``seconds`` for the first of them.
        """
        found = self._call(f"/api/events?after={after}&seconds={seconds}")
        try:
            events = tuple(map(Event.of, found["events"]))
            return Page(events, int(found["damaged"])), bool(found["live"])
        except (ValueError, TypeError, KeyError, AttributeError):
            raise BoxcarsError(f"{self.address}: this is not a run.") from None

    def stop(self) -> dict[str, Any]:
        """Stop the run after the current epoch."""
        found: dict[str, Any] = self._call("/api/stop", "POST")
        return found

    def enqueue(self, name: str, data: Any, batch: int = BATCH) -> None:
        """Put tuples into an input, and wait until the run has stored them durably."""
        with self.feed(name, batch) as feed:
            feed.send(data)

    def feed(self, name: str, batch: int = BATCH) -> Feed:
        """A connection to put many tuples into an input; a context manager."""
        return Feed(self, name, batch)

    def dequeue(self, name: str, after: int = 0) -> Iterator[tuple[int, pa.Table]]:
        """Yield the tuples of an output as they arrive: the number of each epoch, and its rows.

        It starts after the epoch ``after``, and ends when the run has finished. If the connection
        is lost, or the run is stopped and resumed, it reconnects and continues.
        """
        until = monotonic() + _PATIENCE
        while True:
            try:
                with self.open(f"/api/outputs/{quote(name)}/tap?after={after}") as socket:
                    for message in socket:
                        until = monotonic() + _PATIENCE
                        epoch, table = decode_epoch(_bytes(message))
                        after = epoch
                        yield epoch, table
                    if socket.close_code == _ENDED:
                        return
                    raise OSError("the run was stopped")
            except (OSError, ConnectionClosed) as error:
                self.lost(error, until)

    def _call(self, path: str, method: str = "GET") -> Any:
        request = urllib.request.Request(self.address + path, method=method)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE, context=self._tls) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(f"{self.address}: {_detail(error)}") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise BoxcarsError(f"{self.address}: the run can't be reached: {reason}.") from None

    @contextmanager
    def open(self, path: str) -> Iterator[ClientConnection]:
        """Open a WebSocket. Raises OSError if the run is unreachable, which may be temporary."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else None
        url = "ws" + self.address.removeprefix("http") + path
        try:
            with open_socket(
                url,
                additional_headers=headers,
                ssl=self._tls,
                max_size=LONGEST,
                compression=None,
                ping_timeout=_QUIET,
            ) as socket:
                yield socket
        except InvalidStatus as refused:
            what = {
                401: "the token is missing or wrong.",
                404: "there is no such input or output.",
                503: "the run has too many clients; try again later.",
            }
            code = refused.response.status_code
            raise Refused(f"{self.address}: {what.get(code, f'the status is {code}.')}") from None
        except InvalidHandshake as error:
            raise BoxcarsError(f"{self.address}: this is not a run: {error}.") from None

    def lost(self, error: Exception, until: float) -> None:
        """Handle a lost connection: wait before a retry, or raise if a retry is useless."""
        if isinstance(error, ConnectionClosed) and error.rcvd and error.rcvd.code in _REFUSED:
            raise Refused(f"{self.address}: {error.rcvd.reason}") from None
        if monotonic() > until:
            raise BoxcarsError(f"{self.address}: the run can't be reached: {error}.") from None
        sleep(0.2)


class Feed:
    """A connection that puts tuples into an input in batches, each exactly once.

    After a lost connection, unacknowledged batches are sent again; the run recognizes duplicates
    by their sequence numbers.
    """

    def __init__(self, client: Client, name: str, batch: int) -> None:
        self._client, self._name, self._batch = client, name, batch
        self._sender, self._number = uuid4().hex, 0
        self._in_flight: deque[tuple[int, pa.RecordBatch]] = deque()
        self._bytes = 0
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        self._codec = BatchCodec()

    def __enter__(self) -> Self:
        self._connect()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
                self._unregister()
        finally:
            self._disconnect()

    def send(self, data: Any) -> None:
        """Send tuples in batches; blocks only while too many are unacknowledged."""
        table = as_frame(data).to_arrow(compat_level=pl.CompatLevel.oldest())
        for batch in _pieces(table.to_batches(max_chunksize=self._batch)):
            self._number += 1
            self._in_flight.append((self._number, batch))
            self._bytes += batch.nbytes
            self._try(partial(self._write, batch))
            while self._bytes > _MAX_IN_FLIGHT:
                self._try(lambda: self._read_ack(1.0))

    def flush(self) -> None:
        """Wait until all batches are acknowledged."""
        while self._in_flight:
            self._try(lambda: self._read_ack(1.0))

    def _unregister(self) -> None:
        """Tell the run to forget this sender. Harmless if the message is lost."""
        with suppress(OSError, ConnectionClosed):
            if self._socket is not None:
                self._socket.send(UNREGISTER)

    def _try(self, act: Callable[[], None]) -> None:
        """Call ``act``; if the connection is lost, reconnect and resend unacknowledged batches."""
        until = monotonic() + _PATIENCE
        while True:
            try:
                if self._socket is None:
                    self._connect()
                    self._send_again()
                    return
                act()
            except (OSError, ConnectionClosed) as error:
                self._disconnect()
                self._client.lost(error, until)
            else:
                return

    def _write(self, batch: pa.RecordBatch) -> None:
        assert self._socket is not None
        for message in self._codec.write(batch):
            self._socket.send(message)

    def _read_ack(self, seconds: float) -> None:
        """Read an acknowledgment: the number of the last durable batch."""
        assert self._socket is not None
        try:
            kept = int(self._socket.recv(seconds))
        except TimeoutError:
            return
        while self._in_flight and self._in_flight[0][0] <= kept:
            self._bytes -= self._in_flight.popleft()[1].nbytes

    def _send_again(self) -> None:
        for _, batch in list(self._in_flight):
            self._write(batch)

    def _connect(self) -> None:
        first = self._in_flight[0][0] if self._in_flight else self._number + 1
        path = f"/api/inputs/{quote(self._name)}/feed?sender={self._sender}&first={first}"
        self._codec = BatchCodec()
        self._socket = self._open.enter_context(self._client.open(path))

    def _disconnect(self) -> None:
        self._socket = None
        self._open.close()


def connect(address: str, token: str = "", tls: ssl.SSLContext | None = None) -> Client:
    """Return a client of a run that has a port: ``connect("http://127.0.0.1:7070")``."""
    return Client(address, token, tls)


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Split batches that would be too large for a message."""
    for batch in batches:
        if batch.nbytes <= MESSAGE // 2 or batch.num_rows < 2:
            yield batch
        else:
            half = batch.num_rows // 2
            yield from _pieces([batch.slice(0, half), batch.slice(half)])


def _bytes(message: str | bytes) -> bytes:
    return message if isinstance(message, bytes) else message.encode()


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the status is {error.code}."
