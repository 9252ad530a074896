"""A network file runs no code unless it is allowed to."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import boxcars as bx
from boxcars.cli import app
from boxcars.model.problem import BoxcarsError, NetworkError

BOXES = {
    "apply": "{type: apply, in: calls, function: trap:same}",
    "custom": "{type: custom, in: calls, class: trap:Same}",
    "superbox": "{type: hidden, in: calls, what: trap:Same}",
}
TRAP = """
from pathlib import Path
import boxcars as bx

Path("sprung").touch()

def same(train):
    return train

class Same(bx.PerKey):
    def on_tuple(self, state, row):
        return [row]
"""
SUPERBOX = """
superboxes:
  hidden:
    params: {what: null}
    inputs: {feed: {ts: time, fields: {time: int}}}
    boxes:
      inner: {type: custom, in: feed, class: $what}
    outputs: {same: {from: inner}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("trap.py").write_text(TRAP)
    Path("calls.csv").write_text("time\n1\n")
    cases = "[{name: t, given: {calls: [{time: 1}]}, expect: {same: [{time: 1}]}}]"
    Path("net.tests.yaml").write_text(f"tests: {cases}\n")
    yield
    sys.modules.pop("trap", None)


@pytest.fixture(params=BOXES)
def network(request: pytest.FixtureRequest) -> str:
    text = f"""
name: trap
inputs:
  calls: {{ts: time, fields: {{time: int}}}}
{SUPERBOX if request.param == "superbox" else ""}
boxes:
  same: {BOXES[request.param]}
outputs:
  same: {{from: same}}
"""
    Path("net.yaml").write_text(text)
    return text


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


CHECKED = [("check",), ("plan",), ("draw",), ("preview", "--source", "calls=calls.csv"), ("test",)]
READ = [("convert", "other.xml"), ("describe",), ("diff", "net.yaml")]


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("command", [*CHECKED, ("run", "--source", "calls=calls.csv")])
def test_commands_refuse_code(command: tuple[str, ...]) -> None:
    result = call(command[0], "net.yaml", *command[1:])
    assert result.exit_code == 1
    said = result.output + str(result.exception)
    assert "net.yaml:" in said
    assert "this box runs Python code: allow that with --allow-code" in said
    assert not Path("sprung").exists()


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("command", CHECKED)
def test_commands_run_code_that_is_trusted(command: tuple[str, ...]) -> None:
    result = call(command[0], "net.yaml", *command[1:], "--allow-code")
    assert result.exit_code == 0, (result.output, result.exception)


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("command", READ)
def test_read_only_commands_need_no_permission(command: tuple[str, ...]) -> None:
    result = call(command[0], "net.yaml", *command[1:])
    assert result.exit_code == 0, (result.output, result.exception)
    assert not Path("sprung").exists()


def test_in_python(network: str) -> None:
    refused: list[Callable[[], bx.Network]] = [
        lambda: bx.load("net.yaml"),
        lambda: bx.loads(network),
    ]
    for read in refused:
        with pytest.raises(NetworkError, match="this box runs Python code"):
            read()
    assert not bx.check_file("net.yaml").ok
    assert not bx.check_text(network).ok
    assert not Path("sprung").exists()
    assert bx.check_file("net.yaml", code=True).ok
    assert bx.check_text(network, code=True).ok
    for net in (bx.load("net.yaml", code=True), bx.loads(network, code=True)):
        assert bx.preview(net, {"calls": "calls.csv"})["same"].num_rows == 1
    assert Path("sprung").exists()


def test_a_program_is_run_to_be_read() -> None:
    Path("net.py").write_text(
        "import boxcars as bx\n"
        'net = bx.Network("trap")\n'
        'calls = net.input("calls", ts="time", fields={"time": "int"})\n'
        'net.output("same", calls.apply("trap:same"))\n'
    )
    assert bx.check_file("net.py").ok
    assert bx.preview(bx.load("net.py"), {"calls": "calls.csv"})["same"].num_rows == 1
    assert Path("sprung").exists()


@pytest.mark.usefixtures("network")
def test_the_folder_does_not_trust_itself() -> None:
    Path("boxcars.toml").write_text("[check]\nallow-code = true\n")
    result = call("check", "net.yaml")
    assert isinstance(result.exception, BoxcarsError)
    assert "boxcars.toml, [check]: 'allow-code' can't be set in a file" in str(result.exception)
    assert not Path("sprung").exists()


@pytest.mark.usefixtures("network")
def test_the_environment_may_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOXCARS_CHECK_ALLOW_CODE", "1")
    assert call("check", "net.yaml").exit_code == 0
