"""A page of the docs: its generated parts, its files and the descriptions of its drawings.

A generated part is between ``<!-- generated: NAME -->`` and ``<!-- end -->``. A drawing is
described by a comment, ``<!-- drawing: NAME.svg`` and a few lines of YAML. A code block directly
after a line ``**`NAME`**`` is the file NAME.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from boxcars.model.problem import BoxcarsError

_PART = re.compile(r"(<!-- generated: (?P<name>\w+) -->\n).*?(<!-- end -->)", re.S)
_DRAWING = re.compile(r"<!-- drawing: (?P<name>[\w-]+\.svg)\n(?P<text>.*?)-->", re.S)
_FILE = re.compile(r"^\*\*`(?P<name>[\w.-]+)`\*\*\n+```\w+\n(?P<text>.*?)^```", re.M | re.S)
_SECTION = re.compile(r"^## (?P<name>.+)$", re.M)


@dataclass(frozen=True)
class Page:
    """The Markdown text of a page, and access to its parts."""

    text: str

    @property
    def files(self) -> dict[str, str]:
        """The texts of the files in the page, by file name."""
        return {match["name"]: match["text"] for match in _FILE.finditer(self.text)}

    @property
    def drawings(self) -> dict[str, dict[str, Any]]:
        """The parsed descriptions of drawings, by file name of the drawing."""
        found = {}
        for match in _DRAWING.finditer(self.text):
            described = yaml.safe_load(match["text"])
            if not isinstance(described, dict) or "kind" not in described:
                raise BoxcarsError(f"the description of {match['name']} has no 'kind'.")
            found[match["name"]] = described
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the generated parts."""
        return tuple(match["name"] for match in _PART.finditer(self.text))

    @property
    def sections(self) -> dict[str, str]:
        """The text below each second-level heading, without comments."""
        pieces = _SECTION.split(re.sub(r"<!--.*?-->", "", self.text, flags=re.S))
        return dict(zip(pieces[1::2], (text.strip() for text in pieces[2::2]), strict=True))

    def with_parts(self, parts: Mapping[str, str]) -> str:
        """Return the text with its generated parts replaced."""

        def fill(match: re.Match[str]) -> str:
            if match["name"] not in parts:
                raise BoxcarsError(f"there is no generator for the part '{match['name']}'.")
            return f"{match[1]}{parts[match['name']]}\n{match[3]}"

        return _PART.sub(fill, self.text)

    @contextmanager
    def written(self) -> Iterator[Path]:
        """Write the files of the page to a temporary folder, on the import path."""
        with TemporaryDirectory() as folder:
            for name, text in self.files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            sys.path.insert(0, folder)
            try:
                yield Path(folder)
            finally:
                sys.path.remove(folder)
                for name in self.files:
                    sys.modules.pop(name.removesuffix(".py"), None)
