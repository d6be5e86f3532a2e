"""Corpora to make by their names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus, create_corpus


@pytest.fixture(scope="session")
def create(client: Client) -> Callable[..., Corpus]:
    """Make a corpus of that name, of a model that none has; the caller has it dropped."""

    def make(name: str, fingerprint: str = "model@1/8") -> Corpus:
        made_by = {"fingerprint": fingerprint, "chunker": "plain", "extractor": "builtin", "analyzer": "english"}
        return create_corpus(client, name, dimension=8, **made_by)

    return make
