"""The files of a StreamCloud project (thesis, 6.3): ``SC.xml`` and ``ResourceManager.xml``.

``SC.xml`` names the query, the deploy file and the resources; the resources are the machines that
instances run on and those that may be added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from boxcars.lang.deploy import Deployment
from boxcars.lang.xmltree import Element, parse, render
from boxcars.model.problem import BoxcarsError, Location, NetworkError, Problem, nearest

_ROOT = re.compile(r"\A\s*(<\?xml[^>]*>\s*)?<SC\s*>")


@dataclass(frozen=True)
class Project:
    """``SC.xml``: paths of the files, type of recovery, and load balancers of the inputs."""

    query: str
    deploy: str
    resources: str
    recovery: str = "precise"
    heartbeat_ms: int = 1000
    balancers: tuple[str, ...] = ()

    @classmethod
    def parse(cls, content: str, file: str = "SC.xml") -> Self:
        """Parse the file."""
        reader = _Reader(file)
        root = reader.root(content, "SC")
        fault, instances = reader.child(root, "FaultTolerance"), reader.child(root, "LBs")
        project = cls(
            reader.text(root, "Query"),
            reader.text(root, "Deploy"),
            reader.text(root, "ResourceManager"),
            reader.text(fault, "RecoveryType"),
            reader.number(fault, "HeartBeatPeriod"),
            tuple(lb.text.strip() for lb in reader.child(instances, "Instances").all("LB")),
        )
        reader.finish()
        return project

    def write(self) -> str:
        """Write the file as text."""
        root = Element("SC")
        for tag, text in (
            ("Query", self.query),
            ("Deploy", self.deploy),
            ("ResourceManager", self.resources),
        ):
            root.add(tag).text = text
        fault = root.add("FaultTolerance")
        fault.add("RecoveryType").text = self.recovery
        fault.add("HeartBeatPeriod").text = str(self.heartbeat_ms)
        instances = root.add("LBs").add("Instances")
        for balancer in self.balancers:
            instances.add("LB").text = balancer
        return render(root)


@dataclass(frozen=True)
class Machine:
    """A machine: its starter, and the ports of the instances on it."""

    name: str
    address: str
    port: int
    instances: tuple[int, ...]

    @property
    def endpoints(self) -> set[str]:
        """The endpoints of its instances."""
        return {f"{self.address}:{port}" for port in self.instances}


@dataclass(frozen=True)
class Resources:
    """``ResourceManager.xml``: assigned machines, available machines, and the pool size."""

    assigned: tuple[Machine, ...] = ()
    available: tuple[Machine, ...] = ()
    pool: int = 0

    @classmethod
    def parse(cls, content: str, file: str = "ResourceManager.xml") -> Self:
        """Parse the file; the pool size is spelled as in the thesis, ``DesideredPoolSize``."""
        reader = _Reader(file)
        root = reader.root(content, "ResourceManagerParameters")
        resources = cls(
            tuple(reader.machines(reader.child(root, "AssignedNodes"))),
            tuple(reader.machines(reader.child(root, "AvailableNodes"))),
            reader.number(root, "DesideredPoolSize"),
        )
        reader.finish()
        return resources

    def write(self) -> str:
        """Write the file as text."""
        root = Element("ResourceManagerParameters")
        for tag, machines in (("AssignedNodes", self.assigned), ("AvailableNodes", self.available)):
            parent = root.add(tag)
            for machine in machines:
                starter = parent.add(
                    "SCStarter", Id=machine.name, Port=machine.port, IP=machine.address
                )
                for port in machine.instances:
                    starter.add("SCInstance", Port=port, IP=machine.address)
        root.add("DesideredPoolSize").text = str(self.pool)
        return render(root)

    def problems(self, deployment: Deployment, file: str) -> Iterator[Problem]:
        """Problems of groups that are deployed to an endpoint without an assigned instance."""
        known = set().union(*(machine.endpoints for machine in self.assigned))
        for placement in deployment.node:
            if placement.endpoint not in known:
                hint = nearest(placement.endpoint, known)
                message = (
                    f"group '{placement.what}': no assigned instance at {placement.endpoint}.{hint}"
                )
                yield Problem(message, (), Location(file, placement.line))


class _Reader:
    """Reads elements and collects their problems."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def wrong(self, message: str, element: Element) -> None:
        self.problems.append(Problem(message, (), Location(self.file, element.line)))

    def finish(self) -> None:
        if self.problems:
            raise NetworkError(self.problems)

    def root(self, content: str, tag: str) -> Element:
        root = parse(content, self.file)
        if root.tag != tag:
            self.wrong(f"expected <{tag}>, got <{root.tag}>.", root)
            self.finish()
        return root

    def child(self, parent: Element, tag: str) -> Element:
        found = next(parent.all(tag), None)
        if found is None:
            hint = nearest(tag, (child.tag for child in parent.children))
            self.wrong(f"<{parent.tag}> needs <{tag}>.{hint}", parent)
        return found or Element(tag, line=parent.line)

    def text(self, parent: Element, tag: str) -> str:
        return self.child(parent, tag).text.strip()

    def number(self, parent: Element, tag: str) -> int:
        text = self.text(parent, tag)
        if not (text.isascii() and text.isdigit()):
            self.wrong(f"expected a whole number in <{tag}>, got '{text}'.", parent)
            return 0
        return int(text)

    def machines(self, parent: Element) -> Iterator[Machine]:
        for starter in parent.all("SCStarter"):
            ports = [self.port(starter), *(self.port(i) for i in starter.all("SCInstance"))]
            yield Machine(starter.get("Id"), starter.get("IP"), ports[0], tuple(ports[1:]))

    def port(self, element: Element) -> int:
        text = element.get("Port")
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
            self.wrong(f"expected a port in <{element.tag}>, got '{text}'.", element)
            return 0
        return int(text)


def is_project(path: Path) -> bool:
    """Whether a file is the ``SC.xml`` of a project."""
    return path.suffix == ".xml" and path.is_file() and _ROOT.search(_read(path)) is not None


def load_project(path: str | Path) -> tuple[Project, Path, Path, Resources]:
    """Load a project; return it with the paths of its query and deploy file, and its resources."""
    where = Path(path)
    project = Project.parse(_read(where), str(where))
    resources = where.parent / project.resources
    return (
        project,
        where.parent / project.query,
        where.parent / project.deploy,
        Resources.parse(_read(resources), str(resources)),
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BoxcarsError(f"{path}: can't be read: {error}.") from None
