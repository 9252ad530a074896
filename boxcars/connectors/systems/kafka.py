"""Kafka: ``kafka://host:9092/calls?servers=other:9092``."""

from __future__ import annotations

from collections.abc import Iterator
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
    arrived,
    check_options,
    choice,
    library,
    or_closed,
    words,
)
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import Schema

_SECONDS = 10.0
"""Seconds to wait for a response."""
_MOST = 10_000
"""Maximum messages per pull."""
_LOOK = 60.0
"""Seconds between checks for new partitions."""
_REFUSED = (
    "_AUTHENTICATION",
    "SASL_AUTHENTICATION_FAILED",
    "TOPIC_AUTHORIZATION_FAILED",
    "GROUP_AUTHORIZATION_FAILED",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "MSG_SIZE_TOO_LARGE",
    "_SSL",
    "_FENCED",
    "PRODUCER_FENCED",
)
"""Permanent errors."""


class Kafka(Connector):
    """A Kafka topic; all its partitions are read.

    Options: ``servers``, more bootstrap servers, separated by commas; ``from``, ``first`` or
    ``new``, where a new run starts; ``group``, a consumer group whose offsets are committed for
    monitoring; ``key``, the field used as message key; ``sasl``, the mechanism for
    ``user:password@``; ``tls=yes`` and ``ca``, a file of CA certificates.
    """

    scheme, title, package = "kafka", "Kafka", "confluent-kafka"
    guarantee_in = "exactly once: the offsets of the partitions are the position"
    guarantee_out = (
        "exactly once for ``read_committed`` consumers: rows and epoch in one transaction"
    )
    tested = "librdkafka's mock cluster, no real broker"

    def intake(self) -> Intake:
        """Create a connection that reads partitions by offset."""
        self._check()
        return KafkaIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that writes in transactions."""
        self._check()
        return KafkaDelivery(self.url, schema, home)

    def _check(self) -> None:
        own = ("servers", "from", "group", "key", "sasl", "tls", "ca")
        check_options(self.url, *own, path="a topic")
        choice(self.url, "tls", "no", "yes")
        choice(self.url, "sasl", "plain", "scram-sha-256", "scram-sha-512")
        library(Kafka, "confluent_kafka")


class _Link:
    """A consumer, the client settings, and the translation of errors."""

    def __init__(self, url: Url, group: str) -> None:
        self.url, self.kafka = url, library(Kafka, "confluent_kafka")
        self._group = group
        self._error: Any = None
        self.consumer: Any = None

    def settings(self) -> dict[str, Any]:
        """The settings of every client."""
        url = self.url
        servers = [f"{url.host or 'localhost'}:{url.port or 9092}", url.options.get("servers", "")]
        secure, named = url.options.get("tls") == "yes", bool(url.user or url.password)
        settings = {
            "bootstrap.servers": ",".join(filter(None, servers)),
            "security.protocol": ("SASL_" if named else "") + ("SSL" if secure else "PLAINTEXT"),
            "error_cb": self._on_error,
            "log_level": 2,
        }
        if named:
            settings |= {
                "sasl.mechanism": url.options.get("sasl", "plain").upper(),
                "sasl.username": url.user,
                "sasl.password": url.password,
            }
        if "ca" in url.options:
            settings["ssl.ca.location"] = url.options["ca"]
        return settings

    def _on_error(self, error: Any) -> None:
        if error.name() in ("_ALL_BROKERS_DOWN", *_REFUSED):
            self._error = error

    def open(self) -> list[int]:
        """Connect, and return the partitions of the topic."""
        self._error = None
        settings = {
            **self.settings(),
            "group.id": self._group,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
        }
        with self.explained():
            self.consumer = self.kafka.Consumer(settings)
        return self.partitions()

    def partitions(self) -> list[int]:
        """The partition numbers."""
        topic = self.url.path
        with self.explained():
            try:
                found = self.consumer.list_topics(topic, timeout=_SECONDS).topics[topic]
            except self.kafka.KafkaException as error:
                self.check()  # an error reported earlier is more specific
                raise error
        if found.error is not None and found.error.name() == "UNKNOWN_TOPIC_OR_PART":
            raise Wrong(f"{self.url}: there is no topic '{self.url.hide(topic)}'.")
        if found.error is not None:
            raise self.meant(found.error)
        return sorted(found.partitions)

    def check(self) -> None:
        """Raise the last error that the client reported."""
        error, self._error = self._error, None
        if error is not None:
            raise self.meant(error)

    def meant(self, error: Any) -> BoxcarsError:
        """Translate an error: Lost if it is temporary, Wrong if the user must act."""
        said = words(Exception(error.str()), self.url)
        if error.name() in _REFUSED:
            return Wrong(f"{self.url}: Kafka refused the request: {said}")
        return Lost(f"Kafka does not answer: {said}")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Translate errors of the client."""
        try:
            yield
        except self.kafka.KafkaException as error:
            raise self.meant(error.args[0]) from None

    def close(self) -> None:
        """Disconnect."""
        consumer, self.consumer = self.consumer, None
        if consumer is not None:
            with suppress(self.kafka.KafkaException, RuntimeError):
                consumer.close()


