"""A full disk: one sentence, no partial files, and the run resumes once there is space.

The disk is real: a small in-memory file system that only the child process sees.
"""

import subprocess
import sys
from pathlib import Path

import polars as pl

import boxcars as bx

ROWS = 60_000
SCRIPT = """
set -u
mount -t tmpfs -o size=4m none disk
go() {
  {python} -m boxcars.cli run net.yaml --source rows=rows.parquet --sink out=disk/out/ \\
    --checkpoint disk/check --epoch-rows 5000 >said-$1.txt 2>&1
  echo $? >code-$1.txt
}
head -c 3700k /dev/zero >disk/filler
go 1
find disk -name '.*' -type f >left.txt
cp -r disk/out half
rm disk/filler
go 2
cp -r disk/out whole
"""


def network() -> bx.Network:
    net = bx.Network("pairs")
    rows = net.input("rows", ts="t", fields={"t": "int", "who": "str"})
    net.output("out", rows.aggregate(bx.tuples(2, advance=1), by="who", since="first(t)"))
    return net


def parts(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])


def test_a_full_disk(tmp_path: Path) -> None:
    names = [f"somebody-{n * 7919 % 1009:06d}" for n in range(ROWS)]
    rows = pl.DataFrame({"t": range(ROWS), "who": names})
    rows.write_parquet(tmp_path / "rows.parquet")
    bx.save(network(), tmp_path / "net.yaml")
    (tmp_path / "disk").mkdir()
    script = SCRIPT.replace("{python}", sys.executable)
    subprocess.run(
        ["unshare", "--map-root-user", "--mount", "bash", "-c", script],
        cwd=tmp_path,
        check=True,
        timeout=300,
    )
    said = (tmp_path / "said-1.txt").read_text()
    assert (tmp_path / "code-1.txt").read_text() == "1\n", said
    (last,) = (line for line in said.splitlines() if "written" in line)
    assert "No space left on device" in last
    assert "in run_piece" not in said
    assert (tmp_path / "left.txt").read_text() == ""
    expected = pl.DataFrame(bx.preview(network(), {"rows": rows})["out"])
    half = parts(tmp_path / "half")
    assert 0 < half.height < expected.height
    assert half.equals(expected[: half.height])
    assert (tmp_path / "code-2.txt").read_text() == "0\n", (tmp_path / "said-2.txt").read_text()
    assert parts(tmp_path / "whole").equals(expected)
