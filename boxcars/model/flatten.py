"""Flatten a network: replace each use of a superbox by the boxes inside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boxcars.model.arc import Arc
from boxcars.model.codec import substitute
from boxcars.model.entities import Input, Node
from boxcars.model.problem import Path, Problem, Wrong, nearest
from boxcars.model.reader import read_into
from boxcars.model.serialize import network_to_plain
from boxcars.model.superbox import Superbox, Use

if TYPE_CHECKING:
    from boxcars.model.network import Network

MOST = 10_000
"""The largest number of boxes of a flattened network."""


@dataclass(frozen=True)
class Want:
    """The declared input of a superbox, and the arc connected to it."""

    arc: Arc
    input: Input
    port: str
    path: Path


@dataclass(frozen=True)
class Flat:
    """A network without superboxes, and where each of its boxes is defined.

    ``uses`` has the outputs of each flattened use; ``failed`` are the uses that could not be
    flattened.
    """

    network: Network
    origins: Mapping[str, Path]
    uses: Mapping[str, tuple[str, ...]]
    failed: frozenset[str]
    wants: tuple[Want, ...]
    problems: tuple[Problem, ...]


def flatten(net: Network, broken: Iterable[str] = ()) -> Flat:
    """Flatten all superboxes: the box ``fast`` in the use ``alarm`` becomes ``alarm/fast``.

    Uses of ``broken`` superboxes fail without a further problem.
    """
    opener = _Opener(frozenset(broken))
    boxes: dict[str, Node] = {}
    for name, node in net.boxes.items():
        boxes |= opener.open(net, name, node, ("boxes", name), ())
    rewired = {
        name: replace(node, inputs=tuple(opener.resolve(arc) for arc in node.inputs))
        for name, node in boxes.items()
    }
    outputs = {n: replace(o, source=opener.resolve(o.source)) for n, o in net.outputs.items()}
    points = {n: replace(p, arc=opener.resolve(p.arc)) for n, p in net.connection_points.items()}
    flat = net._with("boxes", rewired)._with("outputs", outputs)
    flat = flat._with("connection_points", points)._with("superboxes", {})
    wants = tuple(replace(want, arc=opener.resolve(want.arc)) for want in opener.wants)
    return Flat(
        flat,
        opener.origins,
        opener.uses,
        frozenset(opener.failed),
        wants,
        tuple(opener.problems),
    )


class _Opener:
    """Flattens nested uses; records which inner arc each port stands for."""

    def __init__(self, broken: frozenset[str]) -> None:
        self.broken = broken
        self.aliases: dict[Arc, Arc] = {}
        self.origins: dict[str, Path] = {}
        self.uses: dict[str, tuple[str, ...]] = {}
        self.failed: set[str] = set()
        self.wants: list[Want] = []
        self.problems: list[Problem] = []

    def resolve(self, arc: Arc) -> Arc:
        """Return the inner arc that a port of a superbox stands for, after all were flattened."""
        passed = []
        while arc in self.aliases:
            passed.append(arc)
            arc = self.aliases[arc]
        self.aliases |= dict.fromkeys(passed, arc)  # path compression
        return arc

    def open(
        self, scope: Network, name: str, node: Node, path: Path, inside: tuple[str, ...]
    ) -> dict[str, Node]:
        """Return the boxes that a box stands for: itself, or those inside a superbox."""
        if not isinstance(node.box, Use):
            self.origins[name] = path
            return {name: node}
        if len(self.origins) + len(self.uses) >= MOST:
            self._wrong_once(name, path, f"superboxes expand to more than {MOST:,} boxes.")
            return {}
        if node.box.superbox in self.broken:
            self.failed.add(name)
            return {}
        definition = scope.superboxes.get(node.box.superbox)
        if definition is None:
            hint = nearest(node.box.superbox, scope.superboxes)
            self._wrong(name, path, f"unknown superbox '{node.box.superbox}'.{hint}", "type")
            return {}
        if node.box.superbox in inside:
            chain = " in ".join(f"'{s}'" for s in (node.box.superbox, *reversed(inside)))
            self._wrong(name, path, f"a superbox can't contain itself: {chain}.")
            return {}
        values = dict(self._values(name, path, definition, node.box))
        body = self._body(scope, definition, values)
        if body is None or not self._connect(name, path, node, body):
            self.failed.add(name)
            return {}
        self.uses[name] = tuple(body.outputs)
        boxes: dict[str, Node] = {}
        base = ("superboxes", node.box.superbox, "boxes")
        for inner, placed in body.boxes.items():
            moved = replace(
                placed,
                inputs=tuple(replace(arc, source=f"{name}/{arc.source}") for arc in placed.inputs),
                group=placed.group or node.group,
            )
            boxes |= self.open(
                body, f"{name}/{inner}", moved, (*base, inner), (*inside, node.box.superbox)
            )
        return boxes

    def _values(
        self, name: str, path: Path, definition: Superbox, use: Use
    ) -> Iterator[tuple[str, Any]]:
        for key in use.values:
            if key not in definition.params:
                hint = nearest(key, definition.params)
                self._wrong(name, path, f"superbox '{use.superbox}' has no '{key}'.{hint}", key)
        for key, default in definition.params.items():
            value = use.values.get(key, default)
            if value is None:
                self._wrong(name, path, f"superbox '{use.superbox}' needs '{key}'.")
            yield key, value

    def _body(self, scope: Network, definition: Superbox, values: dict[str, Any]) -> Network | None:
        if not definition.params:
            body = definition.body
        else:
            try:
                plain = substitute(network_to_plain(definition.body), values)
            except Wrong as wrong:
                self.problems.append(Problem(str(wrong), ("superboxes", definition.body.name)))
                return None
            reading = read_into(definition.body, plain)
            self.problems += [
                replace(p, path=("superboxes", definition.body.name, *p.path))
                for p in reading.problems
            ]
            if reading.problems:
                return None
            body = reading.network
        return body._with("superboxes", {**scope.superboxes, **body.superboxes})

    def _connect(self, name: str, path: Path, node: Node, body: Network) -> bool:
        if len(node.inputs) != len(body.inputs):
            wanted = " and ".join(f"'{port}'" for port in body.inputs) or "no input"
            self._wrong(
                name,
                path,
                f"superbox '{body.name}' takes {wanted}, got {len(node.inputs)} inputs.",
                "in",
            )
            return False
        for index, (port, arc) in enumerate(zip(body.inputs, node.inputs, strict=True)):
            self.aliases[Arc(f"{name}/{port}")] = arc
            self.wants.append(Want(arc, body.inputs[port], port, (*path, "in", str(index))))
        for index, (port, output) in enumerate(body.outputs.items()):
            inner = replace(output.source, source=f"{name}/{output.source.source}")
            self.aliases[Arc(name, port)] = inner
            self.aliases.setdefault(Arc(name, str(index)), inner)
        return True

    def _wrong_once(self, name: str, path: Path, message: str) -> None:
        self.failed.add(name)
        if not any(problem.message == message for problem in self.problems):
            self._wrong(name, path, message)

    def _wrong(self, name: str, path: Path, message: str, *more: str) -> None:
        self.failed.add(name)
        self.problems.append(Problem(message, (*path, *more)))
