"""SIEM: attacks that are told in many small events, found by directives of OSSIM.

The application of the thesis' chapter 7.4. Seven directives, as a security team writes them, become
one network of ordinary boxes; all of them read the same events.
"""

from __future__ import annotations

from pathlib import Path

from boxcars.apps.app import App, Feed
from boxcars.apps.siem_events import events
from boxcars.lang.ossim import read_directives, read_ossim
from boxcars.model.network import Network

FOLDER = Path(__file__).with_name("siem")


def build() -> Network:
    """All directives, and of their alarms those that end one: the whole attack was seen."""
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
    """Events of many hosts; in each quarter of an hour every attack, and what looks like one."""
    frames, planted = events(rows, seed)
    return Feed(({"events": frame} for frame in frames), {"incidents": planted})


APP = App(
    name="siem",
    family="network security",
    sentence="Follows attacks through many small events, by directives as OSSIM has them.",
    unit="events",
    build=build,
    feed=feed,
)
