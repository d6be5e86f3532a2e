"""Joining Ray: what is missing, unreachable or of another version is named."""

from __future__ import annotations

import sys
from importlib.metadata import version

import pytest

from pipeline.errors import ConfigurationError, ExtraMissing
from pipeline.ingest.distributed.cluster import check_answer, cluster, import_ray
from pipeline.settings import load_settings


def test_the_extra_is_named_where_ray_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(ExtraMissing, match=r"ray.*\n.*--engine ray"):
        import_ray()


@pytest.mark.slow
def test_an_address_that_nothing_answers_at_is_named() -> None:
    settings = load_settings({"ray": {"address": "127.0.0.1:9", "start_timeout": 30}})

    with (
        pytest.raises(ConfigurationError, match=r"can't be joined at 127\.0\.0\.1:9: .*refused"),
        cluster(settings.ray),
    ):
        pass


def test_a_machine_without_hoprank_of_another_version_or_without_the_shards_is_named() -> None:
    own = version("hoprank")
    check_answer("10.0.0.1", own, reads=True, root="/shards")
    for found, reads, words in (
        ("", False, "has no HopRank"),
        ("0.0.1", True, "has HopRank 0.0.1"),
        (own, False, "can't read /shards"),
    ):
        with pytest.raises(ConfigurationError, match=rf"10\.0\.0\.2 {words}"):
            check_answer("10.0.0.2", found, reads=reads, root="/shards")
