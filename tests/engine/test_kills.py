"""A run that is killed at any point and restarted has the same output, byte for byte.

Every kill is a SIGKILL of the real processes: the driver, the JVM and the workers. A *story* is the
sequence of lives of one run: each is killed somewhere, the next resumes with another number of
instances, and the last one finishes. ``pytest --long`` runs all stories.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.engine.killed_run import live, write_calls
from tests.engine.killing import kill_family

HEAD, DONE = "*/check/head", "*/epochs/*.manifest"
STATE, PART = "*/check/state/*.state", "*/out/*/.boxcars/part-*.parquet"
PUBLISHED = "*/out/*/part-*.parquet"
CHECKPOINT = "boxcars.engine.state.checkpoint:Checkpoint"
WRITERS = "boxcars.connectors.write.writers"
INSTANCES = (2, 3, 1)
"""Number of instances of the lives of a story, in turn."""
LONGEST = 240
"""Seconds; the time limit of a life."""


@dataclass(frozen=True)
class Story:
    """The points at which lives end; all levels are shuffles, or an epoch is one task."""

    name: str
    points: tuple[str, ...]
    shuffle: bool = False


def later(seconds: float, whom: str = "all") -> str:
    """A point: some time after the first epoch of a life, all processes or the driver alone."""
    return f"later {seconds} {whom}"


FINISH = (
    f"before call {WRITERS}:FileWriter.finish 1",
    f"before call {WRITERS}:join_parts 1",
    "torn replace */out/joined.csv 1",
    "after replace */out/joined.csv 1",
    "after unlink */outputs/*/parts/part-* 2",
)
"""When the last epoch is committed, and an output becomes one file."""
NAMED = (
    f"before replace {HEAD} 2",
    f"torn replace {HEAD} 3",
    f"after replace {HEAD} 3",
    f"before replace {PUBLISHED} 2",
    f"after replace {PUBLISHED} 2",
    f"before replace {STATE} 5",
    f"torn replace {STATE} 6",
    f"after replace {STATE} 1",
    f"before replace {PART} 1",
    f"torn replace {PART} 2",
    f"after replace {PART} 3",
    f"before replace {DONE} 1",
    f"torn replace {DONE} 2",
    f"after replace {DONE} 2",
    f"before unlink {DONE} 1",
    f"after unlink {DONE} 1",
    f"before unlink {STATE} 1",
    f"after unlink {STATE} 3",
    f"before call {CHECKPOINT}.begin 1",
    f"after call {CHECKPOINT}.commit 2",
    "before call boxcars.engine.exec.spark_job:run_job 2",
    "after call boxcars.engine.exec.spark_job:run_job 1",
    f"before call {WRITERS}:CallbackWriter._call_sink 1",
    f"after call {WRITERS}:CallbackWriter._call_sink 1",
    "torn replace */delivered 1",
    f"after call {WRITERS}:CallbackWriter.deliver 2",
)


def stories() -> Iterator[Story]:
    """All of them."""
    chance = random.Random(4)
    for first in range(0, len(NAMED), 4):
        yield Story(f"named-{first}", NAMED[first : first + 4])
    yield Story("finish", FINISH)
    for number in range(2):
        lines = tuple(f"line driver {chance.randrange(1, 3500)}" for _ in range(4))
        yield Story(f"driver-lines-{number}", lines)
        lines = tuple(f"line worker {chance.randrange(1, 5000)}" for _ in range(4))
        yield Story(f"worker-lines-{number}", lines)
        times = tuple(later(round(chance.uniform(0, 0.4), 3)) for _ in range(3))
        yield Story(f"times-{number}", (*times, later(0.1, "driver")))
    points = (f"torn replace {STATE} 4", f"after replace {PART} 1", later(0.7))
    yield Story("shuffle-0", points, shuffle=True)
    yield Story("shuffle-1", ("line worker 2500", f"before replace {DONE} 2"), shuffle=True)


STORIES = tuple(stories())
FEW = (
    Story("few", (f"torn replace {DONE} 2", f"after replace {PART} 2", later(0.2))),
    Story("few-shuffle", (f"torn replace {STATE} 4",), shuffle=True),
)


def test_there_are_enough_kills() -> None:
    assert sum(len(story.points) for story in STORIES) >= 50


def start(folder: Path, instances: int, shuffle: bool, point: str) -> subprocess.Popen[str]:
    """Start a life of the run in a folder."""
    way = "shuffle" if shuffle else "alone"
    command = [sys.executable, "-m", "tests.engine.killed_run", str(folder), str(instances), way]
    home = str(Path(__file__).parents[2])
    own = {"PYTHONPATH": home, "BOXCARS_KILL": point, "SPARK_LOCAL_DIRS": str(folder / "spark")}
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=home, env=os.environ | own
        )


def end(process: subprocess.Popen[str], point: str) -> int:
    """Wait until a life has ended; if its point is a time, end it then."""
    assert process.stdout is not None
    with process, process.stdout as told:
        try:
            match point.split():
                case ["later", seconds, whom]:
                    told.readline()
                    time.sleep(float(seconds))
                    process.kill() if whom == "driver" else kill_family(process.pid)
            return process.wait(LONGEST)
        finally:
            if process.poll() is None:
                kill_family(process.pid)


def tell(story: Story, folder: Path) -> str:
    """Run all lives of a story; return what went wrong, if anything."""
    write_calls(folder / "calls")
    for number, point in enumerate([*story.points, ""]):
        shuffle = story.shuffle and point != ""  # it would take a minute to finish like this
        process = start(folder, INSTANCES[number % len(INSTANCES)], shuffle, point)
        code = end(process, point)
        if code != (-signal.SIGKILL if point else 0):
            said = (folder / "log").read_text()
            return f"{point or 'the last life'}: it ended with {code}\n{said}"
    return ""


def files(folder: Path) -> dict[str, bytes]:
    """The files of a folder for a reader, by path; hidden files are incomplete."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The output of a run that is not killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_calls(folder / "calls")
    assert live(folder, spark=spark, instances=2).state == "finished"
    found = files(folder / "out")
    assert {Path(name).parts[0] for name in found} == {
        "called",
        "counts",
        "joined.csv",
        "late",
        "pairs",
    }
    return found


def differences(got: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    """The files that differ."""
    return sorted(n for n in got.keys() | expected.keys() if got.get(n) != expected.get(n))


@pytest.mark.parametrize("story", FEW, ids=lambda story: story.name)
def test_a_few_kills(story: Story, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    assert tell(story, tmp_path) == ""
    assert differences(files(tmp_path / "out"), undisturbed) == []


@pytest.mark.long
def test_many_kills(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """All stories, two at a time."""

    def whole(story: Story) -> str | list[str]:
        folder = tmp_path / story.name
        return tell(story, folder) or differences(files(folder / "out"), undisturbed)

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip([s.name for s in STORIES], pool.map(whole, STORIES), strict=True))
    assert {name: problem for name, problem in found.items() if problem} == {}