class KafkaIntake(Intake):
    """Reads all partitions; the position is the next offset of each."""

    def __init__(self, url: Url) -> None:
        self._commits = "group" in url.options
        self._link = _Link(url, url.options.get("group", "boxcars"))
        self._from = choice(url, "from", FIRST, NEW)
        self._next: dict[str, int] = {}
        self._looked = 0.0

    def open(self, position: Any) -> None:
        """Connect, and resume at the offsets; new partitions are read from their beginning."""
        with or_closed(self):
            partitions = self._link.open()
            self._next = dict(position or {})
            self._looked = monotonic()
            with self._link.explained():
                if position is None and self._from == NEW:
                    self._next = {str(number): self._end(number) for number in partitions}
                beginning = self._link.kafka.OFFSET_BEGINNING
                wanted = {n: self._next.get(str(n), beginning) for n in partitions}
                self._link.consumer.assign([self._partition(n, at) for n, at in wanted.items()])

    def _partition(self, partition: int, *offset: int) -> Any:
        return self._link.kafka.TopicPartition(self._link.url.path, partition, *offset)

    def _end(self, partition: int) -> int:
        _, end = self._link.consumer.get_watermark_offsets(self._partition(partition), _SECONDS)
        return int(end)

    def pull(self, most: int, seconds: float) -> Received | None:
        """The next messages."""
        self._check_partitions()
        with self._link.explained():
            found = self._link.consumer.consume(min(most, _MOST), seconds)
        messages = []
        for message in found:
            if message.error() is not None:
                self._raise(message)
            self._next[str(message.partition())] = message.offset() + 1
            messages.append(message.value() or b"")
        if not messages:
            self._link.check()
            return None
        return Received(messages, dict(self._next))

    def _check_partitions(self) -> None:
        """Check periodically for new partitions; Lost makes the reader reconnect to all."""
        if monotonic() - self._looked < _LOOK:
            return
        self._looked = monotonic()
        assigned = {found.partition for found in self._link.consumer.assignment()}
        if set(self._link.partitions()) - assigned:
            raise Lost("the topic has new partitions.")

    def _raise(self, message: Any) -> None:
        error = message.error()
        if error.name() == "_AUTO_OFFSET_RESET":
            partition, at = message.partition(), self._next.get(str(message.partition()))
            raise Wrong(
                f"{self._link.url}: offset {at} of partition {partition} was deleted before it "
                "was read: start with a new checkpoint."
            )
        raise self._link.meant(error)

    def safe(self, position: Any) -> None:
        """Commit the offsets for monitoring; recovery does not use them."""
        if self._commits:
            offsets = [self._partition(int(number), at) for number, at in position.items()]
            with self._link.explained():
                self._link.consumer.commit(offsets=offsets, asynchronous=True)

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


class KafkaDelivery(EncodedDelivery):
    """Writes the rows of an epoch in a transaction.

    The transaction also commits the number of the epoch, as an offset of a consumer group named
    after the output. That offset is the ledger.
    """

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._name = f"boxcars-{home}"
        self._link = _Link(url, self._name)
        self._encoder = Encoder(schema, url)
        self._key = url.options.get("key")
        if self._key is not None and self._key not in schema:
            hint = nearest(self._key, schema.fields)
            raise Wrong(f"{url}: there is no field '{url.hide(self._key)}'.{hint}")
        if self._key is not None and url.options.get("format") == "arrow":
            raise Wrong(f"{url}: 'key' can't be used with format=arrow: all rows are one message.")
        self._producer: Any = None
        self._ledger: Any = None

    def open(self) -> None:
        """Connect; a transaction that a previous process left open is aborted."""
        with or_closed(self):
            self._link.open()
            settings = {
                **self._link.settings(),
                "transactional.id": self._name,
                "partitioner": "murmur2_random",  # like the Java client
            }
            with self._link.explained():
                self._producer = self._link.kafka.Producer(settings)
                self._producer.init_transactions(_SECONDS)

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Write all rows and the epoch atomically, unless the epoch was delivered already."""
        messages = self._encoder.encode(table)
        keys = [None] * len(messages) if self._key is None else table[self._key].to_pylist()
        topic, link = self._link.url.path, self._link
        with link.explained():
            if arrived(self._last(), epoch):
                return
            self._producer.begin_transaction()
            for message, key in zip(messages, keys, strict=True):
                self._produce(topic, message, None if key is None else str(key))
            ledger = [link.kafka.TopicPartition(topic, 0, epoch)]
            group = link.consumer.consumer_group_metadata()
            self._producer.send_offsets_to_transaction(ledger, group, _SECONDS)
            self._producer.commit_transaction(_SECONDS)

    def _last(self) -> int | None:
        """The epoch in the ledger."""
        ledger = self._link.kafka.TopicPartition(self._link.url.path, 0)
        (found,) = self._link.consumer.committed([ledger], timeout=_SECONDS)
        return int(found.offset) if found.offset >= 0 else None

    def _produce(self, topic: str, message: bytes, key: str | None) -> None:
        while True:
            try:
                self._producer.produce(topic, message, key)
            except BufferError:  # the send queue is full
                self._producer.poll(0.1)
                self._link.check()
            else:
                return

    def close(self) -> None:
        """Disconnect; the next producer aborts an open transaction."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.flush(0)
        self._link.close()
