"""Finds the user's code that a network uses, box by box."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from boxcars.kernels.user.imports import find_named
from boxcars.model.box import Box
from boxcars.model.flatten import flatten
from boxcars.model.network import Network
from boxcars.model.own_code import OwnCode, find_own
from boxcars.model.problem import Wrong
from boxcars.own_code.identity import identity
from boxcars.own_code.sources import top_of

_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def used_by(box: Box) -> Iterator[OwnCode]:
    """The user's code of a box: functions in its expressions, its format, its class, its type."""
    if own := find_own("box", box.type):
        yield own
    plain = box.plain()
    for text in _texts(plain):
        if own := find_own("format", text):
            yield own
        for name in _CALL.findall(text):
            for kind in ("function", "aggregate"):
                if own := find_own(kind, name.lower()):
                    yield own
    if box.code is not None:
        name = str(plain[box.code])
        thing = find_named(name, box.code)
        if top_of(thing) != "boxcars":  # workers have Boxcars itself
            yield OwnCode("object", name, thing)


def _texts(plain: Any) -> Iterator[str]:
    """All strings in plain data."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, Mapping):
        for value in plain.values():
            yield from _texts(value)
    elif isinstance(plain, list | tuple):
        for value in plain:
            yield from _texts(value)


def used_in(net: Network) -> dict[str, OwnCode]:
    """All user code of a network, sorted by key."""
    found: dict[str, OwnCode] = {}
    for name, node in flatten(net).network.boxes.items():
        try:
            found |= {own.key: own for own in used_by(node.box)}
        except Wrong as wrong:
            raise Wrong(f"box '{name}': {wrong}") from None
    return dict(sorted(found.items()))


def identities(used: Mapping[str, OwnCode]) -> dict[str, str]:
    """The identity of each piece of code, by key."""
    return {key: identity(own.thing) for key, own in used.items()}
