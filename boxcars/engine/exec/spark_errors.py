"""Errors of Spark as one sentence each: what happened, and what to do about it."""

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
    r"""Why a job failed, in one sentence; ``python`` is the interpreter that workers were to run.

    >>> explain(ValueError("A worker failed:\n  File x\nKeyError: 'k'\n  at org.Spark"), "python3")
    "A worker failed: KeyError: 'k'"
    >>> explain(ConnectionRefusedError(111, "Connection refused"), "python3")[:47]
    "Spark's Java process has ended: it was killed, "
    """
    text = str(error)
    if _is_java_gone(error):
        return (
            "Spark's Java process has ended: it was killed, or it ran out of memory. "
            "A run with a --checkpoint goes on from its last epoch."
        )
    if found := _OURS.search(text):
        return found[1]
    if found := _MISSING.search(text):
        return _missing_module(found[1], python)
    if found := _NO_PROGRAM.search(text):
        return (
            f"the executors have no Python at {found[1]}: install it there with Boxcars, or set "
            "PYSPARK_PYTHON to the one that they have."
        )
    if found := _VERSIONS.search(text):
        return f"{found[1]} Set PYSPARK_PYTHON to a Python of the driver's version."
    if "Python worker exited unexpectedly" in text:
        return (
            "a Python worker was killed, as a system does that is out of memory: give it more, or "
            "use smaller epochs (--epoch-rows)."
        )
    return _first_words(text) or type(error).__name__


def _is_java_gone(error: BaseException) -> bool:
    """Whether Java did not answer; what it throws itself is a Py4JJavaError."""
    silent = isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError)
    return silent or isinstance(error, ConnectionError)


def _missing_module(name: str, python: str) -> str:
    """What to install where: Boxcars itself, or a package that the user's own code imports."""
    package = name.partition(".")[0]
    if package == "boxcars":
        package = f"boxcars=={version('boxcars')}"
    return (
        f"the executors have no module '{name}': run `{python} -m pip install {package}` on each "
        "of them, or set PYSPARK_PYTHON to a Python that has it."
    )


def _first_words(text: str) -> str:
    """The first line; the Python error or the cause in Java that it announces, as well."""
    lines = text.splitlines() or [""]
    first = lines[0].rstrip()
    if first.endswith(":"):
        causes = [line for line in lines[1:] if _PYTHON_ERROR.match(line)]
        return " ".join([first, *causes[-1:]])
    causes = [found[2] for line in lines if (found := _CAUSE.match(line.strip()))]
    if first.startswith("An error occurred while calling") and (causes or len(lines) > 1):
        return causes[-1] if causes else lines[1].removeprefix(": ")
    return first
