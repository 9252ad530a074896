"""A connector for tests: an in-process queue with offsets, which can go down."""

from collections import defaultdict
from typing import Any

import pyarrow as pa

from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost, Received
from boxcars.model.schema import Schema

END = b"end"


class Broker:
    """The external system: messages by topic, acknowledged offsets, and whether it is up."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.messages: dict[str, list[bytes]] = defaultdict(list)
        self.safe: dict[str, int] = {}
        self.there = True
        self.opened = self.missed = 0
        self.delivered: list[tuple[str, int, list[dict[str, Any]]]] = []

    def check(self) -> None:
        if not self.there:
            self.missed += 1
            raise Lost("the server does not answer.")


BROKER = Broker()


class ToyIntake(Intake):
    def __init__(self, topic: str, most: int) -> None:
        self.topic, self.most, self.next = topic, most, 0

    def open(self, position: Any) -> None:
        BROKER.check()
        BROKER.opened += 1
        self.next = position or 0

    def pull(self, most: int, seconds: float) -> Received | None:
        BROKER.check()
        found = BROKER.messages[self.topic][self.next : self.next + min(most, self.most)]
        if not found:
            return None
        self.next += len(found)
        return Received([m for m in found if m != END], self.next, ended=END in found)

    def safe(self, position: Any) -> None:
        BROKER.check()
        BROKER.safe[self.topic] = position


class ToyDelivery(Delivery):
    def __init__(self, topic: str, home: str) -> None:
        self.topic, self.home = topic, home

    def open(self) -> None:
        BROKER.check()
        BROKER.opened += 1

    def deliver(self, table: pa.Table, epoch: int) -> None:
        BROKER.check()
        BROKER.delivered.append((self.home, epoch, table.to_pylist()))


class Toy(Connector):
    scheme, title = "toy", "a toy"
    guarantee_in = guarantee_out = "exactly once"

    def intake(self) -> Intake:
        self.url.check(["format", "most"], path="a topic")
        return ToyIntake(self.url.path, int(self.url.number("most", 100)))

    def delivery(self, schema: Schema, home: str) -> Delivery:
        return ToyDelivery(self.url.path, home)
