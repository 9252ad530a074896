"""Random directives and events: few values and many ties, so that clones collide."""

from random import Random
from typing import Any
from xml.etree import ElementTree

from hypothesis import strategies as st

from tests.ossim.oracle import Event

HOSTS = ["10.0.0.1", "10.0.0.2", "8.8.8.8"]
PORTS = [80, 443, 1000, None]


def words(chance: Random, choices: list[str]) -> str:
    """A few different words, some of them refused."""
    some = chance.sample(choices, min(chance.choice([1, 1, 2]), len(choices)))
    return ",".join(chance.choice(["", "", "!"]) + word for word in some)


def rule(chance: Random, level: int = 1) -> ElementTree.Element:
    earlier = range(1, level)
    ips = [f"{n}:{name}" for n in earlier for name in ("SRC_IP", "DST_IP")]
    ports = [f"{n}:{name}" for n in earlier for name in ("SRC_PORT", "DST_PORT")]
    sids = [f"{n}:PLUGIN_SID" for n in earlier]

    def address() -> str:
        if chance.random() < 0.6:
            return chance.choice(["ANY", *ips])
        return words(chance, [*HOSTS, "10.0.0.0/8", "HOME_NET", "8.0.0.0/5", *ips])

    def rarely(choices: list[str]) -> str:
        return words(chance, choices) if chance.random() < 0.15 else "ANY"

    attributes = {
        "plugin_id": chance.choice(["7", "7", "7", "7,8", "!8", "ANY"]),
        "plugin_sid": chance.choice(["1", "2", "1,2", "!3", words(chance, ["1", "2", *sids])]),
        "from": address(),
        "to": address(),
        "port_from": rarely(["80", "400-500", *ports]),
        "port_to": rarely(["443", "0-100", *ports]),
        "protocol": rarely(["TCP", "UDP"]),
        "occurrence": str(chance.choice([1, 1, 1, 2, 3])),
        "time_out": str(chance.choice([1, 2, 3, 5, 9, 0, "None"])),
        "reliability": chance.choice(["1", "4", "+1", "+6"]),
    }
    element = ElementTree.Element("rule", attributes)
    below = chance.choice([1, 1, 2] if level < 3 else [0, 0, 1] if level < 5 else [0])
    if below:
        nested = ElementTree.SubElement(element, "rules")
        nested.extend([rule(chance, level + 1) for _ in range(below)])
    return element


def file_of(chance: Random) -> str:
    root = ElementTree.Element("directives")
    for number in range(chance.choice([1, 1, 2])):
        name = {"id": str(number + 5), "name": chance.choice(["a", "b: 'c'"])}
        ElementTree.SubElement(root, "directive", name).append(rule(chance))
    return ElementTree.tostring(root, encoding="unicode")


def stream_of(chance: Random) -> list[Event]:
    now = 0
    found: list[Event] = []
    for _ in range(chance.choice([5, 30, 60])):
        now += chance.choice([0, 0, 0, 1, 1, 2, 5])
        found.append(
            {
                "time": now,
                "plugin_id": chance.choice([7] * 9 + [8, None]),
                "plugin_sid": chance.choice([1, 1, 2, 2, 3]),
                "src_ip": chance.choice(HOSTS),
                "src_port": chance.choice(PORTS),
                "dst_ip": chance.choice([*HOSTS, None]),
                "dst_port": chance.choice(PORTS),
                "protocol": chance.choice(["TCP", "UDP"]),
            }
        )
    return found


@st.composite
def cases(draw: Any) -> tuple[str, list[Event], int]:
    """A file, a stream, and the number of trains it is split into."""
    chance = Random(draw(st.integers(0, 2**32)))
    return file_of(chance), stream_of(chance), draw(st.sampled_from([1, 2, 5]))
