"""The deploy file of Borealis: the endpoints of inputs, groups of boxes, and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from boxcars.lang.xmltree import Element, parse, render
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Location, NetworkError, Problem, nearest

_PARTS = {"publish": "stream", "node": "query", "subscribe": "stream"}


@dataclass(frozen=True)
class Placement:
    """Something at an endpoint ``host:port``: an input, a group of boxes, or an output."""

    endpoint: str
    what: str
    line: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True)
class Deployment:
    """A deploy file.

    >>> Deployment.parse('<deploy><node endpoint="a:1" query="g"/></deploy>').node
    (Placement(endpoint='a:1', what='g'),)
    """

    publish: tuple[Placement, ...] = ()
    node: tuple[Placement, ...] = ()
    subscribe: tuple[Placement, ...] = ()

    @classmethod
    def parse(cls, content: str, file: str = "deploy.xml") -> Self:
        """Parse a deploy file; raise one NetworkError with all its problems."""
        root = parse(content, file)
        problems = []
        found: dict[str, list[Placement]] = {part: [] for part in _PARTS}
        if root.tag != "deploy":
            problems.append(_problem(f"expected <deploy>, got <{root.tag}>.", file, root))
        for child in root.children:
            if child.tag not in _PARTS:
                hint = nearest(child.tag, _PARTS)
                problems.append(_problem(f"unknown element <{child.tag}>.{hint}", file, child))
                continue
            wanted = ("endpoint", _PARTS[child.tag])
            problems += [
                _problem(f"<{child.tag}> needs '{attribute}'.", file, child)
                for attribute in wanted
                if not child.get(attribute)
            ]
            endpoint = child.get("endpoint")
            host, _, port = endpoint.rpartition(":")
            if endpoint and not (host and port.isdecimal() and 0 < int(port[:9]) < 65536):
                problems.append(_problem(f"expected host:port, got '{endpoint}'.", file, child))
            found[child.tag].append(Placement(endpoint, child.get(wanted[1]), child.line))
        if problems:
            raise NetworkError(problems)
        return cls(**{part: tuple(items) for part, items in found.items()})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a deploy file from disk."""
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise BoxcarsError(f"{path}: can't be read: {error}.") from None

    def write(self) -> str:
        """Write the deploy file as text."""
        root = Element("deploy")
        for part, attribute in _PARTS.items():
            for placement in getattr(self, part):
                given = {"endpoint": placement.endpoint, attribute: placement.what}
                root.children.append(Element(part, given))
        return render(root)

    def problems(self, net: Network, file: str = "deploy.xml") -> Iterator[Problem]:
        """Mismatches with a network: unknown streams and groups, and those without an endpoint."""
        groups = {node.group for node in net.boxes.values() if node.group}
        known = {"publish": set(net.inputs), "node": groups, "subscribe": set(net.outputs)}
        nouns = {"publish": "input", "node": "group", "subscribe": "output"}
        for part, names in known.items():
            placed = {placement.what for placement in getattr(self, part)}
            for placement in getattr(self, part):
                if placement.what not in names:
                    hint = nearest(placement.what, names)
                    message = f"there is no {nouns[part]} '{placement.what}'.{hint}"
                    yield Problem(message, (), Location(file, placement.line))
            for name in sorted(names - placed):
                yield Problem(f"{nouns[part]} '{name}' has no <{part}>.", (), Location(file, 1))


def _problem(message: str, file: str, element: Element) -> Problem:
    return Problem(message, (), Location(file, element.line))
