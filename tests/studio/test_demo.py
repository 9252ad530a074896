"""From ``bin/demo studio`` to results, as a new user without any reading."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import pytest
from playwright.sync_api import expect

from tests.patience import until
from tests.postgres import free_port
from tests.studio.page.browser import chromium
from tests.studio.runs.test_process import see_results
from tests.studio.runs.test_runs import processes

BIN = Path(__file__).parents[2] / "bin"


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """``bin/demo studio`` in its own process, ended by SIGINT; yields its address."""
    command = [str(BIN / "demo"), "studio", "--no-open", "--port", str(free_port()), str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("the studio is at http://127.0.0.1:"), said
            yield said.split()[-1]
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.usefixtures("page")
def test_from_the_demo_to_a_drawn_network_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command and one click. One-time installations are not timed."""
    subprocess.run(["bash", "-c", '. "$0"', str(BIN / "env")], check=True)
    began = perf_counter()
    with demo(tmp_path) as address:
        up = perf_counter() - began
        with chromium("") as person:
            person.page.goto(address)
            see_results(person)
            expect(person.see("node-pairs")).to_be_visible()
            took = perf_counter() - began
            assert person.complaints == []
    with capsys.disabled():
        print(f"\nbin/demo studio: the page after {up:.0f} s, results after {took:.0f} s")
    until(lambda: str(tmp_path) not in processes())
