"""Redis Streams: ``redis://host:6379/calls``, with TLS ``rediss://``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Received
from boxcars.connectors.systems.messages import (
    FIRST,
    NEW,
    EncodedDelivery,
    Encoder,
    arrived,
    check_options,
    choice,
    library,
    or_closed,
    unreachable,
    words,
)
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

_SECONDS = 10.0
"""Seconds to wait for a response."""
_MOST = 10_000
"""Maximum entries per read."""


class Redis(Connector):
    """A Redis stream; each message is an entry with one field, ``data``.

    Options: ``field``, the name of that field; ``from``, ``first`` or ``new``, where a new run
    starts; ``db``, the database number; ``ca``, a file of CA certificates for ``rediss://``;
    ``maxlen``, the approximate number of entries to which a sink trims the stream.
    """

    scheme, title, package = "redis", "Redis Streams", "redis"
    guarantee_in = "exactly once: the id of an entry is the position"
    guarantee_out = "exactly once: the rows and their epoch number in one transaction"
    tested = "a Redis server"

    def intake(self) -> Intake:
        """Create a connection that reads entries by id."""
        self._check()
        return RedisIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that adds entries."""
        self._check()
        return RedisDelivery(self.url, schema, home)

    def _check(self) -> None:
        check_options(self.url, "field", "from", "db", "ca", "maxlen", path="a stream")
        library(Redis, "redis")


class _Link:
    """A connection, and the translation of errors."""

    def __init__(self, url: Url) -> None:
        self.url, self.redis = url, library(Redis, "redis")
        self.client: Any = None

    def open(self) -> None:
        """Connect, and check that the key is a stream, if it exists."""
        url, redis = self.url, self.redis
        secure = {"ssl": True, "ssl_ca_certs": url.options.get("ca")}
        with self.explained():
            self.client = redis.Redis(
                host=url.host or "localhost",
                port=url.port or 6379,
                db=int(url.number("db", 0)),
                username=url.user or None,
                password=url.password or None,
                protocol=2,
                socket_timeout=_SECONDS,
                socket_connect_timeout=_SECONDS,
                retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),  # the caller retries
                **(secure if url.scheme == "rediss" else {}),
            )
            self.check(self.client.type(url.path))

    def check(self, kind: bytes) -> None:
        """Raise Wrong if the key is not a stream."""
        if kind not in (b"stream", b"none"):
            name = self.url.hide(self.url.path)
            raise Wrong(f"{self.url}: '{name}' is a {kind.decode()}, not a stream.")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Translate errors of the client: Lost if temporary, Wrong if the user must act."""
        errors = self.redis.exceptions
        refused = (errors.AuthenticationError, errors.NoPermissionError)
        passing = (
            errors.ConnectionError,
            errors.TimeoutError,
            errors.WatchError,
            errors.ReadOnlyError,
            errors.OutOfMemoryError,
        )
        try:
            yield
        except refused as error:
            raise Wrong(
                f"{self.url}: Redis refused the request: {words(error, self.url)}"
            ) from None
        except (*passing, OSError) as error:
            raise unreachable("Redis", error, self.url) from None
        except errors.RedisError as error:
            raise Wrong(f"{self.url}: Redis reports an error: {words(error, self.url)}") from None

    def close(self) -> None:
        """Disconnect."""
        if self.client is not None:
            with suppress(self.redis.exceptions.RedisError, OSError):
                self.client.close()
            self.client = None


class RedisIntake(Intake):
    """Reads the entries after an id; the id of the last one is the position."""

    def __init__(self, url: Url) -> None:
        self._link, self._key = _Link(url), url.path
        self._field = url.options.get("field", "data").encode()
        self._from = choice(url, "from", FIRST, NEW)
        self._last = ""

    def open(self, position: Any) -> None:
        """Connect, and resume after an id."""
        with or_closed(self):
            self._link.open()
            self._last = position or (self._newest() if self._from == NEW else "0-0")

    def _newest(self) -> str:
        with self._link.explained():
            entries = self._link.client.xrevrange(self._key, count=1)
        return str(entries[0][0], "ascii") if entries else "0-0"

    def pull(self, most: int, seconds: float) -> Received | None:
        """The next entries."""
        count, block = min(most, _MOST), max(1, round(seconds * 1000))
        with self._link.explained():
            found = self._link.client.xread({self._key: self._last}, count, block)
        if not found:
            return None
        ((_, entries),) = found
        self._last = entries[-1][0].decode()
        return Received([self._message(fields) for _, fields in entries], self._last)

    def _message(self, fields: dict[bytes, bytes]) -> bytes:
        """The message of an entry; without the expected field, a text that can't be decoded."""
        if self._field in fields:
            return fields[self._field]
        shown = {name.decode("utf-8", "replace"): str(value) for name, value in fields.items()}
        return f"no field '{self._field.decode()}': {json.dumps(shown)}".encode()

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


class RedisDelivery(EncodedDelivery):
    """Adds rows to a stream; the epoch number is stored in a separate key, the ledger."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._link, self._key = _Link(url), url.path
        self._encoder = Encoder(schema, url)
        self._field = url.options.get("field", "data")
        self._most = int(url.number("maxlen", 0)) or None
        self._ledger = (
            f"{{{url.path}}}:boxcars:{home}"  # hash tag: the same cluster slot as the stream
        )

    def open(self) -> None:
        """Connect."""
        with or_closed(self):
            self._link.open()

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Add all rows and the epoch atomically, unless the epoch was delivered already."""
        messages = self._encoder.encode(table)
        with self._link.explained(), self._link.client.pipeline(transaction=True) as pipe:
            pipe.watch(self._ledger)
            last = pipe.get(self._ledger)
            if arrived(None if last is None else int(last), epoch):
                return
            self._link.check(pipe.type(self._key))  # an error in MULTI would not roll back
            pipe.multi()
            for message in messages:
                pipe.xadd(self._key, {self._field: message})
            if self._most is not None:
                pipe.xtrim(self._key, maxlen=self._most, approximate=True)
            pipe.set(self._ledger, epoch)
            pipe.execute()

    def close(self) -> None:
        """Disconnect."""
        self._link.close()
