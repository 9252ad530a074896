"""Networks of directives agree with the reference interpreter, for any directives and events."""

from random import Random
from typing import Any

from hypothesis import given, settings

import boxcars as bx
from tests.ossim.oracle import Event, interpret
from tests.ossim.random_directives import cases, file_of, stream_of

ENDS = ("src_ip", "src_port", "dst_ip", "dst_port", "protocol")
SHOWN = ("time", "directive", "rule", "level", "reliability", *ENDS, "trail")


def alarms(net: bx.Network, events: list[Event], trains: int = 1) -> list[dict[str, Any]]:
    table = bx.preview(net, {"events": events}, trains=trains)["alarms"]
    found: list[dict[str, Any]] = table.select(list(SHOWN)).to_pylist()
    return found


@settings(max_examples=40, deadline=None)
@given(cases())
def test_any_directive_over_any_events(case: tuple[str, list[Event], int]) -> None:
    text, events, trains = case
    assert alarms(bx.loads(text, "xml"), events, trains) == interpret([text], events)


def test_random_directives_do_fire() -> None:
    """Checks the property test itself: clones reach deep levels, and many exist at a time."""
    deepest = []
    for seed in range(100):
        chance = Random(seed)
        text, events = file_of(chance), stream_of(chance)
        deepest.append(max((a["level"] for a in interpret([text], events)), default=0))
    assert sum(level >= 1 for level in deepest) > 50
    assert sum(level >= 2 for level in deepest) > 30
    assert sum(level >= 3 for level in deepest) > 15


def test_an_unreferenced_root_counts_for_each_pair_of_hosts() -> None:
    text = '<directive><rule plugin_id="7" occurrence="2" time_out="5"/></directive>'
    ports = {"src_port": 1, "dst_port": 2, "protocol": "TCP", "plugin_id": 7, "plugin_sid": 1}
    ends = [("a", "b"), ("a", "c"), ("d", "b"), ("a", "b"), ("d", "b")]
    events = [{"time": n, "src_ip": a, "dst_ip": b, **ports} for n, (a, b) in enumerate(ends)]
    found = alarms(bx.loads(text, "xml"), events)
    assert [a["time"] for a in found] == [3, 4]
    assert found == interpret([text], events)
