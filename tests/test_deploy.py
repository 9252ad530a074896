"""The files in deploy/ are valid, and refer to existing options and files."""

from pathlib import Path

import pytest
import yaml
from typer.core import TyperGroup
from typer.main import get_command

from boxcars.cli import app
from tests.strangers.installed import copied_by

DEPLOY = Path(__file__).parent.parent / "deploy"


def test_the_options_of_the_manifest_are_those_of_the_command() -> None:
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    assert [part["kind"] for part in parts] == ["StatefulSet", "Service"]
    (container,) = parts[0]["spec"]["template"]["spec"]["containers"]
    command, *words = container["args"]
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    known = {name for option in group.commands[command].params for name in option.opts}
    assert {word for word in words if word.startswith("--")} <= known
    assert container["ports"][0]["containerPort"] == parts[1]["spec"]["ports"][0]["port"]


@pytest.mark.parametrize("name", ["Dockerfile", "executor.Dockerfile"])
def test_images_are_made_of_what_is_there(name: str) -> None:
    lines = (DEPLOY / name).read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert all((DEPLOY.parent / word).exists() for word in copied)
    assert copied == copied_by("Dockerfile"), "a wheel is built of these in tests/strangers"


def test_prometheus() -> None:
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    assert job["job_name"] == "boxcars"


def test_opentelemetry_scrapes_what_prometheus_would() -> None:
    collector = yaml.safe_load((DEPLOY / "otel-collector.yml").read_text())
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    assert collector["receivers"]["prometheus"]["config"]["scrape_configs"] == [job]
    for pipeline in collector["service"]["pipelines"].values():
        assert set(pipeline["receivers"]) <= collector["receivers"].keys()
        assert set(pipeline["exporters"]) <= collector["exporters"].keys()
