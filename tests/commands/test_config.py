"""Options from a file, the environment and the command line; later ones win."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from boxcars.cli import app
from boxcars.model.problem import BoxcarsError

NETWORK = """
name: n
inputs:
  rows: {ts: t, fields: {t: int}}
outputs:
  out: {from: rows}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("n.yaml").write_text(NETWORK)


def plan(*options: str) -> str:
    done = CliRunner().invoke(app, ["plan", "n.yaml", *options])
    if done.exception is not None and isinstance(done.exception, BoxcarsError):
        raise done.exception
    return done.output


def test_the_file_the_environment_and_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("boxcars.toml").write_text('[plan]\nformat = "mermaid"\n')
    assert plan().startswith("flowchart")
    monkeypatch.setenv("BOXCARS_PLAN_FORMAT", "svg")
    assert plan().startswith("<svg")
    assert plan("--format", "mermaid").startswith("flowchart")


def test_another_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("other.toml").write_text('[plan]\nformat = "mermaid"\n')
    monkeypatch.setenv("BOXCARS_CONFIG", "other.toml")
    assert plan().startswith("flowchart")
    monkeypatch.setenv("BOXCARS_CONFIG", "none.toml")
    with pytest.raises(BoxcarsError, match=r"none\.toml: there is no such file"):
        plan()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[plan\n", r"boxcars\.toml: can't be read"),
        ("[plna]\n", r"there is no command 'plna'\. Did you mean 'plan'\?"),
        ("plan = 3\n", r"expected a table \[plan\], got 3"),
        (
            '[plan]\nfromat = "svg"\n',
            r"\[plan\]: there is no option 'fromat'\. Did you mean 'format'",
        ),
    ],
)
def test_mistakes(text: str, words: str) -> None:
    Path("boxcars.toml").write_text(text)
    with pytest.raises(BoxcarsError, match=words):
        plan()
