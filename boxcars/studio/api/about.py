"""Information about the studio itself."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING

from boxcars.studio.wire.messages import About

if TYPE_CHECKING:
    from boxcars.studio.api.studio import Studio

_CLUSTERS = ("SPARK_MASTER", "MASTER")
"""Environment variables that may name a Spark cluster."""


def about_studio(studio: Studio) -> About:
    """Return the version, the folder, and the Spark masters to choose from."""
    named = [os.environ[name] for name in _CLUSTERS if os.environ.get(name)]
    return About(
        version=version("boxcars"),
        folder=str(studio.workspace.folder.resolve()),
        file=studio.file,
        masters=list(dict.fromkeys(["local[*]", "local[2]", "local[1]", *named])),
        allow_code=studio.allow_code,
    )
