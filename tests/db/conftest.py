"""Corpora to make by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import neo4j
import pytest

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.embedded import Address
from tests.plain_corpora import plain_corpus


@pytest.fixture(scope="session")
def create(client: Client) -> Callable[..., Corpus]:
    """Make a corpus of that name, of a model that none has; the caller has it dropped."""

    def make(name: str, fingerprint: str = "model@1/8") -> Corpus:
        return plain_corpus(client, name, dimension=8, fingerprint=fingerprint)

    return make


@pytest.fixture
def underway(address: Address) -> Callable[[str], AbstractContextManager[None]]:
    """Have somebody run a query, who isn't done, and undoes it, when the context ends."""

    @contextmanager
    def run(text: str) -> Iterator[None]:
        with (
            neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver,
            driver.session(database=address.database) as session,
            session.begin_transaction() as transaction,
        ):
            transaction.run(text).consume()
            yield
            transaction.rollback()

    return run
