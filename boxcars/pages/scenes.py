"""Draw a description by running its box, so that the drawing shows what really happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boxcars.draw.flow import Flow, Sheet, draw_flow
from boxcars.draw.picture import summarize
from boxcars.draw.windows import Chart, draw_chart
from boxcars.model.arc import MAIN, Arc
from boxcars.model.problem import BoxcarsError
from boxcars.pages.scene import Scene, load_scene
from boxcars.pages.streams import buffer_chart, curve_chart, match_chart, merge_chart, wait_chart
from boxcars.pages.windows import window_chart

_CELL = 36


def draw_scene(described: Mapping[str, Any], folder: Path) -> str:
    """Draw a description as SVG."""
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
        raise BoxcarsError(f"there is no kind of drawing '{kind}'.")
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
    """A stored table; before and after the run if the box changes it."""
    fields = scene.net.tables[name].fields
    columns = (scene.described.get("tables") or {}).get(name, {column: [] for column in fields})
    before = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if not writes:
        return [replace(_sheet(name, "stateless", before, fields), note="stored table")]
    after = scene.result.stored[name].to_pylist()
    return [
        replace(_sheet(name, "stateless", before, fields), note="before"),
        replace(_sheet(name, "stateless", after, fields), note="after"),
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
