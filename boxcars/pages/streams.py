"""Drawings of boxes with two inputs, and of boxes that hold tuples back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from boxcars.draw.windows import Bar, Chart, Dot, Lane, Link
from boxcars.kernels.contract import Frontier, Stateful
from boxcars.model.arc import LATE, MAIN
from boxcars.pages.scene import Scene

_TONES: tuple[Any, ...] = ("left", "right")


def _label(scene: Scene) -> str:
    """The field whose value labels a tuple."""
    return str(scene.described.get("label", "id"))


def _inputs(scene: Scene) -> list[Lane]:
    """A lane for each input, with a dot for each tuple."""
    lanes = []
    for number, arc in enumerate(scene.node.inputs):
        ts, rows = scene.net.inputs[arc.source].ts, scene.given(arc.source)
        tones = [_tone(scene, row, number) for row in rows]
        dots = [
            Dot(row[ts], _short(row[_label(scene)]), tone)
            for row, tone in zip(rows, tones, strict=True)
        ]
        lanes.append(Lane(arc.source, tuple(dots)))
    return lanes


def _tone(scene: Scene, row: Mapping[str, Any], number: int) -> Any:
    """The colour of a tuple: by its input, or by its value in the field named by ``colour``."""
    field = scene.described.get("colour")
    if field is None:
        return _TONES[number % 2]
    values = [r[field] for arc in scene.node.inputs for r in scene.given(arc.source)]
    return _TONES[sorted(set(values)).index(row[field]) % 2]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _chart(scene: Scene, lanes: list[Lane], **more: Any) -> Chart:
    low, high, step = scene.described["axis"]
    name = scene.described.get("along", "time")
    return Chart(scene.described["title"], name, low, high, step, tuple(lanes), **more)


def match_chart(scene: Scene) -> Chart:
    """Two streams with a line between tuples that match, and the joined pairs below.

    ``band`` names a tuple of the left stream; the window around it is shown.
    """
    lanes, label = _inputs(scene), _label(scene)
    times = [{dot.text: dot.at for dot in lane.dots} for lane in lanes]
    links, pairs = [], []
    for row in scene.rows():
        one, other = (_short(row[f"{side}_{label}"]) for side in ("left", "right"))
        links.append(Link((0, times[0][one]), (1, times[1][other])))
        pairs.append(Dot(next(iter(row.values())), f"{one}{other}", "result"))
    band = None
    if name := scene.described.get("band"):
        size = scene.node.box.plain()["window"]["time"]
        band = (times[0][name] - size, times[0][name] + size)
    return _chart(scene, [*lanes, Lane("pairs", tuple(pairs))], links=tuple(links), band=band)


def merge_chart(scene: Scene) -> Chart:
    """The input streams, and the output below; a tuple that is dropped is hollow."""
    lanes = _inputs(scene)
    left = {_short(row[_label(scene)]) for row in scene.rows()}
    known = {dot.text: dot for lane in lanes for dot in lane.dots}
    out = tuple(known[_short(row[_label(scene)])] for row in scene.rows())
    shown = [
        Lane(
            lane.name,
            tuple(Dot(d.at, d.text, d.tone, hollow=d.text not in left) for d in lane.dots),
        )
        for lane in lanes
    ]
    return _chart(scene, [*shown, Lane("out", out)])


def wait_chart(scene: Scene) -> Chart:
    """How long each tuple of the first stream waits, and by which output it leaves."""
    lanes, label = _inputs(scene), _label(scene)
    ts = scene.net.inputs[scene.node.inputs[0].source].ts
    box, names = scene.node.box, scene.described.get("names", {})
    bars = []
    for dot in lanes[0].dots:
        for port in (*box.ports, *box.side_ports):
            own = [row for row in scene.rows(port) if _short(row[label]) == dot.text]
            bars += [_wait(f"{label} {dot.text}", dot, row[ts], port, names) for row in own]
    timeout = box.plain()["timeout"]
    low, high, _ = scene.described["axis"]
    moments = tuple(t for t in range(low, high + 1) if t % timeout == 0 and t > low)
    return _chart(
        scene,
        lanes,
        rows=tuple(bars),
        columns=("leaves by", "at"),
        moments=moments if scene.described.get("ticks") else (),
    )


def _wait(name: str, dot: Dot, until: float, port: str, names: Mapping[str, str]) -> Bar:
    late = port != MAIN
    says = (names.get(port, port), f"{until:g}")
    tone: Any = "late" if late else "window"
    return Bar(name, dot.at, until, (dot,), until, says, tone, (True, until == dot.at))


def buffer_chart(scene: Scene) -> Chart:
    """The tuples in the buffer of a sort; the axis counts the tuples that have arrived."""
    box, (arc,) = scene.node.box, scene.node.inputs
    assert isinstance(box, Stateful)
    schema = scene.net.check().schemas[arc]
    by, label = str(box.plain()["by"]), _label(scene)
    rows = scene.given(arc.source)
    state = box.start((schema,))
    left: dict[str, tuple[int, str]] = {}
    for number in range(len(rows) + 1):
        train = pl.DataFrame(rows[number : number + 1], schema=schema.dtypes)
        final = number == len(rows)
        step = box.step(state, (train,), (Frontier(None, final=final),), (schema,))
        state = step.state
        for port in (MAIN, LATE):
            for row in step.trains[port].to_dicts():
                left[_short(row[label])] = (number + 1, port)
    values = {_short(row[label]): _short(row[by]) for row in rows}
    bars, out = [], []
    for number, row in enumerate(rows):
        name = _short(row[label])
        until, port = left[name]
        tone: Any = "late" if port == LATE else "left"
        dot = Dot(number + 1, values[name], tone)
        word = "late" if port == LATE else "end" if until > len(rows) else f"tuple {until}"
        tone = "late" if port == LATE else "window"
        named = f"{by} {values[name]}"
        bars.append(
            Bar(named, number + 1, until, (dot,), until, (word,), tone, (True, until == dot.at))
        )
        if port == MAIN:
            out.append(Dot(until, values[name]))
    out.sort(key=lambda dot: (dot.at, float(dot.text)))
    arrived = tuple(bar.dots[0] for bar in bars)
    lanes = [Lane("arrive", arrived), Lane("leave", tuple(out))]
    labels = ("", *(str(i + 1) for i in range(len(rows))), "end")
    return Chart(
        scene.described["title"],
        "tuple",
        0,
        len(rows) + 1.4,
        1,
        tuple(lanes),
        tuple(bars),
        ("leaves with",),
        axis_labels=labels,
    )


def curve_chart(scene: Scene) -> Chart:
    """The right stream as a curve, and its values interpolated at the times of the left one.

    ``value`` names the field of the right stream, ``field`` that of the output.
    """
    described = scene.described
    left, right = (arc.source for arc in scene.node.inputs)
    ts = [scene.net.inputs[name].ts for name in (left, right)]
    value, field = described["value"], described["field"]
    given = scene.given(right)
    low, high = described["heights"]

    def height(number: float) -> float:
        return float((number - low) / (high - low))

    points = [(row[ts[1]], row[value]) for row in given if row[value] is not None]
    dots = [Dot(at, _short(v), "right", height=height(v)) for at, v in points]
    found = [(row[ts[0]], row[field]) for row in scene.rows()]
    dots += [Dot(at, "", "result", height=height(v)) for at, v in found if v is not None]
    times = tuple(Dot(at, "?" if v is None else _short(v), "left", v is None) for at, v in found)
    lanes = [
        Lane(right, tuple(dots), tuple((at, height(v)) for at, v in points), 84.0),
        Lane(left, times),
    ]
    band = None
    if (at := described.get("band")) is not None:
        size = scene.node.box.plain()["window"]["time"]
        band = (at - size, at + size)
    return _chart(scene, lanes, band=band)
