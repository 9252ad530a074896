"""The configuration: options from ``boxcars.toml``, the environment and the command line.

The command line wins over the environment (``BOXCARS_RUN_INSTANCES=4``), and that over the file,
which has a table for each command::

    [run]
    instances = 4
    source = ["calls=kafka://localhost/calls"]
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boxcars.model.problem import Wrong, nearest

FILE = "boxcars.toml"
WHERE = "BOXCARS_CONFIG"
"""The variable of the environment that names another file."""

_TYPED = ("allow-code",)
"""What a folder may not say of itself."""

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
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Wrong(f"{path}: can't be read: {error}.") from None
    return {name: _checked(path, name, table, commands) for name, table in found.items()}


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
