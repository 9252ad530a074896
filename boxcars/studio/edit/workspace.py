"""The studio's folder: network files with their layouts and tests, data files, and runs.

A file name in a request never reads or writes a file outside of the folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from boxcars.connectors.files import data_files, writing
from boxcars.connectors.systems.url import files_in
from boxcars.connectors.within import is_within, leads_out
from boxcars.lang.layout import layout_path
from boxcars.model.problem import Wrong, nearest
from boxcars.studio.wire.errors import Missing
from boxcars.studio.wire.messages import DataFile, NetworkFile

SUFFIXES = (".yaml", ".yml", ".json", ".xml")
_CODE = ".py"
NO_CODE = "a network in Python is a program: start the studio with --allow-code if you trust it."
_OWN = ".boxcars"
"""The subfolder for the studio's own files."""
_FILE = re.compile(r"[^\W.][\w. -]*")
_SECTION = re.compile(r'^\s*[{"]*(inputs|boxes|outputs|superboxes|tables)"?\s*:', re.M)
_XML = re.compile(r"<(borealis|directive|directives)\b", re.I)
_NAME = re.compile(r'^\s*[{"]*name"?\s*:\s*(?:"([^"]*)"|([^\s,#]+))', re.M)


class Workspace:
    """A folder with networks; with ``code``, Python files count as networks too."""

    def __init__(self, folder: Path, code: bool = False) -> None:
        self.folder, self.code = folder, code

    @property
    def runs(self) -> Path:
        """The folder that has a subfolder for each run."""
        return self.folder / _OWN / "runs"

    def networks(self) -> list[NetworkFile]:
        """Return the network files, sorted by name."""
        found = []
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else []:
            if path.is_file() and self._may_be(path):
                text = _head(path)
                if _is_network(path, text):
                    found.append(self._to_message(path, text))
        return found

    def data(self) -> list[DataFile]:
        """Return the data files, sorted by name."""
        found = data_files(self.folder.iterdir() if self.folder.is_dir() else [])
        own = [path for path in found if path.is_file() and is_within(path, self.folder)]
        return [DataFile(file=path.name, size=path.stat().st_size) for path in own]

    def _may_be(self, path: Path) -> bool:
        known = (*SUFFIXES, _CODE) if self.code else SUFFIXES
        named = _FILE.fullmatch(path.name) and not path.stem.endswith((".layout", ".tests"))
        return path.suffix in known and bool(named) and is_within(path, self.folder)

    def _to_message(self, path: Path, text: str) -> NetworkFile:
        match = _NAME.search(text) if path.suffix != _CODE else None
        name = (match[1] or match[2]) if match else path.stem
        tests = self.tests_path(path.name).exists()
        return NetworkFile(file=path.name, name=name, modified=path.stat().st_mtime, tests=tests)

    def path(self, file: str) -> Path:
        """Return the path of a network file by its name; the file need not exist."""
        if file.endswith(_CODE) and not self.code:
            raise Wrong(f"{file}: {NO_CODE}")
        known = (*SUFFIXES, _CODE)
        if not _FILE.fullmatch(file):
            raise Wrong(f"'{file}' is not a file name: use letters, digits, '-', '_' and '.'.")
        if Path(file).suffix not in known:
            raise Wrong(f"{file}: expected a network file that ends in {', '.join(SUFFIXES)}.")
        if Path(file).stem.endswith((".layout", ".tests")):
            raise Wrong(f"{file}: names in .layout and .tests are reserved; choose another.")
        return self.inside(file)

    def existing(self, file: str) -> Path:
        """Return the path of an existing network file."""
        path = self.path(file)
        if not path.is_file():
            names = [network.file for network in self.networks()]
            raise Missing(f"{file}: there is no such file.{nearest(file, names)}")
        return path

    def inside(self, name: str) -> Path:
        """Return a path or a pattern in the folder; raises if it leads out of the folder."""
        path = self.folder / name
        out = path if "\0" in name else leads_out(name, self.folder)
        if out is not None:
            what = f"{name!r}" if out == path else f"{out.name!r} in {name!r}"
            raise Wrong(
                f"{what} is outside of the studio's folder: move the file there, or start the "
                "studio in a folder that contains it."
            )
        return path

    def inside_only(self, address: str) -> None:
        """Raise if an address or a path names a file outside of the folder."""
        for file in files_in(address):
            self.inside(file)

    def tests_path(self, file: str) -> Path:
        """Return the path of the tests of a network: ``calls.tests.yaml`` for ``calls.yaml``."""
        return tests_path(self.path(file))

    def delete(self, file: str) -> None:
        """Delete a network file, its layout and its tests."""
        path = self.existing(file)
        with writing(path):
            for each in (path, layout_path(path), tests_path(path)):
                each.unlink(missing_ok=True)


def tests_path(network: Path) -> Path:
    """Return the path of the tests of a network.

    >>> tests_path(Path("nets/calls.xml")).name
    'calls.tests.yaml'
    """
    return network.with_suffix(".tests.yaml")


def _head(path: Path) -> str:
    """Read the beginning of a file, enough to recognize its content."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(20_000)
    except OSError:
        return ""


def _is_network(path: Path, text: str) -> bool:
    if path.suffix == ".xml":
        return _XML.search(text) is not None
    if path.suffix == _CODE:
        return "Network(" in text
    return _SECTION.search(text) is not None
