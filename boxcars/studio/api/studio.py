"""The studio: its workspace, its permissions, and its previews, runs and injectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from boxcars.service.security import Access
from boxcars.studio.debug.previews import Previews
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.inject.injectors import Injectors
from boxcars.studio.runs.runs import Runs


@dataclass
class Studio:
    """The state behind the routes. Nothing is started or written before a request needs it."""

    workspace: Workspace
    access: Access
    allow_code: bool = False
    file: str | None = None
    previews: Previews = field(init=False)
    runs: Runs = field(init=False)
    injectors: Injectors = field(init=False)

    def __post_init__(self) -> None:
        self.previews = Previews()
        self.runs = Runs(self.workspace)
        self.injectors = Injectors(self.runs, self.workspace)

    @classmethod
    def at(cls, folder: Path, access: Access | None = None, allow_code: bool = False) -> Studio:
        """Return a studio for a folder."""
        return cls(Workspace(folder, allow_code), access or Access(), allow_code)

    def close(self) -> None:
        """Stop all injectors, runs and previews."""
        self.injectors.close()
        self.runs.close()
        self.previews.close()
