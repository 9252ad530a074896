"""Reading files of directives, and the boxes they are translated to."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import boxcars as bx
from boxcars.cli import app
from boxcars.lang.ossim import is_ossim, read_directives, read_ossim
from boxcars.lang.ossim_rules import Directive, Match, Range, Reference, Rule, Subnet
from boxcars.model.problem import BoxcarsError, Location
from tests.ossim.shipped import FILES, SMB, WEB_ATTACK


def rule_of(attributes: str, level: int = 1) -> Rule:
    """A rule at a level; its ancestors match everything."""
    text = f'<rule plugin_id="ANY" {attributes}/>'
    for _ in range(level - 1):
        text = f'<rule plugin_id="ANY" reliability="2"><rules>{text}</rules></rule>'
    (directive,) = read_directives(f"<directive>{text}</directive>", "d.xml")
    return list(directive.rule.all())[-1]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('plugin_sid="1, 2,!3"', Match("plugin_sid", (1, 2), (3,))),
        ('from="10.0.0.1,!10.0.0.0/24"', Match("src_ip", ("10.0.0.1",), (Subnet("10.0.0.0/24"),))),
        ('from="10.1.2.3/8"', Match("src_ip", (Subnet("10.0.0.0/8"),))),
        ('from="2001:DB8::1"', Match("src_ip", ("2001:db8::1",))),
        ('to="DMZ"', Match("dst_ip", (Subnet("10.9.0.0/16"), "10.8.0.1"))),
        ('to="!DMZ"', Match("dst_ip", (), (Subnet("10.9.0.0/16"), "10.8.0.1"))),
        ('to="ANY,10.0.0.2,!10.0.0.1"', Match("dst_ip", (), ("10.0.0.1",))),
        ('Port_To="80,8000-8080"', Match("dst_port", (80, Range(8000, 8080)))),
        ('protocol="tcp"', Match("protocol", ("TCP",))),
    ],
)
def test_matches(attributes: str, expected: Match) -> None:
    text = f'<directive><rule plugin_id="ANY" {attributes}/></directive>'
    (directive,) = read_directives(text, "d.xml", {"DMZ": "10.9.0.0/16, 10.8.0.1"})
    assert directive.rule.matches == (expected,)


def test_references() -> None:
    rule = rule_of('from="2:DST_IP" to="!1:src_ip,2:To" port_to="1:SRC_PORT"', level=3)
    assert rule.matches == (
        Match("src_ip", (Reference(2, "dst_ip"),)),
        Match("dst_ip", (Reference(2, "dst_ip"),), (Reference(1, "src_ip"),)),
        Match("dst_port", (Reference(1, "src_port"),)),
    )


def test_what_is_left_out() -> None:
    rule = rule_of('from="ANY" time_out="None" sensor="ANY" sticky=""')
    assert rule == Rule("1", 1, "rule 1", (), line=1)
    assert (rule.occurrence, rule.time_out, rule.reliability, rule.wait) == (1, None, 0, 3600)
    assert rule_of('time_out="0"').time_out is None
    (directive,) = read_directives('<directive><rule plugin_id="1"/></directive>', "d.xml")
    assert directive == Directive(1, "directive 1", 3, directive.rule, "d.xml", 1)


@pytest.mark.parametrize(("text", "found"), [("3", 3), ("+3", 5), ("+9", 10), ("0", 0), ("+0", 2)])
def test_reliability(text: str, found: int) -> None:
    assert rule_of(f'reliability="{text}"', level=2).reliability == found


def test_labels() -> None:
    (directive,) = read_directives(WEB_ATTACK.read_text(encoding="utf-8"), "w.xml")
    assert [rule.label for rule in directive.rule.all()] == ["1", "2a", "3a", "2b", "3b", "3c"]
    many = '<rule plugin_id="1"/>' * 30
    text = f'<directive><rule plugin_id="1"><rules>{many}</rules></rule></directive>'
    (wide,) = read_directives(text, "w.xml")
    assert [rule.label for rule in wide.rule.children][25:] == ["2z", "2aa", "2ab", "2ac", "2ad"]


def test_the_boxes_of_a_rule() -> None:
    net = bx.load(SMB)
    assert list(net.boxes) == [
        "relevant",
        "seconds",
        "places",
        "smb_harmful_file_rule1_events",
        "smb_harmful_file_rule1_alarms",
        "smb_harmful_file_rule1_clones",
        "smb_harmful_file_rule2_events",
        "smb_harmful_file_rule2_pairs",
        "smb_harmful_file_rule2_count",
        "smb_harmful_file_rule2_in_time",
        "smb_harmful_file_rule2_alarms",
        "alarms",
    ]
    assert net.boxes["smb_harmful_file_rule2_count"].box.plain()["by"] == ["left_trail"]
    assert net.source["boxes", "smb_harmful_file_rule2_count"] == Location(str(SMB), 6)


def test_two_directives_of_one_name() -> None:
    one = '<directive id="{}" name="Same"><rule plugin_id="{}"/></directive>'
    net = bx.loads(f"<directives>{one.format(1, 1)}{one.format(2, 2)}</directives>", "xml")
    assert {"same_1_rule1_alarms", "same_2_rule1_alarms"} < set(net.boxes)
    assert net.check().ok


def test_a_rule_that_takes_everything() -> None:
    """Nothing to filter, and a name that has to be quoted."""
    net = bx.loads('<directive name="It\'s 5"><rule plugin_id="ANY"/></directive>', "xml")
    assert "relevant" not in net.boxes
    row = {"time": 1, "plugin_id": 1, "plugin_sid": 1, "src_ip": None, "src_port": 1}
    row |= {"dst_ip": None, "dst_port": 2, "protocol": None}
    (alarm,) = bx.preview(net, {"events": [row]})["alarms"].to_pylist()
    assert (alarm["name"], alarm["message"], alarm["trail"]) == ("It's 5", "rule 1", "1.1")


def test_what_is_a_file_of_directives() -> None:
    assert is_ossim('<?xml version="1.0"?>\n<!-- a --><!-- b -->\n<directives>')
    assert is_ossim("<directive\nid='1'>")
    assert not is_ossim("<borealis><directives/></borealis>")
    assert not is_ossim("<directivesque/>")


class TestCommand:
    """``boxcars lang ossim``, and the other commands on files of directives."""

    def call(self, *arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    def test_it_draws(self) -> None:
        done = self.call("lang", "ossim", SMB)
        assert done.exit_code == 0
        assert done.stdout == self.call("draw", SMB).stdout
        assert "⋈ smb_harmful_file_rule2_pairs" in done.stdout

    @pytest.mark.parametrize("suffix", [".yaml", ".json", ".xml", ".py"])
    def test_it_writes_a_network(self, tmp_path: Path, suffix: str) -> None:
        out = tmp_path / f"smb{suffix}"
        assert self.call("lang", "ossim", SMB, "--out", out).exit_code == 0
        assert bx.load(out) == bx.load(SMB)

    @pytest.mark.parametrize(("suffix", "start"), [(".svg", "<svg"), (".mmd", "flowchart")])
    def test_it_writes_a_picture(self, tmp_path: Path, suffix: str, start: str) -> None:
        out = tmp_path / f"smb{suffix}"
        assert self.call("lang", "ossim", SMB, "--out", out).exit_code == 0
        assert start in out.read_text(encoding="utf-8")[:200]

    def test_several_files_with_custom_networks(self, tmp_path: Path) -> None:
        out = tmp_path / "all.yaml"
        done = self.call("lang", "ossim", *FILES, "--net", "HOME_NET=10.64.0.0/10", "--out", out)
        assert done.exit_code == 0, done.output
        nets = {"HOME_NET": "10.64.0.0/10"}
        assert bx.load(out) == read_ossim(*FILES, nets=nets) != read_ossim(*FILES)

    def test_other_commands_read_directives(self, tmp_path: Path) -> None:
        assert self.call("check", SMB).stdout == "smb is valid: inputs 1, boxes 12, outputs 1.\n"
        assert self.call("convert", SMB, tmp_path / "smb.yaml").exit_code == 0
        assert bx.load(tmp_path / "smb.yaml") == bx.load(SMB)

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (["--out", "smb.doc"], "smb.doc: expected a file name ending in .yaml, .yml, .json"),
            (["--net", "HOME_NET"], "expected --net NAME=SUBNETS, got 'HOME_NET'."),
        ],
    )
    def test_mistakes(self, arguments: list[str], expected: str) -> None:
        done = self.call("lang", "ossim", SMB, *arguments)
        assert isinstance(done.exception, BoxcarsError)
        assert str(done.exception).startswith(expected)
