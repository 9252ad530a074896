"""Mistakes in files of directives, with their exact messages."""

from pathlib import Path

import pytest

import boxcars as bx
from boxcars.lang.ossim import read_directives, read_ossim

RULE = '<directive id="{}"><rule plugin_id="1"/></directive>'


def words(text: str) -> list[str]:
    with pytest.raises(bx.NetworkError) as error:
        read_directives(text, "d.xml")
    return str(error.value).splitlines()


def words_of(attributes: str, below: str = "") -> list[str]:
    return words(f'<directive>\n<rule plugin_id="1" {attributes}>{below}</rule></directive>')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<directives/>", "d.xml:1: <directives> needs at least one <directive>."),
        ("<rules/>", "d.xml:1: expected <directives>, got <rules>."),
        ("<directive/>", "d.xml:1: directive 1 needs exactly one root <rule>, got 0."),
        (
            '<directive id="7"><rule plugin_id="1"/>\n<rule plugin_id="1"/></directive>',
            "d.xml:1: directive 7 needs exactly one root <rule>, got 2.",
        ),
        (
            f"<directives>{RULE.format(1)}\n{RULE.format(1)}</directives>",
            "d.xml:2: duplicate directive id 1.",
        ),
        (
            '<directives><directiv/><directive><rule plugin_id="1"/></directive></directives>',
            "d.xml:1: expected <directive> in <directives>, got <directiv>.",
        ),
        (
            '<directive id="x"><rule plugin_id="1"/></directive>',
            "d.xml:1: 'id': expected a whole number of at least 0, got 'x'.",
        ),
        (
            '<directive priority="6"><rule plugin_id="1"/></directive>',
            "d.xml:1: 'priority': expected a whole number from 0 to 5, got '6'.",
        ),
        (
            '<directive prio="3"><rule plugin_id="1"/></directive>',
            "d.xml:1: <directive> has no 'prio'. Did you mean 'priority'?",
        ),
        (
            "<directive>\n<rule/></directive>",
            "d.xml:2: <rule> needs 'plugin_id'; ANY matches all plugins.",
        ),
        ("<directive>", "d.xml:1: invalid XML: no element found."),
    ],
)
def test_directives(text: str, expected: str) -> None:
    assert words(text) == [expected]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('plugin_sit="1"', "<rule> has no 'plugin_sit'. Did you mean 'plugin_sid'?"),
        ('type="monitor"', "expected type 'detector', got 'monitor'."),
        ('sensor="10.0.0.1"', "'sensor' is not supported: omit it, or write ANY."),
        ('plugin_sid="a"', "'plugin_sid': expected a number or ANY, got 'a'."),
        ('plugin_sid="1,,2"', "'plugin_sid': expected a number or ANY, got ''."),
        ('from="10.0.0.256"', "'from': expected an address, a subnet or ANY, got '10.0.0.256'."),
        ('from="10.0.0.0/33"', "'from': expected an address, a subnet or ANY, got '10.0.0.0/33'."),
        ('to="HOME_NETS"', "'to': there is no network 'HOME_NETS'. Did you mean 'HOME_NET'?"),
        ('to="!ANY"', "'to' can't be '!ANY': nothing matches."),
        (
            'port_to="65536"',
            "'port_to': expected a port from 0 to 65535, a range or ANY, got '65536'.",
        ),
        (
            'port_to="20-10"',
            "'port_to': expected a port from 0 to 65535, a range or ANY, got '20-10'.",
        ),
        ('protocol="T/CP"', "'protocol': expected a protocol such as TCP, got 'T/CP'."),
        ('occurrence="0"', "'occurrence': expected a whole number of at least 1, got '0'."),
        ('time_out="-1"', "'time_out': expected a whole number of at least 0, got '-1'."),
        (
            'reliability="11"',
            "expected a reliability such as '3' or '+2', 10 at most; got '11'.",
        ),
        (
            'reliability="-1"',
            "expected a reliability such as '3' or '+2', 10 at most; got '-1'.",
        ),
        (
            'from="1:SRC_IP"',
            "'from': '1:SRC_IP' does not refer to an earlier rule: this one has level 1.",
        ),
        ('from="1:SRC"', "'from': there is no field 'SRC' to refer to. Did you mean 'SRC_IP'?"),
        ('from="1:SRC_PORT"', "'from': '1:SRC_PORT' is a field of another type."),
    ],
)
def test_rules(attributes: str, expected: str) -> None:
    assert words_of(attributes) == [f"d.xml:2: {expected}"]


def test_a_reference_to_the_rule_itself() -> None:
    below = '<rules>\n<rule plugin_id="1" to="2:DST_IP"/></rules>'
    assert words_of("", below) == [
        "d.xml:3: 'to': '2:DST_IP' does not refer to an earlier rule: this one has level 2."
    ]


def test_attributes_of_a_rule() -> None:
    below = '\n<rule plugin_id="1"/>\n<rules><directive/></rules>'
    assert words_of("", below) == [
        "d.xml:3: expected <rules> in <rule>, got <rule>.",
        "d.xml:4: expected <rule> in <rules>, got <directive>.",
    ]


def test_all_mistakes_are_reported_in_the_order_of_their_lines() -> None:
    below = '<rules>\n<rule plugin_id="x" occurrence="y"/></rules>'
    assert words_of('from="nowhere" to="1.2.3"', below) == [
        "d.xml:2: 'from': there is no network 'nowhere'. There is: HOME_NET.",
        "d.xml:2: 'to': expected an address, a subnet or ANY, got '1.2.3'.",
        "d.xml:3: 'plugin_id': expected a number or ANY, got 'x'.",
        "d.xml:3: 'occurrence': expected a whole number of at least 1, got 'y'.",
    ]


def test_a_file_is_checked_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text("<directives>\n<directive/></directives>")
    (problem,) = bx.check_file(path).problems
    assert str(problem) == f"{path}:2: directive 1 needs exactly one root <rule>, got 0."


def test_the_same_id_in_two_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one.xml", tmp_path / "two.xml"
    for path in (one, two):
        path.write_text(RULE.format(3))
    with pytest.raises(bx.NetworkError, match="two.xml:1: duplicate directive id 3."):
        read_ossim(one, two)


def test_files_that_are_not_there() -> None:
    with pytest.raises(bx.BoxcarsError, match="nothing.xml: can't be read"):
        read_ossim("nothing.xml")
    with pytest.raises(bx.BoxcarsError, match="expected at least one file of directives."):
        read_ossim()
