"""DDoS: servers that many addresses attack at once, and rules for the router that help.

One of StreamCloud's use cases. Flows that can be part of an attack are few among all; of those the
sources of each server are counted in sliding windows. An attacked server gets rules that name where
the attack comes from: networks of half-open connections, or the port of unasked answers.
"""

from __future__ import annotations

from boxcars.apps.app import App
from boxcars.apps.flows import FIELDS, feed
from boxcars.model.network import Network
from boxcars.model.window import time

SOURCES = 250
"""Different sources in a window that make an attack."""
RULE = 10
"""Flows of one origin in a window that are worth a rule."""
SIZE, ADVANCE = 10, 5
"""Seconds."""


def build() -> Network:
    """Suspicious flows, the servers with too many sources of them, and where they come from."""
    net = Network("ddos")
    flows = net.input("flows", ts="time", fields=FIELDS)
    half_open = "protocol = 'tcp' AND flags = 'S' AND packets <= 3"
    unasked = "protocol = 'udp' AND src_port IN (53, 123, 1900) AND bytes > 1000 * packets"
    syn, amplified = flows.filter(half_open, unasked).named("suspicious")
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
