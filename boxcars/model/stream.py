"""Streams: the arcs of a network while it is drawn, with a method for every box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from boxcars.model.arc import DEAD, LATE, MAIN, Arc
from boxcars.model.entities import ConnectionPoint
from boxcars.model.methods import Methods
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.superbox import Use, use


@dataclass
class _Source:
    """The box a stream comes from; all its streams see a change of name."""

    name: str


class Stream(Methods):
    """An arc of a network that is being drawn.

    Each box is a method that draws the box behind this stream and gives the stream behind that.
    A box with several outputs gives a stream that can be unpacked.

    >>> net = Network("calls")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "price": "float"})
    >>> cheap, rest = calls.filter("price < 1", otherwise=True).named("by-price")
    >>> str(rest)
    'by-price.else'
    """

    net: Network

    def __init__(self, net: Network, arc: Arc, source: _Source | None = None) -> None:
        self.net = net
        self._source = source or _Source(arc.source)
        self._port = arc.port

    @property
    def arc(self) -> Arc:
        """The arc as the network knows it."""
        name = self._source.name
        if name not in self.net.boxes and name not in self.net.inputs:
            raise Wrong(f"there is no '{name}' any more: it was given another name since.")
        return Arc(name, self._port)

    @property
    def ports(self) -> tuple[str, ...]:
        """The outputs of the box that this stream comes from."""
        node = self.net.boxes.get(self._source.name)
        if node is None:
            return (MAIN,)
        if isinstance(node.box, Use):
            definition = self.net.superboxes.get(node.box.superbox)
            return tuple(definition.body.outputs) if definition else (MAIN,)
        return node.box.ports

    def __str__(self) -> str:
        return str(self.arc)

    def __repr__(self) -> str:
        return f"<Stream {self.arc} of network '{self.net.name}'>"

    def __iter__(self) -> Iterator[Stream]:
        return (self[port] for port in self.ports)

    def __getitem__(self, port: str | int) -> Stream:
        """Another output of the same box, by name or number."""
        ports = self.ports
        name = ports[port] if isinstance(port, int) and 0 <= port < len(ports) else str(port)
        if name not in (*ports, LATE, DEAD):
            raise Wrong(f"'{self._source.name}' has no output '{port}'.{nearest(name, ports)}")
        return Stream(self.net, Arc(self._source.name, name), self._source)

    @property
    def late(self) -> Stream:
        """The tuples that came too late."""
        return self[LATE]

    @property
    def dead(self) -> Stream:
        """The records that could not be converted, with the reason."""
        return self[DEAD]

    def __or__(self, other: Stream) -> Stream:
        """The union of two streams."""
        return self.draw("union", other)

    def named(self, name: str) -> Stream:
        """Name the box that was just drawn: names are the identity of boxes and of their state."""
        if self._source.name in self.net.inputs:
            raise Wrong(f"'{self._source.name}' is an input, it has its name already.")
        if name != self._source.name:
            renamed = self.net.rename(self._source.name, name)
            for kind in ("boxes", "outputs", "connection_points", "source"):
                self.net._set(kind, getattr(renamed, kind))
            self._source.name = name
        return self

    def in_group(self, group: str) -> Stream:
        """Deploy the box that was just drawn together with the others of that group."""
        if self._source.name in self.net.inputs:
            raise Wrong(f"'{self._source.name}' is an input, only boxes have a group.")
        node = replace(self.net.boxes[self._source.name], group=group)
        self.net._set("boxes", {**self.net.boxes, self._source.name: node})
        return self

    def connection_point(
        self, name: str, *, time: int | float | None = None, tuples: int | None = None
    ) -> Stream:
        """Keep the history of this arc, by time range or number of tuples, under a name."""
        self.net._draw("connection_points", name, ConnectionPoint(self.arc, time, tuples))
        return self

    def use(self, superbox: str, /, *others: Stream, **values: Any) -> Stream:
        """Draw a superbox that was defined in this network."""
        return self.net.box(None, use(superbox, **values), self, *others)
