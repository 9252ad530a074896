"""Findings of the doctor on a healthy machine, and on machines that lack something."""

import re
import socket
import stat
from pathlib import Path

import pytest

from boxcars.doctor import machine
from boxcars.doctor.machine import look_at_machine


def test_the_machine_that_runs_these_tests_has_no_problem(tmp_path: Path) -> None:
    found = list(look_at_machine(tmp_path, None))
    assert {finding.what for finding in found if finding.verdict == "wrong"} == set()
    assert {"Python", "Java", "bash", "packages", "disk", "loopback"} <= {f.what for f in found}


def fake_java(folder: Path, said: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "11.0.2 at .* is too old"),
        ("nothing", "does not report its version"),
    ],
)
def test_unusable_java(tmp_path: Path, said: str, seen: str) -> None:
    found = machine.java({"JAVA_HOME": str(fake_java(tmp_path / "java", said))})
    assert found.verdict == "wrong"
    assert found.mend.startswith("Install Java 17")
    assert re.search(seen, found.seen)


def test_missing_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "can't be run" in machine.java({"JAVA_HOME": str(tmp_path)}).seen
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.java({}).seen == "not found on the PATH, and JAVA_HOME is not set"
    assert machine.shell().verdict == "wrong"
    assert machine.command().verdict == "note"


def test_packages_of_other_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["polars>=99", "no-such-package>=1", 'ruff>=99; extra == "dev"']
    monkeypatch.setattr(machine, "requires", lambda _: needs)
    found = {finding.what: finding for finding in machine.packages()}
    assert found.keys() == {"polars", "no-such-package"}
    assert found["polars"].seen.endswith("Boxcars needs polars>=99")
    assert found["no-such-package"].seen == "not installed"
    assert all("-m pip install --upgrade boxcars==" in finding.mend for finding in found.values())


def test_a_folder_that_is_not_writable(tmp_path: Path) -> None:
    found = machine.disk("disk", tmp_path / "no")
    assert (found.verdict, "is not writable: No such file" in found.seen) == ("wrong", True)


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "_LEAST_DISK", 2**62)
    assert machine.disk("disk", tmp_path).mend.startswith("Free some space")


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert machine.free_port(port).seen == f"{port} can't be opened: Address already in use"
    assert machine.free_port(port).verdict == "ok"
    assert machine.free_port(99999).verdict == "wrong"


def test_variables_that_change_what_runs() -> None:
    (found,) = machine.environment({"SPARK_HOME": "/opt/spark", "HOME": "/"})
    assert (found.verdict, found.seen) == ("note", "SPARK_HOME=/opt/spark")
