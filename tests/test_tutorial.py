"""The cluster of the tutorial: its shell commands, on a free port."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl

PAGE = Path(__file__).parents[1] / "docs/tutorial/cloned-phones.md"


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_the_cluster(tmp_path: Path) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("## On Spark")
    code = "\n".join(re.findall(r"```python\n(.*?)```", before, re.S))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(PAGE.parents[2]),
    }
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=environment)
    (script,) = re.findall(r"<!-- cluster -->\n```sh\n(.*?)```", rest, re.S)
    script = script.replace("7077", str(free_port()))
    process = subprocess.Popen(
        ["bash", "-c", script], cwd=tmp_path, env=environment, start_new_session=True
    )
    try:
        process.wait(120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    found = pl.read_parquet(tmp_path / "cluster/*.parquet")
    assert found["phone"].n_unique() == 5
