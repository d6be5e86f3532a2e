"""Behind a proxy: a path below which the service is shown, and whom the proxy says that it asks for."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

import pytest
import requests

from tests.serve.proxy import proxying
from tests.serve.service import serving, wait_for


@pytest.mark.slow
@pytest.mark.parametrize("strips", [True, False])
def test_the_service_is_shown_below_a_path(
    server_environment: dict[str, str], corpus_name: str, library: str, strips: bool
) -> None:
    with (
        serving(server_environment, "--root-path", "/graph/rag") as service,
        proxying(service.url, "/graph/rag", strips=strips) as url,
    ):
        assert "<title>" in requests.get(f"{url}/", timeout=60).text
        assert requests.get(f"{url}/page/api.js", timeout=60).ok
        described = requests.get(f"{url}/openapi.json", timeout=60).json()
        assert described["servers"] == [{"url": "/graph/rag"}]
        question: dict[str, Any] = {"query": "Who founded the yard?", "corpus": library}
        found = requests.post(f"{url}/v1/search", json=question, timeout=60)
        assert found.json()["items"]
        documents = [{"id": "moon", "text": "The moon raises the tides."}]
        body: dict[str, Any] = {"corpus": corpus_name, "documents": documents}
        begun = requests.post(f"{url}/v1/ingest", json=body, timeout=60)
        job = requests.get(urljoin(url, begun.headers["Location"]), timeout=60)
        assert job.json()["id"] == begun.json()["id"]
        # A job that is left would be the first that a later test claims.
        wait_for(service, begun.json(), "succeeded")
        # also as before, for those on the machine itself
        assert requests.get(f"{service.url}/ready", timeout=60).ok


@pytest.mark.slow
def test_clients_behind_a_proxy_that_is_told_are_limited_each(server_environment: dict[str, str]) -> None:
    limits = {**server_environment, "HOPRANK_SERVE__RATE": "2"}

    def statuses(url: str, *clients: str) -> list[int]:
        return [
            requests.get(f"{url}/v1/corpora", headers={"X-Test-Client": client}, timeout=60).status_code
            for client in clients
        ]

    with serving(limits) as service, proxying(service.url, "") as url:
        assert statuses(url, "192.0.2.1", "192.0.2.2", "192.0.2.3") == [200, 200, 429]
    trusting = {**limits, "HOPRANK_SERVE__PROXIES": json.dumps(["127.0.0.0/8"])}
    with serving(trusting) as service, proxying(service.url, "") as url:
        assert statuses(url, "192.0.2.1", "192.0.2.2", "192.0.2.3") == [200, 200, 200]
        assert statuses(url, "192.0.2.1", "192.0.2.1") == [200, 429]
        assert [requests.get(f"{url}/health", timeout=60).status_code for _ in range(4)] == [200] * 4
