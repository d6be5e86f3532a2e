"""Requests made from the OpenAPI description: every answer is one that it describes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import requests

from pipeline.db.catalogue import list_corpora
from pipeline.db.client import Client
from pipeline.flows import maintain
from tests.serve.service import serving

pytestmark = pytest.mark.slow

CORPORA = [f"schemathesis-{uuid4().hex[:8]}-{number}" for number in range(2)]
TOKEN = "opens-two-corpora-001"
ROOT = Path(__file__).parents[3]
EXAMPLES = 6
"""Requests for each operation and phase; a hundred found no more."""


@pytest.fixture(scope="module")
def url(server_environment: dict[str, str], client: Client) -> Iterator[str]:
    tokens = [{"token": TOKEN, "corpora": CORPORA, "write": True}]
    # A longer question than a body or an address may have is refused before anything is read of it.
    limits = {
        "HOPRANK_SERVE__RATE": "0",
        "HOPRANK_SERVE__MAX_MEGABYTES": "0.1",
        "HOPRANK_SERVE__MAX_QUESTION": "10000",
    }
    with serving({**server_environment, **limits, "HOPRANK_SERVE__TOKENS": json.dumps(tokens)}) as service:
        yield service.url
    for corpus in list_corpora(client):
        if corpus.name in CORPORA:
            maintain.drop(client, corpus.name, kind=corpus.kind)


def test_every_answer_is_one_that_is_described(url: str, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{url}/openapi.json"]
    options = [
        "-H",
        f"Authorization: Bearer {TOKEN}",
        "--phases=examples,coverage,fuzzing",
        f"--max-examples={EXAMPLES}",
        "--seed=1",
        "--continue-on-failure",
        # A filter without such an operator, a file without a suffix: 422 too, though the schema allows them.
        "--exclude-checks=positive_data_acceptance",
    ]
    hooks = {
        "SCHEMATHESIS_HOOKS": "tests.serve.http.schemathesis_hooks",
        "SCHEMATHESIS_CORPORA": " ".join(CORPORA),
        "PYTHONPATH": str(ROOT),
    }

    done = subprocess.run(
        [*command, *options], env={**os.environ, **hooks, "NO_COLOR": "1"}, cwd=tmp_path, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_operation_is_described_with_its_problems(url: str) -> None:
    paths = requests.get(f"{url}/openapi.json", timeout=10).json()["paths"]

    for path, operations in paths.items():
        for method, operation in operations.items():
            assert operation["description"], (method, path)
            assert operation["responses"].keys() >= {"401", "404", "429", "500"}, (method, path)
