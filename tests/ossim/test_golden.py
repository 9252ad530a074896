"""The thesis' examples of directives (golden vectors q-09 to q-12 and fmt-11)."""

import json
from pathlib import Path
from typing import Any

import pytest

import boxcars as bx
from boxcars.lang.ossim import FIELDS, read_directives
from boxcars.lang.ossim_network import EVENT
from tests.ossim.shipped import BRUTE_FORCE, SMB
from tests.ossim.test_interpreter import alarms

FOLDER = Path(__file__).parent.parent / "golden"
VECTORS = {
    vector["id"]: vector
    for name in ("queries", "formats_api")
    for vector in json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
}
OURS = {
    "Pid": "plugin_id",
    "Sid": "plugin_sid",
    "IP_A": "src_ip",
    "IP_B": "dst_ip",
    "P_A": "src_port",
    "P_B": "dst_port",
    "Time": "time",
    "Rule": "level",
    "Reliability": "reliability",
}
"""The thesis' names of fields, and ours."""
SIX = """<directive><rule plugin_id="1" plugin_sid="1"><rules>
  <rule plugin_id="1" plugin_sid="2"><rules>
    <rule plugin_id="1" plugin_sid="3"/>
  </rules></rule>
  <rule plugin_id="1" plugin_sid="4"><rules>
    <rule plugin_id="1" plugin_sid="5"/>
    <rule plugin_id="1" plugin_sid="6"/>
  </rules></rule>
</rules></rule></directive>"""
SIDS = {"1": 1, "2a": 2, "3a": 3, "2b": 4, "3b": 5, "3c": 6}


def event(time: int, sid: int = 1, **more: Any) -> dict[str, Any]:
    ends = {"src_ip": "10.0.0.1", "src_port": 1000, "dst_ip": "10.0.0.2", "dst_port": 445}
    kind = {"plugin_id": 1, "plugin_sid": sid, "protocol": "TCP"}
    return {"time": time, **kind, **ends, **more}


def smb_alarms(vector: Any, trains: int) -> list[dict[str, Any]]:
    names = VECTORS["q-09-ossim-smb-directive"]["input"]["format"]
    rows = [
        {"protocol": "TCP"} | {OURS[n]: value for n, value in zip(names, row, strict=True)}
        for row in vector["input"]["tuples"]
    ]
    return alarms(bx.load(SMB), rows, trains)


@pytest.mark.parametrize("trains", [1, 3, 8])
def test_the_smb_directive(trains: int) -> None:
    vector = VECTORS["q-09-ossim-smb-directive"]
    got = [
        {name: a[OURS[name]] for name in vector["expected"]["O"][0]}
        for a in smb_alarms(vector, trains)
    ]
    assert got == vector["expected"]["O"]


def test_the_smb_directive_is_as_the_thesis_says() -> None:
    (directive,) = read_directives(SMB.read_text(encoding="utf-8"), "smb.xml")
    expected = VECTORS["q-09-ossim-smb-directive"]["parameters"]["directive"]["rule"]
    root, (child,) = directive.rule, directive.rule.children
    for rule, said in ((root, expected), (child, expected["rules"][0])):
        wanted = {match.field: list(match.wanted) for match in rule.matches}
        assert wanted["plugin_id"] == [said["Plugin_Id"]]
        assert wanted["plugin_sid"] == said["Plugin_Sid"]
        assert rule.occurrence == said["Occurrence"]
        assert rule.time_out == said.get("Time_Out")
    assert [r.name for match in child.matches for r in match.references] == ["src_ip_1", "dst_ip_1"]


def test_one_event_does_not_count_twice() -> None:
    """The thesis' template fires here, although each clone has seen only one of two events."""
    vector = VECTORS["q-12-ossim-translation-multiplicity"]
    got = [a["level"] for a in smb_alarms(vector, 1)]
    assert got.count(2) == vector["expected"]["ossim_semantics_rule2_firings"] == 0
    assert got == [1, 1]


def test_two_clones_that_see_two_events_fire_both() -> None:
    times = [(100, 537), (101, 537), (105, 2009033), (106, 2009035), (107, 2009034)]
    rows = [event(time, sid, plugin_id=1001) for time, sid in times]
    trails = [a["trail"] for a in alarms(bx.load(SMB), rows) if a["level"] == 2]
    assert trails == ["100.1 106.1", "101.1 106.1"]


