"""DDoS: servers under attack from many addresses, and router rules against it.

One of StreamCloud's use cases. Suspicious flows are filtered, and the sources of each server are
counted in sliding windows. For an attacked server the output has rules that block the origin of
the attack: the networks of half-open connections, or the port of unsolicited responses.
"""

from __future__ import annotations

from boxcars.apps.app import App
from boxcars.apps.flows import FIELDS, feed
from boxcars.model.network import Network
from boxcars.model.window import time

SOURCES = 250
"""Minimum number of distinct sources per window in an attack."""
RULE = 10
"""Minimum number of flows per origin and window for a rule."""
SIZE, ADVANCE = 10, 5
"""Seconds."""


def build() -> Network:
    """Find servers with too many sources of suspicious flows, and the origins of these flows."""
    net = Network("ddos")
    flows = net.input("flows", ts="time", fields=FIELDS)
    half_open = "protocol = 'tcp' AND flags = 'S' AND packets <= 3"
    unsolicited = "protocol = 'udp' AND src_port IN (53, 123, 1900) AND bytes > 1000 * packets"
    syn, amplified = flows.filter(half_open, unsolicited).named("suspicious")
    origins = {
        "syn-flood": (syn, "subnet(src, 8)"),
        "amplification": (amplified, "concat('udp/', cast(src_port as str))"),
    }
    suspects = [
        stream.map(
            time="time", kind=f"'{kind}'", dst="dst", src="src", origin=origin, bytes="bytes"
        ).named(kind)
        for kind, (stream, origin) in origins.items()
    ]
    both = suspects[0].union(suspects[1]).named("suspects")
    window = time(SIZE, advance=ADVANCE, flush=True)
    crowded = both.aggregate(
        window,
        by=["kind", "dst"],
        sources="count_distinct(src)",
        flows="count()",
        bytes="sum(bytes)",
    ).named("sources")
    attacks = crowded.filter(f"sources >= {SOURCES}").named("attacks")
    net.output("attacks", attacks)
    origin = both.aggregate(window, by=["kind", "dst", "origin"], flows="count()").named("origins")
    busy = origin.filter(f"flows >= {RULE}").named("busy")
    rules = busy.join(
        attacks,
        on="left.kind = right.kind AND left.dst = right.dst AND left.time = right.time",
        window=time(1),
    ).named("rules")
    net.output(
        "mitigation",
        rules.map(
            time="time",
            dst="left_dst",
            block="left_origin",
            flows="left_flows",
            share="round(100.0 * left_flows / right_flows)",
            kind="left_kind",
        ).named("mitigation"),
    )
    return net


APP = App(
    name="ddos",
    family="network security",
    sentence="Finds servers under attack from many addresses, and says what to block.",
    unit="flows",
    build=build,
    feed=feed,
)
