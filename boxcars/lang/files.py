"""Network files: reads, checks and writes them; the suffix of a path decides the language."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from boxcars.connectors.files import replacing, writing
from boxcars.lang import borealis, borealis_write, ossim, python, text
from boxcars.lang.modules import importer_for
from boxcars.lang.trust import judged
from boxcars.model.check import Checked, check
from boxcars.model.deserialize import read_network
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, NetworkError, Wrong, nearest
from boxcars.model.reader import Importer, Reading
from boxcars.model.serialize import network_to_plain


@dataclass(frozen=True)
class Language:
    """A language of network files."""

    name: str
    read: Callable[[str, Path, Importer | None], Reading]
    """Reads a text, given its path, and an importer of the modules it names, if allowed."""
    write: Callable[[Network], str]


def _read_text(content: str, path: Path, importer: Importer | None) -> Reading:
    data, source = text.parse(content, str(path))
    return read_network(data, source, path.stem, importer)


def _read_json(content: str, path: Path, importer: Importer | None) -> Reading:
    return _read_text(text.join_surrogates(content), path, importer)


def _read_xml(content: str, path: Path, importer: Importer | None) -> Reading:
    """Read a Borealis query, or OSSIM directives, which are translated to a network."""
    if ossim.is_ossim(content):
        return ossim.read(content, path)
    return borealis.read(content, path, importer)


def _read_program(content: str, path: Path, _importer: Importer | None) -> Reading:
    """Read a Python program, which imports its modules itself."""
    return python.read(content, path)


_YAML = Language("YAML", _read_text, lambda net: text.dump(network_to_plain(net)))
_JSON = Language(
    "JSON",
    _read_json,
    lambda net: json.dumps(network_to_plain(net), indent=2, ensure_ascii=False) + "\n",
)
LANGUAGES: dict[str, Language] = {
    ".yaml": _YAML,
    ".yml": _YAML,
    ".json": _JSON,
    ".xml": Language("XML", _read_xml, borealis_write.write),
    ".py": Language("Python", _read_program, python.write),
}


def language_of(path: Path) -> Language:
    """The language of a file, by its suffix."""
    if path.suffix in LANGUAGES:
        return LANGUAGES[path.suffix]
    raise Wrong(f"{path}: expected a network file that ends in {', '.join(LANGUAGES)}.")


def _named(language: str) -> Language:
    suffix = f".{language}"
    if suffix in LANGUAGES and suffix != ".py":
        return LANGUAGES[suffix]
    raise Wrong(f"there is no language '{language}'.{nearest(language, ['yaml', 'json', 'xml'])}")


def loads(content: str, language: str = "yaml", code: bool = False) -> Network:
    """Read a network from a text, like `load` from a file."""
    return _readable(judged(_read_named(content, language, code), code))


def _read_named(content: str, language: str, code: bool) -> Reading:
    importer = importer_for(Path()) if code else None
    return _named(language).read(content, Path(f"text.{language}"), importer)


def dumps(net: Network, language: str = "yaml") -> str:
    """Write a network as text.

    >>> net = Network("n")
    >>> _ = net.input("calls", ts="time", fields={"time": "int"})
    >>> loads(dumps(net, "xml"), "xml") == net
    True
    """
    return _named(language).write(net)


def check_text(content: str, language: str = "yaml", code: bool = False) -> Checked:
    """Check a network in a text; the result has all problems, of syntax and of meaning."""
    return _check(lambda: _read_named(content, language, code), code)


def read(path: str | Path, code: bool = False) -> Reading:
    """Read a network file as far as possible, with all its problems.

    The modules that it names are imported if ``code`` is true.
    """
    where = Path(path)
    language = language_of(where)
    try:
        content = where.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BoxcarsError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BoxcarsError(f"{path}: can't be read: {error}.") from None
    return language.read(content, where, importer_for(where.parent) if code else None)


def load(path: str | Path, code: bool = False) -> Network:
    """Read a network from a file; raise an error with all syntax problems.

    Boxes that name Python code, and stored Polars expressions, are refused unless ``code`` is true:
    pass it if you trust the file. A ``.py`` file is a program, which is run to read it.
    """
    reading = read(path, code)
    return _readable(judged(reading, code or _is_program(path)))


def load_unjudged(path: str | Path) -> Network:
    """Read a network to show or rewrite it: its code remains text and is not run."""
    return _readable(read(path))


def _is_program(path: str | Path) -> bool:
    return Path(path).suffix == ".py"


def _readable(reading: Reading) -> Network:
    if reading.problems:
        raise NetworkError(p.located(reading.network.source) for p in reading.problems)
    return reading.network


def check_file(path: str | Path, code: bool = False) -> Checked:
    """Check a network file; the result has all problems, of syntax and of meaning."""
    return _check(lambda: read(path, code), code or _is_program(path))


def _check(reader: Callable[[], Reading], code: bool) -> Checked:
    try:
        reading = reader()
    except NetworkError as error:
        return Checked(Network("unreadable"), {}, (), error.problems)
    reading = judged(reading, code)
    return check(reading.network, reading.broken, reading.problems)


def save(net: Network, path: str | Path) -> None:
    """Write a network to a file, atomically."""
    where = Path(path)
    content = language_of(where).write(net)
    with writing(path), replacing(where) as part:
        part.write_text(content, encoding="utf-8")
