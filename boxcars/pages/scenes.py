"""From the description of a drawing to the drawing: the box is run, so it shows what happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boxcars.draw.flow import Flow, Sheet, draw_flow
from boxcars.draw.picture import summarize
from boxcars.draw.windows import Chart, draw_chart
from boxcars.engine.preview import Preview, preview
from boxcars.lang.files import loads
from boxcars.model.arc import MAIN, Arc
from boxcars.model.entities import Node, Output
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError
from boxcars.pages.streams import buffer_chart, curve_chart, match_chart, merge_chart, wait_chart
from boxcars.pages.windows import window_chart

_CELL = 36


@dataclass(frozen=True)
class Scene:
    """A network with one box to look at, what goes in, and what comes out of each output."""

    described: Mapping[str, Any]
    net: Network
    box: str
    result: Preview

    @property
    def node(self) -> Node:
        """The box and its inputs."""
        return self.net.boxes[self.box]

    def rows(self, port: str = MAIN) -> list[dict[str, Any]]:
        """What leaves an output."""
        rows: list[dict[str, Any]] = self.result[f"port-{port}"].to_pylist()
        return rows

    def given(self, name: str) -> list[dict[str, Any]]:
        """What enters, as it is described."""
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


def draw_scene(described: Mapping[str, Any], folder: Path) -> str:
    """The drawing of a description, as SVG."""
    kind = described["kind"]
    if kind == "windows":
        return draw_chart(window_chart(described))
    charts: Mapping[str, Callable[[Any], Chart]] = {
        "match": match_chart,
        "merge": merge_chart,
        "waits": wait_chart,
        "buffer": buffer_chart,
        "curve": curve_chart,
    }
    if kind == "flow":
        return draw_flow(_flow(load_scene(described, folder)))
    if kind not in charts:
        raise BoxcarsError(f"there is no drawing of the kind '{kind}'.")
    return draw_chart(charts[kind](load_scene(described, folder)))


def _flow(scene: Scene) -> Flow:
    box = scene.node.box
    inputs = tuple(
        _sheet(arc.source, "left", scene.given(arc.source), scene.net.inputs[arc.source].fields)
        for arc in scene.node.inputs
    )
    schemas = {arc: schema for arc, schema in scene.net.check().schemas.items() if schema.known}
    names: Mapping[str, str] = scene.described.get("names", {})
    outputs = []
    for port in (*box.ports, *box.side_ports):
        rows = scene.rows(port)
        if rows or port in box.ports:
            name = names.get(port, "out" if box.ports == (MAIN,) and port == MAIN else port)
            tone = "late" if port in box.side_ports else "result"
            fields = schemas[Arc(scene.box, port)].fields
            outputs.append(_sheet(name, tone, rows, fields))
    says = scene.described.get("says") or [summarize(box.plain())[:_CELL]]
    stored = tuple(sheet for name in box.tables for sheet in _stored(scene, name, box.writes))
    title = f"{box.type}: {scene.described.get('title', '')}".rstrip(": ")
    return Flow(
        title, box.icon, box.type, tuple(says), box.stateful, inputs, tuple(outputs), stored
    )


def _stored(scene: Scene, name: str, writes: bool) -> list[Sheet]:
    """A stored table, before and behind the run if the box changes it."""
    fields = scene.net.tables[name].fields
    columns = (scene.described.get("tables") or {}).get(name, {column: [] for column in fields})
    before = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if not writes:
        return [replace(_sheet(name, "stateless", before, fields), note="stored table")]
    behind = scene.result.stored[name].to_pylist()
    return [
        replace(_sheet(name, "stateless", before, fields), note="before"),
        replace(_sheet(name, "stateless", behind, fields), note="afterwards"),
    ]


def _sheet(name: str, tone: Any, rows: list[dict[str, Any]], fields: Any) -> Sheet:
    cells = tuple(tuple(_cell(row.get(field)) for field in fields) for row in rows)
    return Sheet(name, tone, tuple(fields), cells)


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text.replace("\n", "↵")
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
