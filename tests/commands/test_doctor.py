"""``boxcars doctor`` as a process."""

import json
from pathlib import Path

import pytest

from tests.test_cli import run


def test_without_spark() -> None:
    done = run("doctor", "--no-spark", "--json")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert {"what", "verdict", "seen", "mend"} == found[0].keys()


def test_a_broken_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = run("doctor")
    assert done.returncode == 1
    assert "wrong  Java         not found on the PATH" in done.stdout
    assert "wrong: fix these first." in done.stderr
