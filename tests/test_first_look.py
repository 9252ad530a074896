"""The output of ``bin/demo``, without starting a second Spark."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import boxcars as bx

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The two modules of the example."""
    monkeypatch.syspath_prepend(EXAMPLES)
    yield __import__("cloned_phones"), __import__("first_look")
    for name in ("cloned_phones", "first_look"):
        del sys.modules[name]


@pytest.mark.usefixtures("spark")
def test_what_it_shows(look: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    phones, first_look = look
    calls, cloned = phones.generate_calls(20_000)
    calls.write_parquet(tmp_path / "calls.parquet")
    phones.EPOCHS, phones.TICK = 4, 0.05
    phones.run_on_spark(tmp_path, 2)
    lines = capsys.readouterr().out.splitlines()
    watch = first_look.Watch(20_000, tmp_path, 2)
    assert watch.headline().startswith("Spark is starting, with 2 instances")
    for line in lines:
        watch.update(line)
    assert json.loads(lines[-1])["state"] == "finished"
    assert watch.headline().startswith("epoch 4: 20,000 of 20,000 calls, ")
    expected = pl.DataFrame(bx.preview(phones.build(), {"calls": calls})["clones"])
    assert watch.alerts.equals(expected)

    paper = io.StringIO()
    console = Console(file=paper, width=80)
    console.print(watch.view())
    assert first_look.summarize(console, watch, watch, expected, cloned) == 0
    shown = paper.getvalue()
    for text in ("pairs", "km/h", "cloned phones found", "the same, tuple for tuple"):
        assert text in shown
    assert first_look.summarize(console, watch, watch, expected[1:], cloned) == 1
    assert "NOT" in paper.getvalue()
