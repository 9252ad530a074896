"""The directives that come with Boxcars."""

from pathlib import Path

import boxcars.apps

FILES = sorted((Path(boxcars.apps.__file__).parent / "siem").glob("*.xml"))
SMB, BRUTE_FORCE, WEB_ATTACK = (
    next(path for path in FILES if path.stem == name)
    for name in ("smb", "brute_force", "web_attack")
)


def texts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in FILES]
