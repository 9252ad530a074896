"""Reads YAML and JSON as plain data, with the line of every part, and writes YAML.

Plain scalars follow the rules of YAML 1.2: only ``true`` and ``false`` are booleans, so that a
parameter called ``on`` and the country code ``NO`` remain text.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from boxcars.model.problem import Location, NetworkError, Path, Problem

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PAIR = re.compile(r"\\\\|\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""Characters that YAML may treat as a line break, and so as a space."""
_WORDS: dict[str, Any] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
    ".inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_MAX_DEPTH = 60
_MAX_PARTS = 500_000
_LONGEST_NUMBER = 1000
"""Limits against malicious files: levels, mappings and values with aliases expanded, digits."""


def parse(text: str, file: str) -> tuple[Any, dict[Path, Location]]:
    """Parse a YAML or JSON text; return its data, and the location of each part."""
    try:
        _check_depth(text, file)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise NetworkError([_syntax_problem(error, file)]) from None
    reader = _Reader(file)
    reader.source[()] = Location(file, 1)
    data = {} if root is None else reader.value(root, ())
    return data, reader.source


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _check_depth(text: str, file: str) -> None:
    """Refuse a text that is nested so deeply that the C parser would crash."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            where = Location(file, event.start_mark.line + 1)
            raise NetworkError([Problem("this is nested too deeply.", (), where)])


def _syntax_problem(error: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    where = Location(file, mark.line + 1) if mark else None
    return Problem(f"invalid YAML: {what}.", (), where)


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.source: dict[Path, Location] = {}

    def value(self, node: yaml.Node, path: Path) -> Any:
        """The value of a node; records its line."""
        self.source.setdefault(path, self._location(node))
        if len(path) > _MAX_DEPTH:  # an alias that contains itself
            raise NetworkError([Problem("this is nested too deeply.", (), self._location(node))])
        if len(self.source) > _MAX_PARTS:
            raise NetworkError(
                [
                    Problem(
                        "this is too large when its aliases are expanded.", (), self._location(node)
                    )
                ]
            )
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, str(i))) for i, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        quoted = node.style in ("'", '"', "|", ">")
        return str(node.value) if quoted else scalar(node.value)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise NetworkError([Problem("a name must be text.", path, self._location(key))])
            name = str(key.value)
            if name in found:
                first = self.source[(*path, name)].line
                message = f"'{name}' is a duplicate: it is already defined in line {first}."
                raise NetworkError([Problem(message, path, self._location(key))])
            self.source[(*path, name)] = self._location(key)
            found[name] = self.value(value, (*path, name))
        return found

    def _location(self, node: yaml.Node) -> Location:
        return Location(self.file, node.start_mark.line + 1)


def scalar(text: str) -> Any:
    """The value of an unquoted word.

    >>> scalar("5"), scalar("0.5"), scalar("true"), scalar("on"), scalar("null")
    (5, 0.5, True, 'on', None)
    """
    if text.lower() in _WORDS and text in (text.lower(), text.title(), text.upper()):
        return _WORDS[text.lower()]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def join_surrogates(json: str) -> str:
    r"""Replace JSON's surrogate pairs, which YAML does not support, by single characters.

    >>> join_surrogates(r'"\ud83d\ude00"')
    '"\\U0001f600"'
    """

    def join(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        high, low = int(match[1], 16), int(match[2], 16)
        return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08x}"

    return _PAIR.sub(join, json)


class _Dumper(yaml.SafeDumper):
    """Writes block style, which gives readable diffs."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists too."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Never write aliases."""
        return True


def _represent_str(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if isinstance(scalar(text), str) else "'"
    style = '"' if _BREAKS.search(text) else style
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_str)


def dump(plain: dict[str, Any]) -> str:
    """Write YAML, with one block for each entity and an empty line between sections."""
    parts = [
        yaml.dump({key: value}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
        for key, value in plain.items()
    ]
    return "\n".join(parts)
