"""The configuration: options from ``boxcars.toml``, the environment and the command line.

The command line wins over the environment (``BOXCARS_RUN_INSTANCES=4``), and that over the file,
which has a table for each command::

    [run]
    instances = 4
    source = ["calls=kafka://localhost/calls"]

A file that is found in the current folder may have come with a network, as a part of what somebody
else has packed. So it can only say what stays in the folder; one that the user has named, by its
whole path in ``BOXCARS_CONFIG``, can say all but that code may run.
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
"""The variable of the environment that names another file."""

_TYPED = ("allow-code",)
"""What a folder may not say of itself."""
_REACHING = ("host", "master")
"""Options that open a port to others, or send all work elsewhere."""
_STAYING = ("enqueue", "dequeue", "sqlite")
"""The schemes of addresses that lead nowhere else, but for the files that they name."""
_COMPUTED = re.compile(r"\w+=rate://")
"""A source that reads nothing: it is computed."""

Options = Mapping[str, Any]
"""The options of a command, by what they are called on the command line, without dashes."""


def read_config(commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the file and the environment say about the options of commands, by their parameters."""
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
            raise Wrong(f"{path}: there is no such file; {WHERE} names it.")
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
    """Refuse options of a file that the user has not named if they reach out of its folder."""
    for key, value in table.items():
        texts = [str(one) for one in value] if isinstance(value, list) else [str(value)]
        if (key in _REACHING and texts != ["127.0.0.1"]) or not all(
            _stays(text, key) for text in texts
        ):
            raise Wrong(
                f"{path}, [{name}]: '{key}' reaches out of this folder, and the file may have come "
                f"with a network: say --{key}, or {WHERE}={path.resolve()} if the file is yours."
            )


def _stays(text: str, key: str) -> bool:
    """Whether a value names nothing but what is in this folder: no secret, no address, no path.

    >>> [_stays(text, "source") for text in ("4", "calls=data/calls.csv", "calls=enqueue://")]
    [True, True, True]
    >>> [_stays(text, "sink") for text in ("a=/x", "a=../x", "a=http://evil.example", "a=${KEY}")]
    [False, False, False, False]
    """
    if "${" in text or "\0" in text:
        return False
    if key == "source" and _COMPUTED.match(text):
        return True
    name, _, place = text.partition("=")
    places = {place or text, text} if "/" in name else {place or text}
    return all(map(_is_here, places))


def _is_here(where: str) -> bool:
    if "://" in where and where.partition("://")[0] not in _STAYING:
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
        if key in _TYPED:
            raise Wrong(
                f"{path}, [{name}]: '{key}' can't stand in a file that may come with a network; "
                f"say --{key}, or BOXCARS_{name.upper()}_{key.upper().replace('-', '_')}=1."
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
