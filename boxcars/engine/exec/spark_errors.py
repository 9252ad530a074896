"""Explains Spark errors in one or two sentences: what happened, and what to do."""

from __future__ import annotations

import re
from importlib.metadata import version

from py4j.protocol import Py4JError, Py4JJavaError

_PYTHON_ERROR = re.compile(r"[\w.]+(Error|Exception|Exit|Interrupt)\b")
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_OURS = re.compile(r"^boxcars\.model\.problem\.\w+: (.*)$", re.MULTILINE)
_VERSIONS = re.compile(r"PYTHON_VERSION_MISMATCH\] (.*)")
_CAUSE = re.compile(r"Caused by: ([\w.$]+): (.*)")


def explain(error: BaseException, python: str) -> str:
    r"""Explain why a job failed; ``python`` is the interpreter that workers should run.

    >>> explain(ValueError("A worker failed:\n  File x\nKeyError: 'k'\n  at org.Spark"), "python3")
    "A worker failed: KeyError: 'k'"
    >>> explain(ConnectionRefusedError(111, "Connection refused"), "python3")[:47]
    "Spark's Java process has ended: it was killed, "
    """
    text = str(error)
    if _is_java_gone(error):
        return (
            "Spark's Java process has ended: it was killed, or it ran out of memory. "
            "A run with a --checkpoint resumes after its last committed epoch."
        )
    if found := _OURS.search(text):
        return found[1]
    if found := _MISSING.search(text):
        return _missing_module(found[1], python)
    if found := _NO_PROGRAM.search(text):
        return (
            f"the executors have no Python at {found[1]}: install it there with Boxcars, or set "
            "PYSPARK_PYTHON to an interpreter that they have."
        )
    if found := _VERSIONS.search(text):
        return f"{found[1]} Set PYSPARK_PYTHON to a Python of the driver's version."
    if "Python worker exited unexpectedly" in text:
        return (
            "a Python worker was killed, probably because the machine ran out of memory: provide "
            "more memory, or use smaller epochs (--epoch-rows)."
        )
    return _first_line(text) or type(error).__name__


def _is_java_gone(error: BaseException) -> bool:
    """Whether the Java process is lost; errors that it throws itself are Py4JJavaErrors."""
    silent = isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError)
    return silent or isinstance(error, ConnectionError)


def _missing_module(name: str, python: str) -> str:
    """Say what to install: Boxcars itself, or a package that the user's code imports."""
    package = name.partition(".")[0]
    if package == "boxcars":
        package = f"boxcars=={version('boxcars')}"
    return (
        f"the executors have no module '{name}': run `{python} -m pip install {package}` on each "
        "of them, or set PYSPARK_PYTHON to a Python that has it."
    )


def _first_line(text: str) -> str:
    """The first line, with the Python error or Java cause that follows it."""
    lines = text.splitlines() or [""]
    first = lines[0].rstrip()
    if first.endswith(":"):
        causes = [line for line in lines[1:] if _PYTHON_ERROR.match(line)]
        return " ".join([first, *causes[-1:]])
    causes = [found[2] for line in lines if (found := _CAUSE.match(line.strip()))]
    if first.startswith("An error occurred while calling") and (causes or len(lines) > 1):
        return causes[-1] if causes else lines[1].removeprefix(": ")
    return first
