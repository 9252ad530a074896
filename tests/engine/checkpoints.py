"""Checkpoints with other contents, resealed: what an attacker or a careful person could write."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from boxcars.connectors.documents import seal, unseal


def edit(folder: Path, kind: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the head or the manifests of a checkpoint, and seal them again."""
    paths = [folder / "head"] if kind == "head" else list((folder / "epochs").iterdir())
    for path in paths:
        path.write_bytes(seal(kind, change(unseal(kind, path.read_bytes(), str(path)))))


def read(folder: Path, kind: str = "head") -> list[dict[str, Any]]:
    """The head, or the manifests in the order of their epochs."""
    paths = [folder / "head"] if kind == "head" else sorted((folder / "epochs").iterdir())
    return [unseal(kind, path.read_bytes(), str(path)) for path in paths]


def go_back(folder: Path) -> None:
    """As if the last epoch had not been committed: it was begun, and is replayed."""

    def back(head: dict[str, Any]) -> dict[str, Any]:
        changed = {"epoch": head["epoch"] - 1, "manifest": head["previous"], "plan": head["done"]}
        return {**head, **changed, "previous": "", "done": None}

    edit(folder, "head", back)
