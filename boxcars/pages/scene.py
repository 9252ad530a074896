"""A box to draw: its network, the tuples that enter it and those that leave each output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boxcars.engine.preview import Preview, preview
from boxcars.lang.files import loads
from boxcars.model.arc import MAIN, Arc
from boxcars.model.entities import Node, Output
from boxcars.model.network import Network


@dataclass(frozen=True)
class Scene:
    """A network with the box to draw, its input tuples, and the tuples of each output."""

    described: Mapping[str, Any]
    net: Network
    box: str
    result: Preview

    @property
    def node(self) -> Node:
        """The box and its inputs."""
        return self.net.boxes[self.box]

    def rows(self, port: str = MAIN) -> list[dict[str, Any]]:
        """Return the tuples of an output."""
        rows: list[dict[str, Any]] = self.result[f"port-{port}"].to_pylist()
        return rows

    def given(self, name: str) -> list[dict[str, Any]]:
        """Return the tuples of an input, as given in the description."""
        columns = self.described["data"][name]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def load_scene(described: Mapping[str, Any], folder: Path) -> Scene:
    """Run the box of a description; the file of its network is in the folder."""
    text = (folder / described["network"]).read_text(encoding="utf-8")
    net = loads(text, code=True)
    box = described.get("box") or next(iter(net.boxes))
    node = net.boxes[box]
    ports = (*node.box.ports, *node.box.side_ports)
    outputs = {f"port-{port}": Output(Arc(box, port)) for port in ports}
    net = replace(net, outputs=outputs)
    result = preview(net, described["data"], tables=described.get("tables"))
    return Scene(described, net, box, result)
