"""Configuration: options from ``boxcars.toml``, the environment and the command line.

The command line overrides the environment (``BOXCARS_RUN_INSTANCES=4``), which overrides the file.
The file has a table for each command::

    [run]
    instances = 4
    source = ["calls=kafka://localhost/calls"]

A file found in the current folder may have been shipped with a network by an untrusted author, so
its options must not reach outside the folder. A file that the user names by its absolute path in
``BOXCARS_CONFIG`` may set everything except permission to run code.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boxcars.connectors.systems.url import files_in
from boxcars.connectors.within import leads_out
from boxcars.model.problem import Wrong, nearest

FILE = "boxcars.toml"
WHERE = "BOXCARS_CONFIG"
"""Environment variable with the path of another configuration file."""

_NEVER_IN_FILE = ("allow-code",)
"""Options that a configuration file can't set."""
_REMOTE = ("host", "master")
"""Options that open a port to other machines, or send the work there."""
_LOCAL_SCHEMES = ("enqueue", "dequeue", "sqlite")
"""URL schemes that reach no other machine, and no files but those in the URL."""
_GENERATED = re.compile(r"\w+=rate://")
"""A source that reads nothing: its rows are generated."""

Options = Mapping[str, Any]
"""The options of a command by their names on the command line, without dashes."""


def read_config(commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Option values from the file and the environment, by command and parameter name."""
    tables = _read_file(commands)
    found: dict[str, dict[str, Any]] = {}
    for name, command in commands.items():
        known = _options(command)
        given = {str(known[key].name): value for key, value in tables.get(name, {}).items()}
        given |= _from_environment(name, known)
        if given:
            found[name] = given
    return found


def _read_file(commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    path = Path(os.environ.get(WHERE, FILE))
    if not path.exists():
        if WHERE in os.environ:
            raise Wrong(f"{path}: there is no such file; it is named by {WHERE}.")
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Wrong(f"{path}: can't be read: {error}.") from None
    tables = {name: _checked(path, name, table, commands) for name, table in found.items()}
    if not Path(os.environ.get(WHERE, FILE)).is_absolute():
        for name, table in tables.items():
            _check_reach(path, name, table)
    return tables


def _check_reach(path: Path, name: str, table: Mapping[str, Any]) -> None:
    """Reject options that reach outside the folder, in a file that the user has not named."""
    for key, value in table.items():
        texts = [str(one) for one in value] if isinstance(value, list) else [str(value)]
        if (key in _REMOTE and texts != ["127.0.0.1"]) or not all(
            _stays(text, key) for text in texts
        ):
            raise Wrong(
                f"{path}, [{name}]: '{key}' reaches outside this folder, and the file may have "
                f"been shipped with a network: use --{key}, or set {WHERE}={path.resolve()} if "
                "you trust the file."
            )


def _stays(text: str, key: str) -> bool:
    """Whether a value stays inside this folder: no secret, no remote URL, no path outside.

    >>> [_stays(text, "source") for text in ("4", "calls=data/calls.csv", "calls=enqueue://")]
    [True, True, True]
    >>> [_stays(text, "sink") for text in ("a=/x", "a=../x", "a=http://evil.example", "a=${KEY}")]
    [False, False, False, False]
    """
    if "${" in text or "\0" in text:
        return False
    if key == "source" and _GENERATED.match(text):
        return True
    name, _, location = text.partition("=")
    locations = {location or text, text} if "/" in name else {location or text}
    return all(map(_is_here, locations))


def _is_here(where: str) -> bool:
    if "://" in where and where.partition("://")[0] not in _LOCAL_SCHEMES:
        return False
    here = Path.cwd()
    return not any(leads_out(file, here) for file in files_in(where))


def _checked(path: Path, name: str, table: Any, commands: Mapping[str, Any]) -> dict[str, Any]:
    if name not in commands:
        raise Wrong(f"{path}: there is no command '{name}'.{nearest(name, commands)}")
    if not isinstance(table, Mapping):
        raise Wrong(f"{path}: expected a table [{name}], got {table!r}.")
    known = _options(commands[name])
    found = {key.replace("_", "-"): value for key, value in table.items()}
    for key in found:
        if key not in known:
            raise Wrong(f"{path}, [{name}]: there is no option '{key}'.{nearest(key, known)}")
        if key in _NEVER_IN_FILE:
            raise Wrong(
                f"{path}, [{name}]: '{key}' can't be set in a file, which may be shipped with a "
                f"network: use --{key}, or set "
                f"BOXCARS_{name.upper()}_{key.upper().replace('-', '_')}=1."
            )
    return found


def _from_environment(command: str, known: Options) -> dict[str, Any]:
    found = {}
    for name, option in known.items():
        variable = f"BOXCARS_{command}_{name}".upper().replace("-", "_")
        if variable in os.environ:
            value = os.environ[variable]
            found[str(option.name)] = value.split() if option.multiple else value
    return found


def _options(command: Any) -> dict[str, Any]:
    """The options of a command by their long names."""
    found = {}
    for option in command.params:
        long = [name for name in option.opts if name.startswith("--")]
        if long:
            found[long[0].lstrip("-")] = option
    return found
