"""Build hook: build the studio page when a wheel is built."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """Builds the page before the wheel collects its files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Load the build module by its path, because Boxcars can't be imported yet."""
        path = Path(self.root) / "boxcars" / "studio" / "build.py"
        spec = importlib.util.spec_from_file_location("boxcars_page", path)
        if spec is None or spec.loader is None:
            raise FileNotFoundError(path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.build()
