"""The studio as a process: first use, TLS, and recovery after a kill."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.cluster import daemon, wait_for
from tests.connectors.systems.servers import certificate
from tests.patience import until
from tests.postgres import free_port
from tests.studio.page.browser import Person, chromium
from tests.studio.runs.test_runs import CSV, processes, state
from tests.studio.server import Served
from tests.studio.test_networks import CHEAP


@contextmanager
def studio(folder: Path, token: str, options: Sequence[str]) -> Iterator[str]:
    """``boxcars studio`` in its own process, killed at the end; yields its address."""
    command = [sys.executable, "-m", "boxcars.cli", "studio", "--no-open", *options, str(folder)]
    environment = {**os.environ, "BOXCARS_TOKEN": token}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("the studio is at "), said
            yield said.split()[-1]
        finally:
            process.kill()


def count_clicks(page: Page) -> None:
    """Count clicks; the counter also marks that the page was not reloaded."""
    page.evaluate("() => { window.clicks = 0; }")
    page.evaluate("() => addEventListener('click', () => { window.clicks += 1; }, true)")


@pytest.mark.usefixtures("page")
def test_a_newcomer_and_a_studio_that_is_killed(tmp_path: Path) -> None:
    """One click to results. The page outlives the studio, and reconnects to the next one."""
    cert, key = certificate(tmp_path)
    folder = tmp_path / "networks"
    folder.mkdir()
    options = ["--port", str(free_port()), "--cert", str(cert), "--key", str(key)]
    with chromium("", trusting=True) as person:
        with studio(folder, "first", options) as address:
            assert address.startswith("https://127.0.0.1:")
            person.page.goto(address)
            count_clicks(person.page)
            see_results(person)
            assert person.page.evaluate("() => window.clicks") == 1
            see_charts_of_a_box(person)
            assert person.complaints == []
        expect(person.see("lost")).to_contain_text("does not respond")
        until(lambda: str(folder) not in processes())  # the run has heard of it as well
        with studio(folder, "second", options) as address:
            see_it_again(person, address)
            assert person.page.evaluate("() => window.clicks") > 1


def see_results(person: Person) -> None:
    """The first screen offers one action."""
    see = person.see
    expect(see("run-example")).to_be_focused()
    person.click("run-example")
    expect(see("run-state")).to_have_text("running", timeout=90_000)
    expect(see("chart-in")).not_to_have_attribute("data-last", "0", timeout=60_000)
    expect(see("result-total")).not_to_have_attribute("data-total", "0", timeout=90_000)
    expect(see("results-table").locator("tbody tr").first).to_be_visible()


def see_charts_of_a_box(person: Person) -> None:
    """All charts of a box: its own, of its instances, and of the downstream results."""
    person.click("node-pairs")
    charts = person.see("charts")
    figures = ("in_rate", "out_rate", "cost", "latency", "cpu", "state_rows", "instances")
    for name in (*figures, "results"):
        chart = charts.get_by_test_id(f"chart-{name}")
        expect(chart).to_have_attribute("data-last", re.compile("[1-9]"))
    expect(charts.get_by_test_id("chart-results")).to_contain_text("clones")
    expect(charts.get_by_test_id("chart-queue")).to_have_attribute("data-last", "0")


def see_it_again(person: Person, address: str) -> None:
    """The next studio has a new token, which is in its address."""
    see = person.see
    expect(see("lost")).to_have_count(0)
    expect(see("run-state")).to_have_text("stopped")
    expect(see("run-sentence")).to_contain_text("the studio was closed while it ran")
    expect(see("results-table").locator("tbody tr").first).to_be_visible()
    (delete,) = person.page.get_by_role("button", name="Delete high-mobility").all()
    delete.click()
    person.click("ask-yes")
    expect(see("notice-bad")).to_contain_text("open the address that boxcars studio shows")
    person.page.evaluate("address => { location.href = address; }", address)
    delete.click()
    person.click("ask-yes")
    expect(see("watch")).to_contain_text("No runs.")


def test_a_run_that_fails_and_is_resumed(person: Person, served: Served) -> None:
    """A missing file is reported. Once it exists, the run can be resumed."""
    see = person.see
    served.call("PUT", "/api/networks/cheap.yaml", {"network": CHEAP})
    person.open()
    person.click("gallery-open", "file-cheap.yaml", "run")
    person.write("source-calls", "calls.csv")
    person.click("start")
    expect(see("run-state")).to_have_text("failed")
    expect(see("run-sentence")).to_contain_text("calls.csv: there is no such file")
    person.click("see-log")
    expect(see("log")).to_contain_text("there is no such file")
    person.click("start-another")
    expect(see("start-dialog")).to_be_visible()
    person.click("dialog-close", "go-on")
    expect(see("notice-bad")).to_contain_text("there is no such file")
    (served.folder / "calls.csv").write_text(CSV)
    person.click("go-on")
    expect(see("run-state")).to_have_text("finished", timeout=90_000)
    person.click("watch-results")
    expect(see("result-total")).to_have_attribute("data-total", "3")


def test_on_a_cluster_beside_this_machine(
    person: Person, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run on a Spark master and worker, shown next to a local run."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    see, deploy = person.see, "org.apache.spark.deploy"
    ports = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    master, worker = tmp_path / "master", tmp_path / "worker"
    with daemon(master, f"{deploy}.master.Master", *ports):
        address = wait_for(master, r"spark://127\.0\.0\.1:\d+")
        room = ["--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / "work")]
        with daemon(worker, f"{deploy}.worker.Worker", *ports, *room, address):
            person.open_template("high-mobility")
            person.click("run")
            see("start-dialog").get_by_text("Execution options").click()
            person.write("start-master", address)
            person.click("start")
            expect(see("start-dialog")).to_have_count(0)
            (theirs,) = (r["id"] for r in served.get("/api/runs") if address in r["command"])
            ours = served.post("/api/runs", {"network": CHEAP, "master": "local[1]"})["id"]
            expect(see("run-state")).to_have_text("running", timeout=90_000)
            expect(see("chart-in")).not_to_have_attribute("data-last", "0", timeout=60_000)
            state(served, ours, "running", "waiting")
            served.post(f"/api/runs/{ours}/inputs/calls", {"format": "csv", "text": CSV})
            person.click(f"beside-{theirs}", f"beside-{ours}")
            for run in (theirs, ours):
                chart = see(f"column-{run}").get_by_test_id("chart-in")
                expect(chart).to_have_attribute("data-last", re.compile("[1-9]"))
            assert "Asked to launch executor" in worker.read_text()
            for run in (theirs, ours):
                assert served.post(f"/api/runs/{run}/stop")["state"] == "stopped"
                expect(see(f"column-{run}")).to_contain_text("stopped")
