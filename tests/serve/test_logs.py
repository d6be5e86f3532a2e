"""The log of a service as JSON."""

from __future__ import annotations

import json

import requests

from tests.serve.service import serving


def test_the_log_is_json_with_what_a_request_was(server_environment: dict[str, str], library: str) -> None:
    with serving({**server_environment, "HOPRANK_OBSERVE__LOGS": "json"}) as service:
        headers = {"X-Request-ID": "mine-1"}
        body = {"query": "Where are the crimson cranes?", "corpus": library}
        assert requests.post(f"{service.url}/v1/search", json=body, headers=headers, timeout=60).ok
        service.stop()

    records = [json.loads(line) for line in service.lines if line.startswith("{")]
    (search,) = (one for one in records if one.get("request_id") == "mine-1")
    assert search.pop("milliseconds") >= 0
    assert search.pop("time").endswith("+00:00")
    assert search.pop("message").startswith("POST /v1/search 200 ")
    assert search == {
        "level": "INFO",
        "logger": "hoprank.access",
        "method": "POST",
        "route": "/v1/search",
        "status": 200,
        "request_id": "mine-1",
    }
    assert not any("crimson" in line for line in service.lines)
