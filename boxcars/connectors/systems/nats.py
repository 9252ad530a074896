"""NATS JetStream: ``nats://host:4222/STREAM?subject=calls``."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

import pyarrow as pa

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
    silence,
    words,
)
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

_SECONDS = 10.0
"""How long to wait for an answer."""
_GOODBYE = 1.0
"""How long to wait for the end of a connection, in seconds."""
_MOST = 1000
"""Messages that are asked for, or sent, at once."""
_LOOK = 5.0
"""Seconds without a message, after which we ask whether our consumer is still there."""
_IDLE = 300.0
"""Seconds after which the server forgets a consumer that asks for nothing."""

_log = logging.getLogger("boxcars.connectors")


class Nats(Connector):
    """A stream of JetStream. It must be there, and keep messages that were read.

    Its options: ``subject``, which messages of the stream are read, or where rows are published;
    ``from``, ``first`` or ``new``, where a run begins; ``token``; ``tls=yes`` and ``ca``, a file of
    certificates.
    """

    scheme, title, package = "nats", "NATS JetStream", "nats-py"
    guarantee_in = "exactly once: the sequence number in the stream is the position"
    guarantee_out = (
        "exactly once if a repeat comes within the duplicate window of the stream, by "
        "``Nats-Msg-Id``; else at least once"
    )
    tested = "a NATS server"

    def intake(self) -> Intake:
        """A connection that reads messages by their numbers."""
        self._check()
        return NatsIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """A connection that publishes messages."""
        self._check()
        return NatsDelivery(self.url, schema, home)

    def _check(self) -> None:
        check_options(self.url, "subject", "from", "token", "tls", "ca", path="a stream")
        choice(self.url, "tls", "no", "yes")
        library(Nats, "nats")


class _Link:
    """A connection, the thread that its event loop runs in, and what its errors mean."""

    def __init__(self, url: Url) -> None:
        self.url, self.nats = url, library(Nats, "nats")
        self.loop: asyncio.AbstractEventLoop | None = None
        self.client: Any = None
        self.context: Any = None
        self.heard: Exception | None = None

    async def _hear(self, error: Exception) -> None:
        self.heard = error

    def open(self) -> Any:
        """Connect; what the server says of the stream."""
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
                    allow_reconnect=False,  # we connect again ourselves
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0.05,
                    connect_timeout=_SECONDS,
                    ping_interval=10,
                    error_cb=self._hear,
                )
            )
            self.context = self.client.jetstream(timeout=_SECONDS)
            return self.run(self.context.stream_info(url.path))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Wait for something that the loop is to do."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(3 * _SECONDS)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What a client complains of: it is lost, or something is to be mended."""
        errors, stream = self.nats.errors, self.nats.js.errors
        try:
            yield
        except stream.NotFoundError:
            stream = self.url.hide(self.url.path)
            raise Wrong(f"{self.url}: there is no stream '{stream}'.") from None
        except (stream.BadRequestError, errors.MaxPayloadError) as error:
            raise Wrong(f"{self.url}: NATS refuses: {words(error, self.url)}") from None
        except (errors.Error, OSError, TimeoutError) as error:
            lost = isinstance(error, errors.NoServersError) and self.heard
            cause = lost or error
            if "authorization" in str(cause).lower():
                said = words(cause, self.url)
                raise Wrong(f"{self.url}: NATS refuses: {said}") from None
            raise silence("NATS", cause, self.url) from None

    def close(self) -> None:
        """Disconnect, and end the thread."""
        loop, client = self.loop, self.client
        self.loop = self.client = self.context = None
        if loop is None:
            return
        if client is not None:
            with suppress(self.nats.errors.Error, OSError, TimeoutError):
                asyncio.run_coroutine_threadsafe(client.close(), loop).result(_GOODBYE)
        loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, and end what is under way."""
    loop.run_forever()
    loop.run_until_complete(_end_all())
    loop.close()


async def _end_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.01)  # sockets are closed a moment later


class NatsIntake(Intake):
    """Reads by a consumer of its own, which the server forgets; the number is the position."""

    def __init__(self, url: Url) -> None:
        self._link, self._from = _Link(url), choice(url, "from", FIRST, NEW)
        self._sub: Any = None
        self._last = self._delivered = 0
        self._heard = 0.0

    def open(self, position: Any) -> None:
        """Connect, and have a consumer begin behind a number."""
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
        """Complain about a stream that can't be read on; say what it has removed."""
        url, state = self._link.url, info.state
        retention = getattr(info.config.retention, "value", info.config.retention)
        if retention != "limits":
            raise Wrong(
                f"{url}: the retention of the stream is '{retention}': it would forget messages "
                "before they are kept here. Expected 'limits'."
            )
        first = state.last_seq if self._from == NEW else 0
        self._last, self._delivered = first if position is None else int(position), 0
        if self._last > state.last_seq:
            raise Wrong(
                f"{url}: we have read up to message {self._last}, but the stream ends at "
                f"{state.last_seq}: it is another one, so begin with another checkpoint."
            )
        if position is not None and state.first_seq > self._last + 1:
            _log.warning(
                "%s: the stream has removed messages %d to %d before they were read",
                *(url, self._last + 1, state.first_seq - 1),
            )

    def pull(self, most: int, seconds: float) -> Received | None:
        """The messages that are there."""
        with self._link.explained():
            try:
                found = self._link.run(self._sub.fetch(min(most, _MOST), seconds))
            except (self._link.nats.errors.TimeoutError, TimeoutError):
                found = []
            if not found:
                self._look()
                return None
        self._heard = monotonic()
        numbers = [message.metadata.sequence for message in found]
        wanted = range(self._delivered + 1, self._delivered + 1 + len(found))
        if [number.consumer for number in numbers] != list(wanted):
            raise Lost("NATS has dropped messages on their way.")
        self._delivered, self._last = numbers[-1].consumer, numbers[-1].stream
        return Received([message.data for message in found], self._last)

    def _look(self) -> None:
        """See whether the silence means that we were forgotten."""
        if not self._link.client.is_connected:
            raise Lost("NATS has closed the connection.")
        if monotonic() - self._heard > _LOOK:
            try:
                self._link.run(self._sub.consumer_info())
            except self._link.nats.js.errors.NotFoundError:
                raise Lost("NATS has forgotten our consumer.") from None
            self._heard = monotonic()

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


class NatsDelivery(EncodedDelivery):
    """Publishes rows, each with an id that is the same when it is repeated."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._link, self._home = _Link(url), home
        self._encoder = Encoder(schema, url)
        self._subject = url.options.get("subject", "")

    def open(self) -> None:
        """Connect, and find the subject that is meant."""
        with or_closed(self):
            self._find(self._link.open().config.subjects or [])

    def _find(self, subjects: list[str]) -> None:
        if not self._subject and len(subjects) == 1:
            self._subject = subjects[0]
        concrete = not {"*", ">"} & set(self._subject.split("."))
        if not (concrete and any(_matches(pattern, self._subject) for pattern in subjects)):
            raise Wrong(
                f"{self._link.url}: expected a subject of the stream, as in ?subject=NAME, for it "
                f"has {', '.join(subjects) or 'none'}."
            )

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Publish rows, and wait until the stream has them."""
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
    """Whether a subject is one of those that a pattern stands for.

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
