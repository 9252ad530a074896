"""Networks for the page's tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

import boxcars as bx

NO_HISTORY: dict[str, object] = {"times": [], "series": {}}
EXAMPLE = Path(__file__).parents[3] / "examples" / "high-mobility.yaml"


def high_mobility(where: str) -> bx.Network:
    """The example, with another predicate."""
    plain = yaml.safe_load(EXAMPLE.read_text())
    plain["boxes"]["fast"]["where"] = [where]
    return bx.loads(yaml.safe_dump(plain, sort_keys=False), "yaml")


def chain(boxes: int) -> dict[str, Any]:
    """A wide network: rows of ten boxes in sequence."""
    fields = {"time": "int", "price": "float"}
    made: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for number in range(boxes):
        row, column = divmod(number, 10)
        before = "calls" if column == 0 else f"box{row}_{column - 1}"
        made[f"box{row}_{column}"] = {
            "type": "filter",
            "in": before,
            "where": [f"price > {number}"],
        }
        if column == 9:
            outputs[f"out{row}"] = {"from": f"box{row}_{column}"}
    inputs = {"calls": {"ts": "time", "fields": fields}}
    return {"name": "large", "inputs": inputs, "boxes": made, "outputs": outputs}


def fake_run() -> dict[str, Any]:
    """A fake run, as in the API."""
    plain = json.loads(bx.dumps(high_mobility("speed > 110"), "json"))
    nothing: dict[str, Any] = {"read": {}, "out": {}, "feeds": ["calls"], "taps": ["frauds"]}
    known = {"id": "busy", "name": "busy", "network": plain, "state": "running", "sentence": ""}
    times = {"started": 1.0, "ended": None, "epoch": 1, "seconds": 1.0}
    return (
        known | times | nothing | {"address": None, "spark_ui": None, "command": "", "document": ""}
    )


def fake_injector() -> dict[str, Any]:
    """A fake injector of that run."""
    known = {"id": "some", "run": "busy", "inputs": ["calls"], "source": "generated tuples"}
    pace = {"rate": 500.0, "speed": None, "measured": 499.0, "batch": 100, "injectors": 2}
    rest = {"sentence": "", "sent": 5_000, "stamp": False, "left_out": 0, "reason": "", "late": 0}
    return known | pace | rest | {"state": "running"}


def fake_event(number: int, kind: str, cause: str = "so it is.", box: str = "") -> dict[str, Any]:
    """A fake event of that run, in the second of its number."""
    figures = {"tuples": float(number)}
    times = {"n": number, "at": float(number), "epoch": number}
    return times | {"kind": kind, "cause": cause, "figures": figures, "box": box}


def fake_stats(number: int) -> dict[str, Any]:
    """Fake statistics of that run, each a second later than the last."""
    counts = ("tuples_in", "tuples_out", "late", "dead", "queue", "state_rows", "state_bytes")
    piece = dict.fromkeys(counts, number) | {"cost": 1.0, "selectivity": 1.0, "share": 0.1}
    piece |= {"latency": 0.01}
    rates = {"in_rate": float(number), "out_rate": float(number), "cpu": 0.5, "seconds": 1.0}
    kinds = {"calls": "input", "callers": "map", "callees": "map", "both": "union"}
    kinds |= {"pairs": "aggregate", "speed": "map", "fast": "filter"}
    boxes = {
        name: piece | rates | {"type": kind, "fused_into": "", "pieces": [piece | rates] * 4}
        for name, kind in kinds.items()
    }
    latency = {"p50": 0.1, "p95": 0.2, "p99": 0.3}
    outputs = {"frauds": {"tuples": number, "rate": 1.0, "latency": latency, "utility": None}}
    return {"time": float(number), "boxes": boxes, "outputs": outputs, "cpu": 1.0, "memory": 1}
