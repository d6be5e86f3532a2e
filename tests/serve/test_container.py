"""The container: its Dockerfile and its Compose file, as far as they can be checked without an engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
COMPOSE = ROOT / "docker-compose.yml"


def checked(*command: str, **environment: str) -> str:
    """What a checker prints; it must find nothing wrong."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_dockerfile_passes_its_linter() -> None:
    checked(str(PROGRAMS / "hadolint"), "--failure-threshold", "info", "Dockerfile")


def test_the_compose_file_follows_the_schema_of_compose() -> None:
    checked(str(PROGRAMS / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(COMPOSE))


@cache
def compose() -> tuple[str, ...]:
    """The command of Compose, which needs no engine to read a file: Docker's, else that on its own; () without one."""
    for command in (("docker", "compose"), ("docker-compose",)):
        if shutil.which(command[0]) and subprocess.run([*command, "version"], capture_output=True).returncode == 0:
            return command
    return ()


@pytest.mark.skipif(not compose(), reason="no Compose here; the schema is checked anyway")
def test_compose_reads_its_file() -> None:
    read = checked(*compose(), "--profile", "serve", "config", NEO4J_PASSWORD="12345678")

    assert set(yaml.safe_load(read)["services"]) == {"neo4j", "hoprank"}


def test_the_image_runs_the_service_without_root_and_checks_its_health() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    service = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["hoprank"]

    assert "USER 10001" in lines
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert 'CMD ["serve", "--host", "0.0.0.0"]' in lines
    assert service["cap_drop"] == ["ALL"]
    assert service["depends_on"] == {"neo4j": {"condition": "service_healthy"}}


def test_the_image_is_built_from_what_the_wheel_needs() -> None:
    copied = {
        word
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ")
        for word in line.split()
    }
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    for name in ("pyproject.toml", "README.md", "LICENSE", "cypher", "configs", "pipeline"):
        assert name in copied
        assert f"!{name}" in ignored
