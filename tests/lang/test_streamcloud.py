"""The files of a StreamCloud project, checked together."""

import subprocess
import sys
from pathlib import Path

import pytest

import boxcars as bx
from boxcars.lang.streamcloud import Machine, Project, Resources

QUERY = """<borealis><schema name="s"><field name="time" type="int"/></schema>
<input stream="in" schema="s"/><query name="g"><box name="f" type="filter"><in stream="in"/>
<out stream="out"/><parameter name="expression.0" value="time &gt; 1"/></box></query>
<output stream="out"/></borealis>"""
DEPLOY = """<deploy><publish endpoint="a:1" stream="in"/><node endpoint="{node}" query="g"/>
<subscribe endpoint="a:2" stream="out"/></deploy>"""


def project(folder: Path, node: str = "blade1:15000") -> Path:
    (folder / "query.xml").write_text(QUERY)
    (folder / "deploy.xml").write_text(DEPLOY.format(node=node))
    machine = Machine("blade1", "blade1", 8000, (15000, 15100))
    (folder / "res.xml").write_text(Resources((machine,), (), 3).write())
    path = folder / "SC.xml"
    path.write_text(Project("query.xml", "deploy.xml", "res.xml", balancers=("a:5",)).write())
    return path


def check(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "boxcars.cli", "check", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_project_is_checked_with_all_its_files(tmp_path: Path) -> None:
    done = check(project(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "query is valid: inputs 1, boxes 1, outputs 1.\n"


def test_a_group_without_an_instance(tmp_path: Path) -> None:
    done = check(project(tmp_path, "blade1:15001"))
    assert done.returncode == 1
    assert "deploy.xml:1: group 'g': no assigned instance at blade1:15001." in done.stderr
    assert "Did you mean 'blade1:15" in done.stderr


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    path = project(tmp_path)
    (tmp_path / "res.xml").unlink()
    assert "res.xml: can't be read" in check(path).stderr


def test_mistakes_are_found_together() -> None:
    text = "<SC><Query>q</Query><Deploi>d</Deploi><FaultTolerance><HeartBeatPeriod>soon"
    text += "</HeartBeatPeriod></FaultTolerance><LBs><Instances/></LBs></SC>"
    with pytest.raises(bx.NetworkError) as error:
        Project.parse(text)
    assert str(error.value).splitlines() == [
        "SC.xml:1: <SC> needs <Deploy>. Did you mean 'Deploi'?",
        "SC.xml:1: <SC> needs <ResourceManager>. There is: Deploi, FaultTolerance, LBs, Query.",
        "SC.xml:1: <FaultTolerance> needs <RecoveryType>. There is: HeartBeatPeriod.",
        "SC.xml:1: expected a whole number in <HeartBeatPeriod>, got 'soon'.",
    ]
    bad = "<ResourceManagerParameters><AssignedNodes><SCStarter Port='x'/></AssignedNodes>"
    bad += "<AvailableNodes/><DesideredPoolSize>3</DesideredPoolSize></ResourceManagerParameters>"
    with pytest.raises(bx.NetworkError, match="expected a port in <SCStarter>, got 'x'"):
        Resources.parse(bad)
    with pytest.raises(bx.NetworkError, match="expected <SC>, got <query>"):
        Project.parse("<query/>")
