"""NATS JetStream: ``nats://host:4222/STREAM?subject=calls``."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

import pyarrow as pa

from boxcars.connectors.log_context import warn
from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost, Received
from boxcars.connectors.systems.messages import (
    FIRST,
    NEW,
    EncodedDelivery,
    Encoder,
    check_options,
    choice,
    client_tls,
    library,
    or_closed,
    unreachable,
    words,
)
from boxcars.connectors.systems.url import Url
from boxcars.events.event import Kind
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

_SECONDS = 10.0
"""Seconds to wait for a response."""
_CLOSE_SECONDS = 1.0
"""Seconds to wait for a connection to close."""
_MOST = 1000
"""Maximum messages per fetch or publish."""
_LOOK = 5.0
"""Seconds without a message, after which the existence of the consumer is checked."""
_IDLE = 300.0
"""Seconds after which the server removes an inactive consumer."""


class Nats(Connector):
    """A JetStream stream. It must exist, and retain messages that were read.

    Options: ``subject``, a filter of the messages to read, or the subject to publish to; ``from``,
    ``first`` or ``new``, where a new run starts; ``token``; ``tls=yes`` and ``ca``, a file of CA
    certificates.
    """

    scheme, title, package = "nats", "NATS JetStream", "nats-py"
    guarantee_in = "exactly once: the sequence number in the stream is the position"
    guarantee_out = (
        "exactly once if a replay falls within the duplicate window of the stream, by "
        "``Nats-Msg-Id``; otherwise at least once"
    )
    tested = "a NATS server"

    def intake(self) -> Intake:
        """Create a connection that reads messages by sequence number."""
        self._check()
        return NatsIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that publishes messages."""
        self._check()
        return NatsDelivery(self.url, schema, home)

    def _check(self) -> None:
        check_options(self.url, "subject", "from", "token", "tls", "ca", path="a stream")
        choice(self.url, "tls", "no", "yes")
        library(Nats, "nats")


