"""SIEM: detect attacks that consist of many small events, with OSSIM directives.

The application of chapter 7.4 of the thesis. Seven directives, as a security team would write them,
become one network of ordinary boxes that share one input.
"""

from __future__ import annotations

from pathlib import Path

from boxcars.apps.app import App, Feed
from boxcars.apps.siem_events import events
from boxcars.lang.ossim import read_directives, read_ossim
from boxcars.model.network import Network

FOLDER = Path(__file__).with_name("siem")


def build() -> Network:
    """All directives; ``incidents`` has the alarms of last rules, which are complete attacks."""
    files = sorted(FOLDER.glob("*.xml"))
    net = read_ossim(*files, name="siem")
    last = " OR ".join(
        f"directive = {directive.id} AND rule = '{rule.label}'"
        for file in files
        for directive in read_directives(file.read_text(encoding="utf-8"), file.name)
        for rule in directive.rule.all()
        if not rule.children
    )
    alarms = net.stream(net.outputs["alarms"].source.source)
    net.output("incidents", alarms.filter(last).named("incidents"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """Events of many hosts, with every attack and its near misses in each quarter of an hour."""
    frames, planted = events(rows, seed)
    return Feed(({"events": frame} for frame in frames), {"incidents": planted})


APP = App(
    name="siem",
    family="network security",
    sentence="Detects attacks that consist of many small events, with OSSIM directives.",
    unit="events",
    build=build,
    feed=feed,
)
