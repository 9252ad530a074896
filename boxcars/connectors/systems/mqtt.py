"""MQTT: ``mqtt://host:1883/calls/today``, with TLS ``mqtts://``."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any
from uuid import uuid4

import pyarrow as pa

from boxcars.connectors.log_context import warn
from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost, Received
from boxcars.connectors.systems.messages import (
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
_MAX_IN_FLIGHT = 1000
"""Maximum published messages without an acknowledgment."""


class Mqtt(Connector):
    """An MQTT 3.1.1 topic; that of a source may contain the wildcards ``+`` and ``#``.

    Options: ``qos``, 1 (the default) or 0; ``client``, the client id of a source, by default a
    generated one; ``retain=yes``, to publish retained messages; ``ca``, a file of CA certificates
    for ``mqtts://``.
    """

    scheme, title, package = "mqtt", "MQTT", "paho-mqtt"
    guarantee_in = (
        "at least once: a message is acknowledged when it is durable; with ``qos=0`` at most once"
    )
    guarantee_out = "at least once; with ``qos=0`` at most once"
    tested = "a Mosquitto broker"

    def intake(self) -> Intake:
        """Create a connection with a persistent session."""
        self._check()
        return MqttIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that publishes messages."""
        self._check()
        if {"+", "#"} & set(self.url.path.split("/")):
            raise Wrong(f"{self.url}: rows can't be published to a wildcard topic.")
        return MqttDelivery(self.url, schema, home)

    def _check(self) -> None:
        check_options(self.url, "qos", "client", "retain", "ca", path="a topic")
        choice(
            self.url, "qos", "1", "0"
        )  # with 2 the broker would discard messages before they are durable
        choice(self.url, "retain", "no", "yes")
        library(Mqtt, "paho.mqtt.client")


class _Link:
    """A connection, with paho's thread, and what its errors mean."""

    def __init__(self, url: Url) -> None:
        self.url, self.paho = url, library(Mqtt, "paho.mqtt.client")
        self.qos = int(url.options.get("qos", "1"))
        self.client: Any = None
        self.lost = ""
        """Why the connection was lost."""
        self.session = False
        """Whether the broker has a previous session of this client."""
        self._answered = Event()
        self._refused = ""

    def make(self, name: str, *, clean: bool) -> Any:
        """Create a client, not yet connected; each connection needs a new one."""
        self.client = self.paho.Client(
            self.paho.CallbackAPIVersion.VERSION2,
            client_id=name,
            clean_session=clean,
            reconnect_on_failure=False,  # the caller reconnects
            manual_ack=True,
        )
        self.client.on_connect, self.client.on_disconnect = self._connected, self._disconnected
        self.client.max_inflight_messages_set(_MAX_IN_FLIGHT)
        if self.url.user or self.url.password:
            self.client.username_pw_set(self.url.user, self.url.password)
        if self.url.scheme == "mqtts":
            self.client.tls_set_context(client_tls(self.url))
        return self.client

    def open(self) -> None:
        """Connect the client, and wait until the broker accepts it."""
        self._answered.clear()
        self.lost = self._refused = ""
        secure = self.url.scheme == "mqtts"
        try:
            self.client.connect(
                self.url.host or "localhost", self.url.port or (8883 if secure else 1883)
            )
        except (OSError, ValueError) as error:
            raise unreachable("MQTT", error, self.url) from None
        self.client.loop_start()
        if not self._answered.wait(_SECONDS):
            raise Lost("MQTT does not answer.")
        if self._refused:
            raise Wrong(f"{self.url}: MQTT refused the request: {self._refused}.")
        self.check()

    def check(self) -> None:
        """Raise Lost if the connection was lost."""
        if self.lost:
            raise Lost(f"MQTT has closed the connection: {self.lost}.")

    def _connected(self, _client: Any, _data: Any, flags: Any, reason: Any, _more: Any) -> None:
        self.session = bool(flags.session_present)
        if reason.is_failure:
            if reason.getName() in ("Server unavailable", "Server busy"):
                self.lost = str(reason)
            else:
                self._refused = str(reason)
        self._answered.set()

    def _disconnected(self, _client: Any, _data: Any, _flags: Any, reason: Any, _m: Any) -> None:
        self.lost = self.lost or str(reason)
        self._answered.set()

    def close(self) -> None:
        """Disconnect, and end the thread."""
        client, self.client = self.client, None
        if client is not None:
            with suppress(OSError, ValueError):
                client.disconnect()
            client.loop_stop()


