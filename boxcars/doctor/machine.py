"""Checks of this machine: Python, Java, packages, disks, ports, memory and the environment."""

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

from boxcars.doctor.finding import Finding, note, ok, wrong
from boxcars.engine.exec.java import NEEDED

OLDEST_PYTHON = (3, 11)
_GB = 2**30
_LEAST_DISK, _LEAST_MEMORY = 1 * _GB, 2 * _GB
"""Bytes: Spark's own files and a small checkpoint; one driver and two workers."""
_LEAST_FILES = 1024
"""Open files per process."""
_INFLUENTIAL = (
    "PYSPARK_PYTHON",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "PYSPARK_SUBMIT_ARGS",
    "PYTHONPATH",
)
"""Variables that change which Spark or which Python runs."""
_INSTALL_JAVA = (
    "Install Java 17 (`apt-get install openjdk-17-jre-headless`, `dnf install "
    "java-17-openjdk-headless`, `brew install openjdk@17`), or set JAVA_HOME to its location."
)


def look_at_machine(folder: Path, port: int | None) -> Iterator[Finding]:
    """All checks that start no process but Java."""
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
    """The running interpreter, which is also the driver's."""
    seen = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return wrong("Python", seen, "Boxcars needs Python 3.11 or newer.")
    return ok("Python", seen)


def command() -> Finding:
    """Whether a shell finds ``boxcars``, and the one of this interpreter."""
    own = Path(sys.executable).parent / "boxcars"
    found = shutil.which("boxcars")
    if found is None:
        return note("command", "boxcars is not on the PATH", f"Run it as {own}.")
    if own.exists() and not Path(found).samefile(own):
        mend = f"The command of this Python is {own}."
        return note("command", f"boxcars on the PATH is {found}, of another Python", mend)
    return ok("command", found)


def java(environment: Mapping[str, str]) -> Finding:
    """The Java that Spark would start: from JAVA_HOME, or the first on the PATH."""
    home = environment.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return wrong("Java", "not found on the PATH, and JAVA_HOME is not set", _INSTALL_JAVA)
    try:
        said = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return wrong("Java", f"{program} can't be run: {error}", _INSTALL_JAVA)
    found = re.search(r'version "(\d+)([^"]*)"', said)
    if found is None:
        return wrong("Java", f"{program} does not report its version", _INSTALL_JAVA)
    seen = f"{found[1]}{found[2]} at {program}"
    if int(found[1]) < NEEDED:
        return wrong("Java", f"{seen} is too old", _INSTALL_JAVA)
    return ok("Java", seen)


def shell() -> Finding:
    """Whether there is bash, which Spark's start scripts need."""
    found = shutil.which("bash")
    if found is None:
        mend = "Spark's start scripts need bash: install it, or fix the PATH."
        return wrong("bash", "not found on the PATH", mend)
    return ok("bash", found)


def packages() -> Iterator[Finding]:
    """Whether the required packages are installed, in supported versions."""
    bad = False
    for need in requires("boxcars") or ():
        name = re.split(r"[^\w.-]", need)[0]
        if "extra ==" in need:
            continue
        try:
            found = version(name)
        except PackageNotFoundError:
            bad = True
            yield wrong(name, "not installed", _reinstall())
            continue
        if not _satisfies(found, need):
            bad = True
            yield wrong(name, f"{found}; Boxcars needs {need}", _reinstall())
    if not bad:
        spark, arrow, polars = version("pyspark"), version("pyarrow"), version("polars")
        seen = f"boxcars {version('boxcars')}, pyspark {spark}, pyarrow {arrow}, polars {polars}"
        yield ok("packages", seen)


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
    """Environment variables that change which Spark or Python runs."""
    for name in _INFLUENTIAL:
        if value := variables.get(name):
            mend = "This overrides the default; unset it if that is not intended."
            yield note("environment", f"{name}={value}", mend)


def disk(what: str, folder: Path) -> Finding:
    """Whether a folder is writable and has enough free space."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"boxcars")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        mend = "Use another folder for the checkpoint and sinks; set TMPDIR for temporary files."
        return wrong(what, f"{folder} is not writable: {error.strerror}", mend)
    seen = f"{free / _GB:.1f} GB free in {folder}"
    if free < _LEAST_DISK:
        return wrong(what, seen, "Free some space: run state and Spark shuffle files go there.")
    return ok(what, seen)


def memory() -> Finding:
    """The free memory, if the system reports it."""
    path = Path("/proc/meminfo")
    found = re.search(r"MemAvailable:\s+(\d+) kB", path.read_text()) if path.exists() else None
    if found is None:
        return ok("memory", "not reported by this system")
    free = int(found[1]) * 1024
    seen = f"{free / _GB:.1f} GB free"
    if free < _LEAST_MEMORY:
        return note("memory", seen, "A driver with Java and two workers needs about 2 GB.")
    return ok("memory", seen)


def files() -> Finding:
    """The limit of open files and connections per process."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    seen = f"at most {most:,} open files per process"
    if most < _LEAST_FILES:
        return note("files", seen, f"Raise the limit: `ulimit -n {_LEAST_FILES}`.")
    return ok("files", seen)


def loopback() -> Finding:
    """Whether 127.0.0.1 works, through which local Spark processes communicate."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), 5).close()
    except OSError as error:
        mend = "Local Spark processes communicate through it: bring the loopback interface up."
        return wrong("loopback", f"127.0.0.1 can't be used: {error}", mend)
    return ok("loopback", "127.0.0.1 works")


def free_port(port: int) -> Finding:
    """Whether a run or the studio could listen on a port."""
    if not 0 < port < 2**16:
        return wrong("port", f"{port} is not a port number", "Ports range from 1 to 65535.")
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        mend = "Choose another port (--port 0 picks a free one), or stop the process that uses it."
        return wrong("port", f"{port} can't be opened: {reason}", mend)
    return ok("port", f"{port} is free")
