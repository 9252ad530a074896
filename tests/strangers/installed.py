"""Boxcars as users install it: a wheel in a virtual environment that is not on the PATH."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).parent.parent.parent
NEEDED = ("HOME", "PATH")


def copied_by(dockerfile: str) -> list[str]:
    """The files and folders that an image is built from."""
    lines = (REPO / "deploy" / dockerfile).read_text().splitlines()
    return [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]


def build_wheel(folder: Path, dockerfile: str = "Dockerfile") -> Path:
    """Build the wheel from exactly the files that an image copies."""
    source = folder / "src"
    for name in copied_by(dockerfile):
        if (REPO / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules", "static")
            shutil.copytree(REPO / name, source / name, ignore=ignored)
        else:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, source], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Installed:
    """A virtual environment with Boxcars, and an empty home folder."""

    venv: Path
    home: Path

    @classmethod
    def make(cls, folder: Path, *packages: Path) -> "Installed":
        """Install packages; the dependencies of Boxcars come from the test environment.

        Boxcars itself does not: it is installed there by a .pth file, which is not read here.
        """
        venv, home = folder / "venv", folder / "home"
        home.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        (site,) = venv.glob("lib/python*/site-packages")
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
        pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python")]
        command = [*pip, "install", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*command, "--disable-pip-version-check", *packages], check=True)
        return cls(venv, home)

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.venv / "bin" / "python")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables: only a home and the system's PATH."""
        java = os.environ.get("JAVA_HOME")
        needed = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return needed | ({"JAVA_HOME": java} if java else {})

    def run(
        self, program: str, *arguments: str | Path, folder: Path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in a folder."""
        return subprocess.run(
            [self.venv / "bin" / program, *arguments],
            cwd=folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )


def tracebacks(text: str) -> list[str]:
    """The lines of a text that are noise to users."""
    return re.findall(r"^(?:Traceback|\s+at |\s+File |.*Exception).*$", text, re.M)
