"""The command line: most of it in this process, exit codes and errors in one of its own."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import boxcars as bx
from boxcars.cli import app
from boxcars.model.problem import BoxcarsError

COMMANDS = ["check", "convert", "draw", "diff", "describe", "preview", "boxes", "functions"]
COMMANDS += ["plan", "bench", "generate"]


def network() -> bx.Network:
    body = bx.Network("alarm")
    feed = body.input("feed", ts="time", fields={"time": "int", "who": "str"})
    body.output("high", feed.filter("time > $limit").named("cut"))
    net = bx.Network("calls")
    net.superbox(body, limit=None)
    calls = net.input("calls", ts="time", fields={"time": "int", "who": "str"})
    net.output("late", calls.use("alarm", limit=1).named("a").in_group("g"))
    net.output("all", calls)
    return net


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bx.save(network(), tmp_path / "net.yaml")
    Path("calls.csv").write_text("time,who\n1,ann\n2,[/red]:smile:\n3,\n")
    Path("bad.csv").write_text("time,who\n1,ann\nx,bob\n")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def good(*arguments: str) -> str:
    result = call(*arguments)
    assert result.exception is None, (result.output, result.exception)
    return result.stdout


def wrong(*arguments: str) -> str:
    """The words of the error, which :func:`main` prints."""
    result = call(*arguments)
    assert isinstance(result.exception, BoxcarsError), result.output
    return str(result.exception)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "boxcars.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str) -> None:
    assert "Usage:" in good(command, "--help")


def test_without_a_command_there_is_help() -> None:
    result = call()
    for command in COMMANDS[:-1]:
        assert f" {command} " in result.output
    assert " generate " not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["chek"],
        ["check"],
        ["check", "a", "b"],
        ["draw", "net.yaml", "--too", "x"],
        ["diff", "a"],
        ["preview", "net.yaml", "--trains", "many"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str]) -> None:
    assert call(*arguments).exit_code == 2


class TestCheck:
    def test_right(self) -> None:
        words = "calls is valid: inputs 1, boxes 1, outputs 2.\n"
        assert good("check", "net.yaml") == words
        schemas = good("check", "net.yaml", "--schemas")
        assert schemas.startswith(words)
        assert "  a/cut: time*: int, who: str\n" in schemas

    def test_wrong(self) -> None:
        text = Path("net.yaml").read_text().replace("time > $limit", "tme > $limit")
        Path("net.yaml").write_text(text.replace("ts: time", "ts: tiem", 1))
        result = call("check", "net.yaml")
        assert result.exit_code == 1
        assert result.stdout == ""
        assert "Did you mean 'time'?" in result.stderr
        assert result.stderr.endswith("problems.\n")

    def test_deploy(self) -> None:
        parts = '<publish endpoint="a:1" stream="calls"/><node endpoint="b:1" query="g"/>'
        parts += '<subscribe endpoint="c:1" stream="late"/>'
        Path("deploy.xml").write_text(f"<deploy>{parts}</deploy>")
        result = call("check", "net.yaml", "--deploy", "deploy.xml")
        assert result.exit_code == 1
        assert "deploy.xml:1: output 'all' has no <subscribe>." in result.stderr
        parts += '<subscribe endpoint="c:1" stream="all"/>'
        Path("deploy.xml").write_text(f"<deploy>{parts}</deploy>")
        good("check", "net.yaml", "--deploy", "deploy.xml")
        assert "can't be read" in wrong("check", "net.yaml", "--deploy", "missing.xml")


@pytest.mark.parametrize("suffix", ["json", "xml", "py", "yml"])
def test_convert(suffix: str) -> None:
    assert good("convert", "net.yaml", f"net.{suffix}") == ""
    good("convert", f"net.{suffix}", "back.yaml")
    assert Path("back.yaml").read_text() == Path("net.yaml").read_text()
    assert "expected a network file" in wrong("convert", "net.yaml", "net.doc")
    assert "can't be written" in wrong("convert", "net.yaml", f"missing/net.{suffix}")


class TestDraw:
    def test_to_the_terminal(self) -> None:
        assert "▣ a" in good("draw", "net.yaml")
        assert good("draw", "net.yaml", "--format", "mermaid").startswith("flowchart LR")
        assert good("draw", "net.yaml", "--format", "svg").startswith("<svg")
        assert "a/cut" in good("draw", "net.yaml", "--flat")

    @pytest.mark.parametrize(
        ("name", "start"), [("n.svg", "<svg"), ("n.mmd", "flowchart"), ("n.txt", "╔")]
    )
    def test_to_a_file(self, name: str, start: str) -> None:
        assert good("draw", "net.yaml", "--to", name) == ""
        assert Path(name).read_text(encoding="utf-8").lstrip()[:9].startswith(start)

    def test_with_positions(self) -> None:
        Path("net.layout.json").write_text('{"a": [777, 555]}')
        assert 'x="777" y="555"' in good("draw", "net.yaml", "--format", "svg")

    def test_mistakes(self) -> None:
        assert "expected a file name ending in .svg" in wrong("draw", "net.yaml", "--to", "n.png")
        good("draw", "net.yaml", "--to", "n.png", "--format", "svg")
        assert "Did you mean 'mermaid'" in wrong("draw", "net.yaml", "--format", "mermade")
        assert "can't be written" in wrong("draw", "net.yaml", "--to", "missing/n.svg")
        Path("net.layout.json").write_text("{")
        assert "fix or remove the file" in wrong("draw", "net.yaml")


def test_diff() -> None:
    assert good("diff", "net.yaml", "net.yaml") == ""
    text = Path("net.yaml").read_text()
    Path("new.yaml").write_text(text.replace("limit: 1", "limit: 2"))
    result = call("diff", "net.yaml", "new.yaml")
    assert result.exit_code == 1
    assert result.stdout == "~ box a, limit: 1 -> 2\n"


def test_describe() -> None:
    assert good("describe", "net.yaml").splitlines() == [
        "input calls",
        "superbox alarm",
        "box a",
        "output late",
        "output all",
    ]
    assert good("describe", "net.yaml", "a").startswith("box a\n  type: alarm\n")
    assert "Did you mean 'calls'" in wrong("describe", "net.yaml", "cals")


def test_lists() -> None:
    lines = good("boxes").splitlines()
    assert len(lines) == len(bx.box_types())
    assert any(line.startswith("filter ") and "▽ Route each tuple" in line for line in lines)
    assert any(line.startswith("upper(") for line in good("functions").splitlines())


class TestPreview:
    source = ("preview", "net.yaml", "--source", "calls=calls.csv")

    @pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "arrow"])
    def test_sinks(self, suffix: str) -> None:
        out = good(*self.source, "--sink", f"all=all.{suffix}", "--sink", f"late=late.{suffix}")
        assert out == ""
        again = good("preview", "net.yaml", "--source", f"calls=all.{suffix}")
        assert "all: 3 tuples" in again
        assert "late: 2 tuples" in again

    def test_a_folder(self) -> None:
        good(*self.source, "--sink", "all=parts/", "--sink", "late=-")
        assert pl.read_parquet("parts/part-0.parquet").height == 3

    def test_the_terminal_shows_data_as_it_is(self) -> None:
        out = good(*self.source)
        assert "[/red]:smile:" in out
        assert "None" in out

    def test_the_terminal_shows_the_first_ones(self) -> None:
        lines = "".join(f"{i},x\n" for i in range(1030))
        Path("calls.csv").write_text(f"time,who\n{lines}")
        out = good(*self.source)
        assert "all: 1,030 tuples" in out
        assert "... and 1,010 more; --sink all=FILE writes them all" in out

    def test_trains_do_not_matter(self) -> None:
        assert good(*self.source, "--trains", "3") == good(*self.source)
        assert "at least one train" in wrong(*self.source, "--trains", "0")

    def test_stats(self) -> None:
        result = call(*self.source, "--stats")
        head, *lines = [line.split() for line in result.stderr.splitlines()]
        assert head == ["box", "type", "in", "out", "selectivity", "ms"]
        assert ["a/cut", "filter", "3", "2", "0.67"] in [line[:5] for line in lines]

    def test_dead_letters(self) -> None:
        result = call("preview", "net.yaml", "--source", "calls=bad.csv")
        assert result.stderr == (
            "1 dead letter, first at 'calls': time: 'x' is not an int. "
            "Use --dead FILE to keep them.\n"
        )
        good("preview", "net.yaml", "--source", "calls=bad.csv", "--dead", "dead.jsonl")
        letter = json.loads(Path("dead.jsonl").read_text())
        assert (letter["source"], letter["reason"]) == ("calls", "time: 'x' is not an int")

    def test_late_tuples(self) -> None:
        Path("calls.csv").write_text("time,who\n5,a\n1,b\n")
        assert "1 tuple arrived too late and was dropped." in call(*self.source).stderr

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--sink", "al=x.csv"], "there is no output 'al'. Did you mean 'all'?"),
            (["--sink", "all"], "expected --sink NAME=FILE, got 'all'."),
            (["--sink", "all="], "expected --sink NAME=FILE, got 'all='."),
            (["--sink", "=x.csv"], "expected --sink NAME=FILE"),
            (["--sink", "all=a.csv", "--sink", "all=b.csv"], "--sink names 'all' twice."),
            (
                ["--sink", "late=l.csv", "--sink", "all=x.txt"],
                "x.txt: expected a file name ending in",
            ),
            (["--sink", "late=l.csv", "--dead", "x.txt"], "x.txt: expected a file name ending in"),
            (["--sink", "all=missing/x.csv"], "missing/x.csv: can't be written"),
            (["--source", "calls=x.csv"], "--source names 'calls' twice."),
            (["--source", "cals=x.csv"], "there is no input 'cals'. Did you mean 'calls'?"),
        ],
        ids=str,
    )
    def test_mistakes(self, arguments: list[str], words: str) -> None:
        assert words in wrong(*self.source, *arguments)
        assert not Path("l.csv").exists(), "nothing is written before everything is known"

    def test_stored_tables(self) -> None:
        net = network()
        net.table("known", fields={"who": "str", "since": "int"}, key="who")
        sql = "SELECT since FROM known WHERE who = input.who"
        _, new, _ = net.stream("calls").select(sql).named("look-up")
        net.output("new", new.insert("INSERT INTO known VALUES (who, time)").named("keep"))
        bx.save(net, "tables.yaml")
        Path("known.csv").write_text("who,since\nann,0\n")
        here = ["preview", "tables.yaml", "--source", "calls=calls.csv", "--sink", "new=new.csv"]
        Path("calls.csv").write_text("time,who\n1,ann\n2,bob\n3,bob\n")
        good(*here, "--table", "known=known.csv")
        assert Path("new.csv").read_text() == "time,who\n2,bob\n"
        good(*here, "--table", "known=sqlite:///known.db#people", "--trains", "2")
        assert Path("new.csv").read_text() == "time,who\n1,ann\n2,bob\n"
        good(*here, "--table", "known=sqlite:///known.db#people")
        assert Path("new.csv").read_text() == "time,who\n"
        for given, words in {
            "known": "expected --table NAME=URI, got 'known'.",
            "=postgresql://ann:hush@host/db": "expected --table NAME=URI, got '='.",
            "know=known.csv": "there is no table 'know'. Did you mean 'known'?",
            "known=mysql://ann:hush@host/db": "table 'known': expected a database such as",
        }.items():
            message = wrong(*here, "--table", given)
            assert words in message
            assert "hush" not in message

    def test_a_source_is_needed(self) -> None:
        assert "input 'calls' has no source" in wrong("preview", "net.yaml")
        assert "there is no such file" in wrong("preview", "net.yaml", "--source", "calls=no.csv")


class TestProcess:
    """What a shell sees."""

    def test_exit_codes(self) -> None:
        assert run("check", "net.yaml").returncode == 0
        assert run("diff", "net.yaml", "net.yaml").returncode == 0
        assert run("chek").returncode == 2
        assert run().returncode == 2

    def test_an_error_is_a_sentence(self) -> None:
        done = run("check", "[red]missing:smile:.yaml")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "[red]missing:smile:.yaml: there is no such file.\n"
        Path("net.py").write_text("1 / 0")
        done = run("check", "net.py")
        assert (done.returncode, done.stderr) == (
            1,
            "net.py:1: ZeroDivisionError: division by zero\n",
        )

    def test_a_pipe_gets_no_chatter_and_no_colours(self) -> None:
        done = run(*TestPreview.source, "--sink", "all=a.csv", "--sink", "late=b.csv")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        done = run(*TestPreview.source)
        assert "\x1b" not in done.stdout + done.stderr
        assert done.stderr == ""


def test_version() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert done.exit_code == 0
    assert done.output.startswith("boxcars 0.")