def test_cloning_and_removal() -> None:
    """A rule is active if it fires when its event comes next."""
    vector = VECTORS["q-10-ossim-cloning-fig7.6"]
    net = bx.loads(SIX, "xml")
    firings = vector["input"]["firings"]

    def active(fired: list[str]) -> list[str]:
        before = [event(time, SIDS[rule]) for time, rule in enumerate(fired)]
        now = len(fired)
        after = {r: alarms(net, [*before, event(now, sid)]) for r, sid in SIDS.items()}
        return sorted(
            r for r, got in after.items() if (now, r) in {(a["time"], a["rule"]) for a in got}
        )

    assert active([]) == vector["expected"]["active_rules_before"]
    for number, expected in enumerate(vector["expected"]["active_after"], 1):
        assert active(firings[:number]) == expected
    messages = alarms(net, [event(time, SIDS[rule]) for time, rule in enumerate(firings)])
    assert len(messages) == vector["expected"]["messages"]
    assert [a["rule"] for a in messages] == firings


class TestBruteForce:
    vector = VECTORS["q-11-ossim-login-directive"]["expected"]

    def test_parameters(self) -> None:
        (directive,) = read_directives(BRUTE_FORCE.read_text(encoding="utf-8"), "b.xml")
        root, (child,) = directive.rule, directive.rule.children
        assert {"occurrence": root.occurrence, "within_s": root.time_out} == self.vector["root"]
        assert {"occurrence": child.occurrence, "within_s": child.time_out} == self.vector["child"]
        assert self.vector["per_key"] == "server"
        net = bx.load(BRUTE_FORCE)
        assert net.boxes["brute_force_login_rule1_count"].box.plain()["by"] == ["dst_ip"]

    @pytest.mark.parametrize(
        ("failures", "span", "wait", "fires"),
        [(100, 600, 60, True), (99, 600, 60, False), (100, 601, 60, False), (100, 600, 61, False)],
    )
    def test_limits(self, failures: int, span: int, wait: int, fires: bool) -> None:
        """Two servers at once; the attackers of one come from many hosts."""
        rows = [
            event(
                n * span // (failures - 1),
                plugin_id=4003,
                src_ip=f"45.0.0.{n}",
                dst_ip=server,
                dst_port=22,
            )
            for n in range(failures)
            for server in ("10.0.0.1", "10.0.0.2")
        ]
        rows.append(event(span + wait, 7, plugin_id=4003, dst_ip="10.0.0.2", dst_port=22))
        got = [a for a in alarms(bx.load(BRUTE_FORCE), rows) if a["level"] == 2]
        assert [a["dst_ip"] for a in got] == ["10.0.0.2"] * fires

    def test_several_instances_of_one_server(self) -> None:
        """The failure after the hundredth is the hundredth of another instance."""
        rows = [event(n, plugin_id=4003, dst_port=22) for n in range(101)]
        rows.append(event(110, 7, plugin_id=4003, dst_port=22))
        got = [(a["rule"], a["trail"]) for a in alarms(bx.load(BRUTE_FORCE), rows)]
        assert got == [("1", "99.1"), ("1", "100.1"), ("2", "99.1 110.1"), ("2", "100.1 110.1")]


def test_the_format() -> None:
    expected = VECTORS["fmt-11-ossim-rule"]["expected"]
    assert {name.lower() for name in expected["rule"][:6]} == set(FIELDS) - {"protocol"}
    assert {OURS[name] for name in expected["input_schema"]} == set(EVENT) - {"protocol"}
    schema = bx.check_file(SMB).schemas
    (found,) = [s for arc, s in schema.items() if str(arc) == "alarms"]
    assert {OURS[name] for name in expected["output_schema"]} < set(found.fields)
    case = expected["reliability_resolution"]
    every = " ".join(f'{name}="1"' for name in expected["rule"] if name != "Reliability")
    ports = every.replace('From="1"', 'From="ANY"', 1).replace('To="1"', 'To="ANY"', 1)
    text = (
        f'<directive><rule {ports} Reliability="{case["parent"]}"><rules>'
        f'<rule {ports} Reliability="{case["child"]}"/></rules></rule></directive>'
    )
    (directive,) = read_directives(text, "f.xml")
    assert directive.rule.children[0].reliability == case["result"]
