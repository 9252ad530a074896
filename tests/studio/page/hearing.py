"""Chromium's accessibility tree: what screen readers get to announce."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page


@dataclass(frozen=True)
class Heard:
    """An element as announced; ``live`` is how its changes are announced, if at all."""

    role: str
    name: str
    description: str
    live: str
    chosen: bool
    invalid: bool
    within: tuple[str, ...]
    """The names of what it is in, from the outside."""
    words: str
    """All text in it."""


def listen(page: Page) -> list[Heard]:
    """All announced elements, in reading order."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    known = {node["nodeId"]: node for node in nodes}
    return list(_walk(nodes[0], known, ()))


def _walk(
    node: dict[str, Any], known: dict[str, dict[str, Any]], within: tuple[str, ...]
) -> Iterator[Heard]:
    heard = None if node.get("ignored") else _heard(node, known, within)
    if heard is not None:
        yield heard
        within = (*within, heard.name) if heard.name else within
    for child in node.get("childIds", ()):
        if child in known:
            yield from _walk(known[child], known, within)


def _heard(
    node: dict[str, Any], known: dict[str, dict[str, Any]], within: tuple[str, ...]
) -> Heard:
    properties = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
    return Heard(
        _value(node, "role"),
        _value(node, "name"),
        _value(node, "description"),
        str(properties.get("live") or ""),
        properties.get("selected") is True or properties.get("checked") == "true",
        properties.get("invalid") not in (None, "false"),
        within,
        " ".join(_texts(node, known)),
    )


def _texts(node: dict[str, Any], known: dict[str, dict[str, Any]]) -> Iterator[str]:
    if _value(node, "role") == "StaticText":
        yield _value(node, "name")
    for child in node.get("childIds", ()):
        if child in known:
            yield from _texts(known[child], known)


def _value(node: dict[str, Any], key: str) -> str:
    return str(node.get(key, {}).get("value", ""))
