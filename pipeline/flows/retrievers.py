"""The retrievers of a connection: one for each corpus that was searched last, replaced when the corpus is."""

from collections.abc import Callable

from neo4j.exceptions import ClientError

from pipeline.db.catalogue import check_model, find_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import open_corpus
from pipeline.embedding.embedder import Embedder
from pipeline.flows.search import Retriever
from pipeline.retrieve.lru import SharedCache
from pipeline.retrieve.results import RetrieverResult
from pipeline.settings import Settings


class Retrievers:
    """Caches the retrievers of the ``retrieve.open_corpora`` corpora that were used last, by name. Thread-safe.

    A name refers to another corpus after its corpus was dropped, renamed or made anew.
    """

    def __init__(self, client: Client, embedder: Embedder, settings: Settings) -> None:
        self._client = client
        self._embedder = embedder
        self._settings = settings
        self._by_name: SharedCache[str, Retriever] = SharedCache(settings.retrieve.open_corpora)

    def current(self, name: str) -> Retriever:
        """Return the retriever of the corpus that has this name now.

        Raises CorpusError if there is none, FingerprintError if another model embedded it.
        """
        retriever = self._kept(name)
        return self._kept(name) if self._drop_if_replaced(retriever, name) else retriever

    def search(self, name: str, search: Callable[[Retriever], RetrieverResult]) -> RetrieverResult:
        """Search with the cached retriever; if its corpus was replaced, drop it and search again with a new one.

        Looking up the corpus first would cost every search a round trip. A search in a dropped corpus fails, because
        its indexes are gone, or finds nothing; only then is the corpus looked up.
        """
        retriever = self._kept(name)
        try:
            result = search(retriever)
        except ClientError:
            if not self._drop_if_replaced(retriever, name):
                raise
        else:
            if result.items or not self._drop_if_replaced(retriever, name):
                return result
        return search(self._kept(name))

    def _kept(self, name: str) -> Retriever:
        return self._by_name.get(name, lambda: self._open(name))

    def _open(self, name: str) -> Retriever:
        corpus = open_corpus(self._client, name)
        check_model(corpus.record, self._embedder.identity)
        return Retriever(corpus, self._embedder.embed_query, self._settings)

    def _drop_if_replaced(self, retriever: Retriever, name: str) -> bool:
        """Return whether ``name`` now refers to another corpus or to none; if so, drop the retriever."""
        corpus = find_corpus(self._client, name)
        if corpus is not None and corpus.id == retriever.corpus.id:
            return False
        self._by_name.drop(name, retriever)
        return True