class MqttIntake(Intake):
    """Subscribes with a client id, which is the position, and acknowledges durable messages.

    The broker sends only a few unacknowledged messages (Mosquitto: 20), which is the backpressure.
    """

    def __init__(self, url: Url) -> None:
        self._link, self._name = _Link(url), url.options.get("client", "")
        self._received: SimpleQueue[Any] = SimpleQueue()
        self._pulled: deque[Any] = deque()
        self._new = self._refused = False

    def open(self, position: Any) -> None:
        """Connect with the previous client id, and subscribe."""
        self._new = position is None
        self._name = self._name or position or f"boxcars-{uuid4().hex[:12]}"
        self._received, self._pulled = SimpleQueue(), deque()
        with or_closed(self):
            client = self._link.make(self._name, clean=False)
            client.on_message = lambda _client, _data, message: self._received.put(message)
            granted = Event()
            client.on_subscribe = lambda _c, _d, _id, codes, _m: self._granted(codes, granted)
            self._link.open()
            if not self._new and not self._link.session:
                warn(Kind.MESSAGES_LOST, f"{self._link.url}: the broker has lost the session")
            client.subscribe(self._link.url.path, self._link.qos)
            if not granted.wait(_SECONDS):
                self._link.check()
                raise Lost("MQTT does not answer.")
            if self._refused:
                raise Wrong(f"{self._link.url}: MQTT refused the subscription to this topic.")

    def _granted(self, codes: Any, granted: Event) -> None:
        self._refused = any(code.is_failure for code in codes)
        granted.set()

    def pull(self, most: int, seconds: float) -> Received | None:
        """The received messages; the first pull is empty, so that the client id is stored."""
        if self._new:
            self._new = False
            return Received([], self._name)
        found = self._wait(most, seconds)
        if not found:
            self._link.check()
            return None
        self._pulled.extend(found)
        return Received([message.payload for message in found], self._name)

    def _wait(self, most: int, seconds: float) -> list[Any]:
        found: list[Any] = []
        with suppress(Empty):
            found.append(self._received.get(timeout=seconds))
            while len(found) < most:
                found.append(self._received.get(block=False))
        return found

    def safe(self, position: Any) -> None:
        """Acknowledge the pulled messages in order."""
        while self._pulled:
            self._link.check()
            message = self._pulled.popleft()
            self._link.client.ack(message.mid, message.qos)

    def close(self) -> None:
        """Disconnect; the broker keeps the session and unacknowledged messages."""
        self._link.close()


class MqttDelivery(EncodedDelivery):
    """Publishes rows, and waits for the acknowledgments of the broker."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._link, self._name = _Link(url), f"boxcars-{home[:15]}"
        self._encoder = Encoder(schema, url)
        self._retain = url.options.get("retain") == "yes"

    def open(self) -> None:
        """Connect."""
        with or_closed(self):
            self._link.make(self._name, clean=True)
            self._link.open()

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Publish rows; after a lost connection all of them are published again."""
        link, sent = self._link, []
        try:
            for message in self._encoder.encode(table):
                link.check()
                sent.append(link.client.publish(link.url.path, message, link.qos, self._retain))
            for info in sent:
                while not info.is_published():
                    link.check()
                    info.wait_for_publish(0.1)
        except RuntimeError as error:
            raise Lost(f"MQTT does not answer: {words(error, link.url)}") from None
        except ValueError as error:
            raise Wrong(f"{link.url}: a row can't be published: {words(error, link.url)}") from None

    def close(self) -> None:
        """Disconnect."""
        self._link.close()
