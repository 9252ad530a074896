"""Print the OpenAPI document of the studio: ``python -m boxcars.studio.api.openapi``.

It needs neither Spark nor Java nor a running studio; the page's types are generated from it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from boxcars.studio.api.app import make_app
from boxcars.studio.api.studio import Studio


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return make_app(Studio.at(Path())).openapi()


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=1)
    print()
