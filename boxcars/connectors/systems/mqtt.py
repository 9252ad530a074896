"""MQTT: ``mqtt://host:1883/calls/today``, with TLS ``mqtts://``."""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any
from uuid import uuid4

import pyarrow as pa

from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost, Received
from boxcars.connectors.systems.messages import (
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
_FLYING = 1000
"""Messages of ours that may wait for their acknowledgement."""

_log = logging.getLogger("boxcars.connectors")


class Mqtt(Connector):
    """A topic of MQTT 3.1.1; a source may have ``+`` and ``#`` in it.

    Its options: ``qos``, 1 or 0, else 1; ``client``, the name by which the broker knows a
    source, else one is made up; ``retain=yes``, for a sink whose last message is kept; ``ca``, a
    file of certificates for ``mqtts://``.
    """

    scheme, title, package = "mqtt", "MQTT", "paho-mqtt"
    guarantee_in = (
        "at least once: a message is acknowledged when it is kept; with ``qos=0`` at most once"
    )
    guarantee_out = "at least once; with ``qos=0`` at most once"
    tested = "a Mosquitto broker"

    def intake(self) -> Intake:
        """A connection with a session that the broker remembers."""
        self._check()
        return MqttIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """A connection that publishes messages."""
        self._check()
        if {"+", "#"} & set(self.url.path.split("/")):
            raise Wrong(f"{self.url}: rows can't be published to a pattern.")
        return MqttDelivery(self.url, schema, home)

    def _check(self) -> None:
        check_options(self.url, "qos", "client", "retain", "ca", path="a topic")
        choice(self.url, "qos", "1", "0")  # 2 would have the broker forget too early
        choice(self.url, "retain", "no", "yes")
        library(Mqtt, "paho.mqtt.client")


class _Link:
    """A connection, with paho's thread, and what its errors mean."""

    def __init__(self, url: Url) -> None:
        self.url, self.paho = url, library(Mqtt, "paho.mqtt.client")
        self.qos = int(url.options.get("qos", "1"))
        self.client: Any = None
        self.lost = ""
        """Why the connection is lost."""
        self.session = False
        """Whether the broker knows us from before."""
        self._answered = Event()
        self._refused = ""

    def make(self, name: str, *, clean: bool) -> Any:
        """A client that is not connected yet; one of its own for each connection."""
        self.client = self.paho.Client(
            self.paho.CallbackAPIVersion.VERSION2,
            client_id=name,
            clean_session=clean,
            reconnect_on_failure=False,  # we connect again ourselves
            manual_ack=True,
        )
        self.client.on_connect, self.client.on_disconnect = self._connected, self._disconnected
        self.client.max_inflight_messages_set(_FLYING)
        if self.url.user or self.url.password:
            self.client.username_pw_set(self.url.user, self.url.password)
        if self.url.scheme == "mqtts":
            self.client.tls_set_context(client_tls(self.url))
        return self.client

    def open(self) -> None:
        """Connect the client, and wait until the broker lets us in."""
        self._answered.clear()
        self.lost = self._refused = ""
        secure = self.url.scheme == "mqtts"
        try:
            self.client.connect(
                self.url.host or "localhost", self.url.port or (8883 if secure else 1883)
            )
        except (OSError, ValueError) as error:
            raise silence("MQTT", error, self.url) from None
        self.client.loop_start()
        if not self._answered.wait(_SECONDS):
            raise Lost("MQTT does not answer.")
        if self._refused:
            raise Wrong(f"{self.url}: MQTT refuses: {self._refused}.")
        self.check()

    def check(self) -> None:
        """Complain if the connection is lost."""
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
    """Subscribes with a name that is kept as the position, and acknowledges what is safe.

    The broker sends a few messages ahead of what was acknowledged (Mosquitto: 20), and no more: so
    it waits while nobody reads.
    """

    def __init__(self, url: Url) -> None:
        self._link, self._name = _Link(url), url.options.get("client", "")
        self._come: SimpleQueue[Any] = SimpleQueue()
        self._pulled: deque[Any] = deque()
        self._new = self._refused = False

    def open(self, position: Any) -> None:
        """Connect as who we were, and subscribe."""
        self._new = position is None
        self._name = self._name or position or f"boxcars-{uuid4().hex[:12]}"
        self._come, self._pulled = SimpleQueue(), deque()
        with or_closed(self):
            client = self._link.make(self._name, clean=False)
            client.on_message = lambda _client, _data, message: self._come.put(message)
            granted = Event()
            client.on_subscribe = lambda _c, _d, _id, codes, _m: self._granted(codes, granted)
            self._link.open()
            if not self._new and not self._link.session:
                _log.warning("%s: the broker does not know us any more", self._link.url)
            client.subscribe(self._link.url.path, self._link.qos)
            if not granted.wait(_SECONDS):
                self._link.check()
                raise Lost("MQTT does not answer.")
            if self._refused:
                raise Wrong(f"{self._link.url}: MQTT does not let us subscribe to this.")

    def _granted(self, codes: Any, granted: Event) -> None:
        self._refused = any(code.is_failure for code in codes)
        granted.set()

    def pull(self, most: int, seconds: float) -> Received | None:
        """The messages that have come; at first nothing, so that our name is kept."""
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
            found.append(self._come.get(timeout=seconds))
            while len(found) < most:
                found.append(self._come.get(block=False))
        return found

    def safe(self, position: Any) -> None:
        """Acknowledge what was pulled, in its order."""
        while self._pulled:
            self._link.check()
            message = self._pulled.popleft()
            self._link.client.ack(message.mid, message.qos)

    def close(self) -> None:
        """Disconnect; the broker remembers us, and what was not acknowledged."""
        self._link.close()


class MqttDelivery(EncodedDelivery):
    """Publishes rows, and waits until the broker has them."""

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
        """Publish rows; all of them again if the connection is lost before the last one."""
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
            raise Wrong(f"{link.url}: MQTT can't take a row: {words(error, link.url)}") from None

    def close(self) -> None:
        """Disconnect."""
        self._link.close()
