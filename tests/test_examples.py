"""The examples run from top to bottom."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.usefixtures("spark")
def test_the_fraud_desk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fraud_desk.py", "20000"])
    runpy.run_path(str(EXAMPLES / "fraud_desk.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "finished" in out
    assert "clones: 1 phones" in out
    assert "machines: 0 phones" in out
