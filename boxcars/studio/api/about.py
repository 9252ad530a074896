"""What the studio says of itself."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING

from boxcars.studio.wire.messages import About

if TYPE_CHECKING:
    from boxcars.studio.api.studio import Studio

_CLUSTERS = ("SPARK_MASTER", "MASTER")
"""Variables of the environment that may name a Spark cluster."""


def about_studio(studio: Studio) -> About:
    """The version, the folder, and where runs may be started."""
    named = [os.environ[name] for name in _CLUSTERS if os.environ.get(name)]
    return About(
        version=version("boxcars"),
        folder=str(studio.workspace.folder.resolve()),
        file=studio.file,
        masters=list(dict.fromkeys(["local[*]", "local[2]", "local[1]", *named])),
        allow_code=studio.allow_code,
    )
