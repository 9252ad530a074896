r"""Documents of a checkpoint: JSON under a header with its kind, format and checksum.

>>> seal("head", {"epoch": 3})
b'boxcars head 1 3ba3c5ef\n{"epoch":3}\n'
>>> unseal("head", seal("head", {"epoch": 3}), "check/head")
{'epoch': 3}

Nothing is read from a document that is not exactly as it was written. A number is raised here when
a format changes; :data:`READABLE` says which older ones are still read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from zlib import crc32

from boxcars.model.problem import BoxcarsError

FORMAT = 1
"""The format in which documents are written."""
READABLE = frozenset({1})
"""The formats that are read."""
_HEADER = re.compile(rb"boxcars ([a-z]+) ([0-9]+) ([0-9a-f]{8})")


class Damaged(BoxcarsError):
    """A file of a checkpoint is not as it was written."""

    finding = ""
    """The file and what is wrong with it, without the way out."""


def damaged(where: str, why: object) -> Damaged:
    """The error about a damaged file, with the way out."""
    error = Damaged(
        f"{where}: the checkpoint is damaged: {why}. `boxcars verify` says what is intact and how "
        "to go on."
    )
    error.finding = f"{where}: {why}."
    return error


def unknown_format(where: str, format_: object) -> BoxcarsError:
    """The error about a file that a newer version wrote."""
    return BoxcarsError(
        f"{where}: it has format {format_}, and this version of Boxcars reads up to {FORMAT}: "
        "use the version that wrote it, or a newer one."
    )


def seal(kind: str, content: Mapping[str, Any]) -> bytes:
    """A document as bytes."""
    body = json.dumps(content, separators=(",", ":")).encode() + b"\n"
    return b"boxcars %s %d %08x\n" % (kind.encode(), FORMAT, _checksum(kind, FORMAT, body)) + body


def unseal(kind: str, data: bytes, where: str) -> Any:
    """The content of a document; raises :class:`Damaged`, or says that its format is unknown."""
    header, _, body = data.partition(b"\n")
    found = _HEADER.fullmatch(header)
    if found is None or found[1].decode() != kind:
        raise damaged(where, f"it does not begin as a {kind} does")
    format_ = int(found[2])
    if int(found[3], 16) != _checksum(kind, format_, body):
        raise damaged(where, CHANGED)
    if format_ not in READABLE:
        raise unknown_format(where, format_)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise damaged(where, error) from None


CHANGED = "its checksum does not match its content"


def _checksum(kind: str, format_: int, body: bytes) -> int:
    return crc32(body, crc32(b"%s %d" % (kind.encode(), format_)))
