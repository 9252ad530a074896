"""A folder of parts: readers see a part once its epoch is committed, and never one that is not."""

from __future__ import annotations

from pathlib import Path

from boxcars.connectors.files import sync_file, writing
from boxcars.connectors.write.base import SinkWriter

STAGING = ".boxcars"
"""The folder inside of a sink in which parts wait for the commit; readers skip such names."""


class FolderWriter(SinkWriter):
    """Tasks write parts into a hidden folder beside their target, and a rename publishes them."""

    def __init__(self, target: Path) -> None:
        super().__init__(target / STAGING, target)

    def deliver(self, epoch: int) -> None:
        """Publish the parts of an epoch."""
        with writing(self.target):
            for part in sorted(self.folder.glob(f"part-{epoch:08d}*")):
                published = part.replace(self.target / part.name)
                if self.durable:
                    sync_file(published)

    def close(self) -> None:
        """Leave no hidden folder behind, unless a part in it waits for the next run."""
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()
