"""Streams: the arcs of a network while it is drawn, with a method for every box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boxcars.model.arc import DEAD, LATE, MAIN, Arc
from boxcars.model.entities import ConnectionPoint
from boxcars.model.methods import Methods
from boxcars.model.problem import Wrong, nearest
from boxcars.model.superbox import Use, use

if TYPE_CHECKING:
    from boxcars.model.network import Network


@dataclass
class _Source:
    """The source box of a stream, shared by all its streams so that they see a rename."""

    name: str


class Stream(Methods):
    """An arc of a network that is being drawn.

    Each box type is a method that draws a box downstream of this stream and returns its output
    stream. The stream of a box with several outputs can be unpacked.

    >>> from boxcars import Network
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
        """The arc of the network."""
        name = self._source.name
        if name not in self.net.boxes and name not in self.net.inputs:
            raise Wrong(f"'{name}' no longer exists: it was renamed.")
        return Arc(name, self._port)

    @property
    def ports(self) -> tuple[str, ...]:
        """The outputs of the source box."""
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
        """Return another output of the same box, by name or number."""
        ports = self.ports
        name = ports[port] if isinstance(port, int) and 0 <= port < len(ports) else str(port)
        if name not in (*ports, LATE, DEAD):
            raise Wrong(f"'{self._source.name}' has no output '{port}'.{nearest(name, ports)}")
        return Stream(self.net, Arc(self._source.name, name), self._source)

    @property
    def late(self) -> Stream:
        """The late tuples."""
        return self[LATE]

    @property
    def dead(self) -> Stream:
        """The dead letters: records that could not be converted, with the reason."""
        return self[DEAD]

    def __or__(self, other: Stream) -> Stream:
        """Return the union of two streams."""
        return self.draw("union", other)

    def named(self, name: str) -> Stream:
        """Name the box that was just drawn; the name identifies the box and its state."""
        if self._source.name in self.net.inputs:
            raise Wrong(f"'{self._source.name}' is an input, which already has its name.")
        if name != self._source.name:
            renamed = self.net.rename(self._source.name, name)
            for kind in ("boxes", "outputs", "connection_points", "source"):
                self.net._set(kind, getattr(renamed, kind))
            self._source.name = name
        return self

    def in_group(self, group: str) -> Stream:
        """Deploy the box that was just drawn together with the other boxes of that group."""
        if self._source.name in self.net.inputs:
            raise Wrong(f"'{self._source.name}' is an input, only boxes have a group.")
        node = replace(self.net.boxes[self._source.name], group=group)
        self.net._set("boxes", {**self.net.boxes, self._source.name: node})
        return self

    def connection_point(
        self, name: str, *, time: int | float | None = None, tuples: int | None = None
    ) -> Stream:
        """Retain the history of this arc, by time range or number of tuples, under a name."""
        self.net._draw("connection_points", name, ConnectionPoint(self.arc, time, tuples))
        return self

    def use(self, superbox: str, /, *others: Stream, **values: Any) -> Stream:
        """Draw a use of a superbox of this network."""
        return self.net.box(None, use(superbox, **values), self, *others)
