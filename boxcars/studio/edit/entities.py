"""List and describe the entities of a network file (Aurora's listEntities and describe)."""

from __future__ import annotations

from typing import Any

from boxcars.lang.files import load
from boxcars.model.network import Network
from boxcars.model.problem import Wrong
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.wire.errors import Missing
from boxcars.studio.wire.messages import EntityInfo


def list_entities(workspace: Workspace, file: str, code: bool) -> list[EntityInfo]:
    """Return all entities of a network, with their descriptions."""
    net = _load(workspace, file, code)
    found: list[tuple[Any, str]] = list(net.list_entities())
    return [EntityInfo(kind=kind, name=name, text=net.describe(name)) for kind, name in found]


def describe_entity(workspace: Workspace, file: str, name: str, code: bool) -> EntityInfo:
    """Describe one entity of a network."""
    net = _load(workspace, file, code)
    kinds: list[Any] = [kind for kind, entity in net.list_entities() if entity == name]
    try:
        return EntityInfo(kind=kinds[0] if kinds else "box", name=name, text=net.describe(name))
    except Wrong as wrong:
        raise Missing(str(wrong)) from None


def _load(workspace: Workspace, file: str, code: bool) -> Network:
    return load(workspace.existing(file), code)
