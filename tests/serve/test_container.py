"""The container: its Dockerfile and its Compose file, as far as they can be checked without an engine."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer
import yaml
from fastapi.routing import APIRoute

from pipeline.cli.app import app
from pipeline.cli.commands.serve import serve
from pipeline.serve.http.routes import health
from pipeline.settings import load_settings

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
COMPOSE = ROOT / "docker-compose.yml"
NGINX = ROOT / "configs" / "nginx.conf"


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
    read = checked(*compose(), "--profile", "serve", "--profile", "replicas", "config", NEO4J_PASSWORD="12345678")
    services = yaml.safe_load(read)["services"]

    assert set(services) == {"neo4j", "hoprank", "hoprank-1", "hoprank-2", "balancer"}
    replicas = [services[name] for name in ("hoprank-1", "hoprank-2")]
    # Both would listen at one port of the machine; the balancer does.
    assert not any(replica.get("ports") for replica in replicas)
    assert all(replica["environment"]["NEO4J_URI"] == "bolt://neo4j:7687" for replica in replicas)
    assert all(replica["read_only"] and replica["cap_drop"] == ["ALL"] for replica in replicas)


def test_the_balancer_knows_the_services_and_where_they_listen() -> None:
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    upstream = re.findall(r"server (\S+):(\d+) ", NGINX.read_text(encoding="utf-8"))

    assert upstream == [(name, "8765") for name in services["balancer"]["depends_on"]]
    assert services["balancer"]["ports"] == ["127.0.0.1:${HOPRANK_PORT:-8765}:8080"]
    assert "listen 8080;" in NGINX.read_text(encoding="utf-8")
    assert f"./{NGINX.relative_to(ROOT)}:/etc/nginx/nginx.conf:ro" in services["balancer"]["volumes"]


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


@pytest.mark.parametrize("name", ["service", "ingest"])
def test_the_manifests_name_what_there_is(name: str) -> None:
    documents = [*yaml.safe_load_all((ROOT / "configs" / "kubernetes" / f"{name}.yaml").read_text(encoding="utf-8"))]
    by_kind = {one["kind"]: one for one in documents}
    container = by_kind["Deployment" if name == "service" else "Job"]["spec"]["template"]["spec"]["containers"][0]
    command, *arguments = container["args"]

    context = typer.main.get_command(app).commands[command].make_context(command, [*arguments])  # type: ignore[attr-defined]
    assert context.params["host" if name == "service" else "corpus"] in arguments
    assert {"mountPath": "/home/hoprank/data", "name": "home"} in container["volumeMounts"]
    if name == "service":
        probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
        assert {(probe["path"], probe["port"]) for probe in probes} == {("/ready", "http"), ("/health", "http")}
        assert {"/ready", "/health"} <= {route.path for route in health.router.routes if isinstance(route, APIRoute)}
        assert container["ports"] == [{"name": "http", "containerPort": serve_port()}]
        given = by_kind["ConfigMap"]["data"].items()
        loaded = load_settings({"neo4j": {key.removeprefix("NEO4J_").lower(): value for key, value in given}})
        assert loaded.neo4j.uri == "neo4j://neo4j:7687"
        pod = by_kind["Deployment"]["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] > loaded.serve.shutdown_timeout


def serve_port() -> int:
    """The port at which the service listens by default."""
    port: int = inspect.signature(serve).parameters["port"].default
    return port
