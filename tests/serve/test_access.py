"""Tokens: what each opens."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.errors import ConfigurationError, Forbidden, Unauthenticated
from pipeline.serve.access import Access, check_exposure
from pipeline.settings import load_settings

FULL, READER, WRITER = "full-of-rights-0001", "reads-only-docs-001", "writes-into-docs-01"


def access(**values: Any) -> Access:
    return Access(load_settings({"serve": values}).serve)


@pytest.fixture
def tokens() -> Access:
    return access(
        token=FULL,
        tokens=[
            {"token": READER, "corpora": ["docs"]},
            {"token": WRITER, "corpora": ["docs"], "write": True},
        ],
    )


def test_without_a_token_everything_is_open() -> None:
    assert access().is_open
    access().grant(None).check("docs", write=True)
    access().grant("Bearer whatever").check_all(write=True)


def test_each_token_opens_what_it_lists(tokens: Access) -> None:
    tokens.grant(f"Bearer {FULL}").check_all(write=True)
    tokens.grant(f"bearer {READER}").check("docs")
    tokens.grant(f"Bearer {WRITER}").check("docs", write=True)

    with pytest.raises(Forbidden, match="reading only"):
        tokens.grant(f"Bearer {READER}").check("docs", write=True)
    with pytest.raises(Forbidden, match="doesn't open 'other'"):
        tokens.grant(f"Bearer {WRITER}").check("other")
    with pytest.raises(Forbidden, match="some corpora only"):
        tokens.grant(f"Bearer {WRITER}").check_all()


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", f"Basic {FULL}", FULL])
def test_a_request_without_a_token_is_refused(tokens: Access, header: str | None) -> None:
    with pytest.raises(Unauthenticated, match="has no token"):
        tokens.grant(header)


@pytest.mark.parametrize("token", [FULL[:-1], FULL + "1", FULL.upper(), "ü" * 20])
def test_an_unknown_token_is_refused(tokens: Access, token: str) -> None:
    with pytest.raises(Unauthenticated, match="unknown"):
        tokens.grant(f"Bearer {token}")


def test_tokens_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPRANK_SERVE__TOKENS", f'[{{"token": "{READER}", "corpora": ["docs"]}}]')

    Access(load_settings().serve).grant(f"Bearer {READER}").check("docs")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.8.7", "::1", "localhost"])
def test_a_service_on_loopback_needs_no_token(host: str) -> None:
    check_exposure(host, access())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.7", "example.org", "localhost.example.org"])  # noqa: S104
def test_a_service_that_others_reach_needs_a_token(host: str, tokens: Access) -> None:
    check_exposure(host, tokens)

    with pytest.raises(ConfigurationError, match="HOPRANK_SERVE__TOKEN"):
        check_exposure(host, access())
