from pathlib import Path

import pytest

import boxcars as bx
from boxcars.lang.deploy import Deployment, Placement
from boxcars.model.problem import BoxcarsError


def network() -> bx.Network:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields={"t": "int"})
    net.output("out", calls.filter("t > 1").named("f").in_group("group1"))
    return net


GOOD = """<deploy>
  <publish endpoint="a:1" stream="calls"/>
  <node endpoint="b:65535" query="group1"/>
  <subscribe endpoint="::1:3" stream="out"/>
</deploy>
"""


def test_there_and_back() -> None:
    deployment = Deployment.parse(GOOD)
    assert deployment.node == (Placement("b:65535", "group1"),)
    assert deployment.write() == GOOD
    assert list(deployment.problems(network())) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("calls", "cals", "deploy.xml:2: there is no input 'cals'. Did you mean 'calls'?"),
        ("group1", "group2", "deploy.xml:3: there is no group 'group2'. Did you mean 'group1'?"),
        ("group1", "group2", "deploy.xml:1: group 'group1' has no <node>."),
        ('stream="out"', 'stream="calls"', "deploy.xml:4: there is no output 'calls'."),
        ('stream="out"', 'stream="calls"', "deploy.xml:1: output 'out' has no <subscribe>."),
    ],
)
def test_mismatches_with_the_network(old: str, new: str, words: str) -> None:
    problems = Deployment.parse(GOOD.replace(old, new)).problems(network())
    assert any(str(problem).startswith(words) for problem in problems)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("a:1", "a", "deploy.xml:2: expected host:port, got 'a'."),
        *[
            ("a:1", bad, f"expected host:port, got '{bad}'.")
            for bad in (":1", "a:", "a:0", "a:70000")
        ],
        *[("a:1", bad, f"expected host:port, got '{bad}'.") for bad in ("a:-1", "a:x", "a:²")],
        ("a:1", "", "deploy.xml:2: <publish> needs 'endpoint'."),
        ("group1", "", "deploy.xml:3: <node> needs 'query'."),
        ("<node", "<nod", "deploy.xml:3: unknown element <nod>. Did you mean 'node'?"),
        ("deploy>", "deply>", "deploy.xml:1: expected <deploy>, got <deply>."),
        ("</deploy>", "", "invalid XML"),
    ],
)
def test_mistakes(old: str, new: str, words: str) -> None:
    with pytest.raises(bx.NetworkError) as error:
        Deployment.parse(GOOD.replace(old, new))
    assert words in str(error.value)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "deploy.xml"
    with pytest.raises(BoxcarsError, match="deploy.xml: can't be read: .*No such file"):
        Deployment.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BoxcarsError, match="deploy.xml: can't be read: .*utf-8"):
        Deployment.load(path)
    path.write_text(GOOD)
    assert Deployment.load(path) == Deployment.parse(GOOD)