class _Link:
    """A connection, the thread of its event loop, and the translation of errors."""

    def __init__(self, url: Url) -> None:
        self.url, self.nats = url, library(Nats, "nats")
        self.loop: asyncio.AbstractEventLoop | None = None
        self.client: Any = None
        self.context: Any = None
        self.last_error: Exception | None = None

    async def _on_error(self, error: Exception) -> None:
        self.last_error = error

    def open(self) -> Any:
        """Connect, and return the server's information about the stream."""
        url = self.url
        tls = client_tls(url) if url.options.get("tls") == "yes" else None
        loop = self.loop = asyncio.new_event_loop()
        threading.Thread(target=_serve, args=(loop,), name="boxcars-nats", daemon=True).start()
        with self.explained():
            self.client = self.nats.NATS()
            self.run(
                self.client.connect(
                    f"nats://{url.host or 'localhost'}:{url.port or 4222}",
                    user=url.user or None,
                    password=url.password or None,
                    token=url.options.get("token"),
                    tls=tls,
                    allow_reconnect=False,  # the caller reconnects
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0.05,
                    connect_timeout=_SECONDS,
                    ping_interval=10,
                    error_cb=self._on_error,
                )
            )
            self.context = self.client.jetstream(timeout=_SECONDS)
            return self.run(self.context.stream_info(url.path))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the event loop, and wait for its result."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(3 * _SECONDS)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Translate errors of the client: Lost if temporary, Wrong if the user must act."""
        errors, stream = self.nats.errors, self.nats.js.errors
        try:
            yield
        except stream.NotFoundError:
            stream = self.url.hide(self.url.path)
            raise Wrong(f"{self.url}: there is no stream '{stream}'.") from None
        except (stream.BadRequestError, errors.MaxPayloadError) as error:
            raise Wrong(f"{self.url}: NATS refused the request: {words(error, self.url)}") from None
        except (errors.Error, OSError, TimeoutError) as error:
            lost = isinstance(error, errors.NoServersError) and self.last_error
            cause = lost or error
            if "authorization" in str(cause).lower():
                said = words(cause, self.url)
                raise Wrong(f"{self.url}: NATS refused the request: {said}") from None
            raise unreachable("NATS", cause, self.url) from None

    def close(self) -> None:
        """Disconnect, and end the thread."""
        loop, client = self.loop, self.client
        self.loop = self.client = self.context = None
        if loop is None:
            return
        if client is not None:
            with suppress(self.nats.errors.Error, OSError, TimeoutError):
                asyncio.run_coroutine_threadsafe(client.close(), loop).result(_CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop until it is stopped, then cancel its tasks."""
    loop.run_forever()
    loop.run_until_complete(_end_all())
    loop.close()


async def _end_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.01)  # sockets close asynchronously


class NatsIntake(Intake):
    """Reads with an ephemeral consumer; the sequence number is the position."""

    def __init__(self, url: Url) -> None:
        self._link, self._from = _Link(url), choice(url, "from", FIRST, NEW)
        self._sub: Any = None
        self._last = self._delivered = 0
        self._heard = 0.0

    def open(self, position: Any) -> None:
        """Connect, and create a consumer that starts after a sequence number."""
        with or_closed(self), self._link.explained():
            info = self._link.open()
            self._compare(info, position)
            self._sub = self._link.run(self._subscribe())
        self._heard = monotonic()

    def _subscribe(self) -> Coroutine[Any, Any, Any]:
        url, api = self._link.url, self._link.nats.js.api
        config = api.ConsumerConfig(
            deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._last + 1,
            ack_policy=api.AckPolicy.NONE,
            inactive_threshold=_IDLE,
        )
        subject = url.options.get("subject", ">")
        found: Coroutine[Any, Any, Any] = self._link.context.pull_subscribe(
            subject, stream=url.path, config=config
        )
        return found

    def _compare(self, info: Any, position: Any) -> None:
        """Raise Wrong if the stream can't be resumed; warn about deleted messages."""
        url, state = self._link.url, info.state
        retention = getattr(info.config.retention, "value", info.config.retention)
        if retention != "limits":
            raise Wrong(
                f"{url}: the retention of the stream is '{retention}', which may delete messages "
                "before they are stored by the run. Expected 'limits'."
            )
        first = state.last_seq if self._from == NEW else 0
        self._last, self._delivered = first if position is None else int(position), 0
        if self._last > state.last_seq:
            raise Wrong(
                f"{url}: the run has read up to message {self._last}, but the stream ends at "
                f"{state.last_seq}: the stream was recreated, so start with a new checkpoint."
            )
        if position is not None and state.first_seq > self._last + 1:
            first, stop = self._last + 1, state.first_seq
            warn(
                Kind.MESSAGES_LOST,
                f"{url}: the stream has deleted messages {first} to {stop - 1} before they were "
                "read",
                {"messages": stop - first},
            )

    def pull(self, most: int, seconds: float) -> Received | None:
        """The next messages."""
        with self._link.explained():
            try:
                found = self._link.run(self._sub.fetch(min(most, _MOST), seconds))
            except (self._link.nats.errors.TimeoutError, TimeoutError):
                found = []
            if not found:
                self._check_consumer()
                return None
        self._heard = monotonic()
        numbers = [message.metadata.sequence for message in found]
        wanted = range(self._delivered + 1, self._delivered + 1 + len(found))
        if [number.consumer for number in numbers] != list(wanted):
            raise Lost("NATS has dropped messages in transit.")
        self._delivered, self._last = numbers[-1].consumer, numbers[-1].stream
        return Received([message.data for message in found], self._last)

    def _check_consumer(self) -> None:
        """Raise Lost if the silence means that the connection or the consumer is gone."""
        if not self._link.client.is_connected:
            raise Lost("NATS has closed the connection.")
        if monotonic() - self._heard > _LOOK:
            try:
                self._link.run(self._sub.consumer_info())
            except self._link.nats.js.errors.NotFoundError:
                raise Lost("NATS has removed the consumer.") from None
            self._heard = monotonic()

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


class NatsDelivery(EncodedDelivery):
    """Publishes rows, each with an id that stays the same in a replay."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._link, self._home = _Link(url), home
        self._encoder = Encoder(schema, url)
        self._subject = url.options.get("subject", "")

    def open(self) -> None:
        """Connect, and determine the subject to publish to."""
        with or_closed(self):
            self._find(self._link.open().config.subjects or [])

    def _find(self, subjects: list[str]) -> None:
        if not self._subject and len(subjects) == 1:
            self._subject = subjects[0]
        concrete = not {"*", ">"} & set(self._subject.split("."))
        if not (concrete and any(_matches(pattern, self._subject) for pattern in subjects)):
            raise Wrong(
                f"{self._link.url}: expected a subject of the stream, as in ?subject=NAME; it has "
                f"{', '.join(subjects) or 'none'}."
            )

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Publish rows, and wait until the stream has stored them."""
        messages = list(enumerate(self._encoder.encode(table)))
        for first in range(0, len(messages), _MOST):
            with self._link.explained():
                self._link.run(self._publish(messages[first : first + _MOST], epoch))

    async def _publish(self, group: list[tuple[int, bytes]], epoch: int) -> None:
        sent = [
            self._link.context.publish(
                self._subject,
                message,
                stream=self._link.url.path,
                headers={"Nats-Msg-Id": f"{self._home}-{epoch}-{row}"},
            )
            for row, message in group
        ]
        await asyncio.gather(*sent)

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


def _matches(pattern: str, subject: str) -> bool:
    """Whether a subject matches a pattern.

    >>> _matches("calls.*.>", "calls.ann.at.home"), _matches("calls.*", "calls.ann.x")
    (True, False)
    """
    wanted, words_ = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        return len(words_) >= len(wanted) and _matches(
            ".".join([*wanted[:-1], "*"]), ".".join(words_[: len(wanted)])
        )
    return len(wanted) == len(words_) and all(
        one in ("*", two) for one, two in zip(wanted, words_, strict=True)
    )
