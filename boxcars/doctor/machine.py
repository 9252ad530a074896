"""The machine at hand: Python, Java, packages, disks, ports, memory and the environment."""

from __future__ import annotations

import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from boxcars.doctor.finding import Finding, well, worth_knowing, wrong
from boxcars.engine.exec.java import NEEDED

OLDEST_PYTHON = (3, 11)
_GB = 2**30
_LEAST_DISK, _LEAST_MEMORY = 1 * _GB, 2 * _GB
"""Bytes: Spark's own files and a small checkpoint; one driver and two workers."""
_LEAST_FILES = 1024
"""Open files of a process."""
_TELLING = ("PYSPARK_PYTHON", "SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYTHONPATH")
"""Variables that change which Spark or which Python runs."""
_INSTALL_JAVA = (
    "Install Java 17 (`apt-get install openjdk-17-jre-headless`, `dnf install "
    "java-17-openjdk-headless`, `brew install openjdk@17`), or set JAVA_HOME to where it is."
)


def look_at_machine(folder: Path, port: int | None) -> Iterator[Finding]:
    """Everything that can be told without starting anything but Java."""
    yield python()
    yield command()
    yield java(os.environ)
    yield shell()
    yield from packages()
    yield from environment(os.environ)
    yield disk("disk", folder)
    yield disk("temporary", Path(tempfile.gettempdir()))
    yield memory()
    yield files()
    yield loopback()
    if port is not None:
        yield free_port(port)


def python() -> Finding:
    """The interpreter that runs this, which is that of the driver."""
    seen = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return wrong("Python", seen, "Boxcars needs Python 3.11 or newer.")
    return well("Python", seen)


def command() -> Finding:
    """Whether a shell finds the command."""
    own = Path(sys.executable).parent / "boxcars"
    found = shutil.which("boxcars")
    if found is None:
        return worth_knowing("command", "boxcars is not on the PATH", f"Type {own}.")
    if own.exists() and not Path(found).samefile(own):
        mend = f"{own} is the one that this Python has: mind which one you type."
        return worth_knowing("command", f"boxcars is {found}, of another Python", mend)
    return well("command", found)


def java(environment: Mapping[str, str]) -> Finding:
    """The Java that Spark would start: that of JAVA_HOME, or the first on the PATH."""
    home = environment.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return wrong("Java", "there is none on the PATH, and JAVA_HOME is not set", _INSTALL_JAVA)
    try:
        said = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return wrong("Java", f"{program} can't be run: {error}", _INSTALL_JAVA)
    found = re.search(r'version "(\d+)([^"]*)"', said)
    if found is None:
        return wrong("Java", f"{program} does not tell its version", _INSTALL_JAVA)
    seen = f"{found[1]}{found[2]} at {program}"
    if int(found[1]) < NEEDED:
        return wrong("Java", f"{seen}, which is too old", _INSTALL_JAVA)
    return well("Java", seen)


def shell() -> Finding:
    """Spark is started by scripts of bash."""
    found = shutil.which("bash")
    if found is None:
        mend = "Spark is started by it: install it, or mend the PATH."
        return wrong("bash", "there is none on the PATH", mend)
    return well("bash", found)


def packages() -> Iterator[Finding]:
    """The packages that Boxcars needs, in the versions that it was made for."""
    bad = False
    for need in requires("boxcars") or ():
        name = re.split(r"[^\w.-]", need)[0]
        if "extra ==" in need:
            continue
        try:
            found = version(name)
        except PackageNotFoundError:
            bad = True
            yield wrong(name, "it is not installed", _reinstall())
            continue
        if not _satisfies(found, need):
            bad = True
            yield wrong(name, f"{found}; Boxcars needs {need}", _reinstall())
    if not bad:
        spark, arrow, polars = version("pyspark"), version("pyarrow"), version("polars")
        seen = f"boxcars {version('boxcars')}, pyspark {spark}, pyarrow {arrow}, polars {polars}"
        yield well("packages", seen)


def _reinstall() -> str:
    return f"Run `{sys.executable} -m pip install --upgrade boxcars=={version('boxcars')}`."


def _satisfies(found: str, need: str) -> bool:
    """Whether a version is within the bounds of a requirement.

    >>> _satisfies("26.1.0", "pyarrow<27,>=26"), _satisfies("27.0", "pyarrow<27,>=26")
    (True, False)
    """
    have = _numbers(found)
    for sign, bound in re.findall(r"(>=|<|==)\s*([\d.]+)", need.partition(";")[0]):
        wanted = _numbers(bound)
        fits = {">=": have >= wanted, "<": have < wanted, "==": have[: len(wanted)] == wanted}
        if not fits[sign]:
            return False
    return True


def _numbers(version_: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version_)[:3])


def environment(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that change what runs."""
    for name in _TELLING:
        if value := variables.get(name):
            mend = "That was your choice; unset it if it was not."
            yield worth_knowing("environment", f"{name}={value}", mend)


def disk(what: str, folder: Path) -> Finding:
    """Whether a folder can be written to, and how much room it has."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"boxcars")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        mend = "Give a checkpoint and sinks another folder, or set TMPDIR for temporary files."
        return wrong(what, f"{folder} can't be written to: {error.strerror}", mend)
    seen = f"{free / _GB:.1f} GB free in {folder}"
    if free < _LEAST_DISK:
        return wrong(what, seen, "Make room: a run keeps its state and Spark its shuffles there.")
    return well(what, seen)


def memory() -> Finding:
    """The memory that is free, where the system tells."""
    path = Path("/proc/meminfo")
    found = re.search(r"MemAvailable:\s+(\d+) kB", path.read_text()) if path.exists() else None
    if found is None:
        return well("memory", "this system does not tell")
    free = int(found[1]) * 1024
    seen = f"{free / _GB:.1f} GB free"
    if free < _LEAST_MEMORY:
        return worth_knowing("memory", seen, "A driver with Java and two workers takes about 2 GB.")
    return well("memory", seen)


def files() -> Finding:
    """How many files and connections a process may have open."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    seen = f"a process may open {most:,}"
    if most < _LEAST_FILES:
        return worth_knowing("files", seen, f"Raise it: `ulimit -n {_LEAST_FILES}`.")
    return well("files", seen)


def loopback() -> Finding:
    """Spark's processes talk to each other at 127.0.0.1."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), 5).close()
    except OSError as error:
        mend = "Spark needs it on one machine: bring the loopback interface up."
        return wrong("loopback", f"127.0.0.1 can't be used: {error}", mend)
    return well("loopback", "127.0.0.1 works")


def free_port(port: int) -> Finding:
    """Whether a run or the studio could open a port."""
    if not 0 < port < 2**16:
        return wrong("port", f"{port} is no port", "Ports go from 1 to 65535.")
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        mend = "Choose another one (--port 0 takes a free one), or end what uses it."
        return wrong("port", f"{port} can't be opened: {reason}", mend)
    return well("port", f"{port} is free")
