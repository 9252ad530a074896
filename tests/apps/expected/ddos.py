"""DDoS detection, window by window."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]


def suspicion(flow: dict[str, Any]) -> str | None:
    if flow["protocol"] == "tcp" and flow["flags"] == "S" and flow["packets"] <= 3:
        return "syn-flood"
    asked = flow["src_port"] not in (53, 123, 1900) or flow["bytes"] <= 1000 * flow["packets"]
    return None if flow["protocol"] != "udp" or asked else "amplification"


def origin(kind: str, flow: dict[str, Any]) -> str:
    if kind == "amplification":
        return f"udp/{flow['src_port']}"
    return f"{flow['src'].split('.')[0]}.0.0.0/8"


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    windows: dict[tuple[int, str, str], Rows] = defaultdict(list)
    for flow in data["flows"].iter_rows(named=True):
        kind = suspicion(flow)
        if kind is not None:
            for start in (flow["time"] // 5 * 5 - 5, flow["time"] // 5 * 5):
                if start >= 0:
                    windows[start, kind, flow["dst"]].append(flow)
    attacks, mitigation = [], []
    for (start, kind, dst), flows in windows.items():
        sources = len({flow["src"] for flow in flows})
        if sources < 250:
            continue
        what = {"time": start, "kind": kind, "dst": dst}
        size = sum(flow["bytes"] for flow in flows)
        attacks.append(what | {"sources": sources, "flows": len(flows), "bytes": size})
        origins = Counter(origin(kind, flow) for flow in flows)
        for block, number in origins.items():
            if number >= 10:
                share = float(round(100 * number / len(flows)))
                mitigation.append(what | {"block": block, "flows": number, "share": share})
    return {"attacks": attacks, "mitigation": mitigation}
