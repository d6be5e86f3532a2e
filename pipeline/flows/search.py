"""Search: question -> candidates -> expansion -> seeds -> walk -> scores -> fusion -> hits."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from neo4j.exceptions import ClientError

from pipeline.db.catalogue import check_model, find_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus, read_whole
from pipeline.embedding.backends import make_reranker
from pipeline.embedding.embedder import Embedder
from pipeline.embedding.everyday import Everyday
from pipeline.embedding.reranker import Reranker
from pipeline.errors import QuestionError, ServerUnsupported, Superseded
from pipeline.records import Fingerprint
from pipeline.retrieve.context import Context, build_context
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.filters.parse import parse_filter
from pipeline.retrieve.hydrate import hydrate
from pipeline.retrieve.legs import Leg, LegRow, Needs, leg_named
from pipeline.retrieve.lru import SharedCache
from pipeline.retrieve.passage_relations import read_relations
from pipeline.retrieve.question import check_question, check_vector, fulltext_terms, remarks
from pipeline.retrieve.rankers.gds_walk import GdsWalk
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.results import RetrieverResult, unknown
from pipeline.retrieve.scoring.relevance import check_relevance
from pipeline.retrieve.steps import choose_seeds, engine_for, find_candidates, rank, score, walk
from pipeline.retrieve.trace import RankingTrace
from pipeline.retrieve.window import Expand, expand_named, read_windows
from pipeline.settings import Settings
from pipeline.telemetry import Attributes, of_model, span, stage

_Result = TypeVar("_Result")


class Retriever:
    """Searches one corpus. Thread-safe.

    ``corpus`` may be older than the visible generation; each search reads the one that its first query finds. ``reads``
    tells whether the model behind ``embed_query`` can read a question; see :class:`~pipeline.embedding.Embedder`.
    ``everyday`` and ``reranker`` are those of :class:`~pipeline.retrieve.reader.CorpusReader`. ``planned`` is set once
    the server was asked to plan the query of questions, whose text is the same for all corpora.

    Raises ServerUnsupported if GDS is to walk and the server has none, ConfigurationError on unknown features.
    """

    def __init__(
        self,
        corpus: CorpusHandle,
        embed_query: Callable[[str], Sequence[float]],
        settings: Settings,
        reads: Callable[[str], bool] = lambda _: True,
        everyday: Everyday | None = None,
        reranker: Reranker | None = None,
        planned: threading.Event | None = None,
    ) -> None:
        if settings.walk.engine == "gds" and not corpus.client.has_gds:
            raise ServerUnsupported(
                f"walk.engine is gds, and {corpus.client.address.uri} has no Graph Data Science, or several readers.",
                "Set walk.engine to auto or local; on a single server, install the GDS plugin and allow gds.*.",
            )
        self.corpus = corpus
        self.reranker = reranker
        self._reader = CorpusReader(corpus, settings, everyday, reranker)
        self._settings = settings
        self._embed_query, self._reads = embed_query, reads
        self._planned = planned or threading.Event()

    def search(
        self,
        query_text: str | None = None,
        query_vector: Sequence[float] | None = None,
        top_k: int = 10,
        *,
        filters: Mapping[str, Any] | None = None,
        leg: Leg | str = Leg.WHOLE,
        explain: bool = False,
        min_relevance: float | None = None,
    ) -> RetrieverResult:
        """Return the ``top_k`` best passages for a question; none if every leg is empty.

        ``query_vector`` replaces the embedding of the text; without a text only legs that use the vector find anything.
        ``filters`` restricts the chunks (:mod:`pipeline.retrieve.filters.parse`). ``leg`` ranks instead of the fused
        whole. ``explain`` adds to each hit the path that led to it, and what speaks for it. Hits of a lower relevance
        than ``min_relevance``, by default that of the settings, are dropped; those whose relevance can't be told stay.

        A longer question than is read is used as far as that, which the metadata says (``warnings``); so it does if the
        corpus seems to know nothing about it.

        Raises QuestionError for an empty question, an impossible vector, an unknown leg, a ``top_k`` under 1, or a
        ``min_relevance`` that isn't from 0 to 1; FilterError for malformed filters; Superseded if the corpus is
        replaced meanwhile.
        """
        return self._found(query_text, query_vector, top_k, filters, leg, min_relevance, explain=explain)[1]

    def _found(
        self,
        query_text: str | None,
        query_vector: Sequence[float] | None,
        top_k: int,
        filters: Mapping[str, Any] | None,
        leg: Leg | str = Leg.WHOLE,
        min_relevance: float | None = None,
        *,
        explain: bool = False,
    ) -> tuple[RankingTrace, RetrieverResult]:
        """Search as :meth:`search`; return the trace, which has the generation, too."""
        if top_k < 1:
            raise QuestionError(f"top_k is {top_k}.", "Ask for 1 passage or more.")
        least = self._settings.retrieve.min_relevance if min_relevance is None else check_relevance(min_relevance)
        if query_vector is not None:
            check_vector(query_vector, self.corpus.record.dimension)
        with remarks() as warnings:
            question = check_question(query_text or "") if query_vector is None or query_text else ""
        row = leg_named(leg)
        answer = partial(self._answered, question, row, query_vector, filters, top_k, explain=explain)
        with span(f"retrieval {self.corpus.name}", self._told(row, top_k)):
            try:
                trace, result = answer()
            except Superseded:
                if filters is None:
                    raise
                # The matches that are known of the filter may be of the generation before.
                self._reader.filters.forget()
                trace, result = answer()
        warnings += unknown(result.metadata, self._settings.retrieve.known_relevance)
        return trace, result.above(least).warned(warnings)

    def _told(self, leg: LegRow, top_k: int) -> Attributes:
        """Return what a trace says of a search, by the conventions for generative AI where they have a name."""
        return {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.provider.name": "hoprank",
            "gen_ai.data_source.id": self.corpus.name,
            "gen_ai.retrieval.top_k": top_k,
            "hoprank.leg": leg.value,
        }

    def _answered(
        self,
        question: str,
        leg: LegRow,
        vector: Sequence[float] | None,
        filters: Mapping[str, Any] | None,
        top_k: int,
        *,
        explain: bool,
    ) -> tuple[RankingTrace, RetrieverResult]:
        """Return the ranking and its hits, of one generation; raises Superseded if another is visible by now."""
        matches = self.match(filters) if filters is not None else None
        trace = self.rank(question, leg, vector, matches)
        if matches is not None and matches.generation != trace.generation:
            raise self.corpus.superseded()
        result = self.hydrate(trace, top_k, explain=explain)
        if not result.items:
            # The hits of others have told that their generation was still visible.
            self.corpus.at(trace.generation).check_visible()
        return trace, result

    def rank(
        self,
        question: str,
        leg: LegRow = Leg.WHOLE,
        vector: Sequence[float] | None = None,
        matches: Matches | None = None,
    ) -> RankingTrace:
        """Rank chunks for a checked question, step by step as far as the leg needs.

        ``vector`` replaces the embedding of the text; without one, a question that the model can't read is ranked by
        its words alone. Each leg contributes at most ``retrieve.candidates`` chunks. With ``matches`` only these are
        ranked, and no walk passes through others.
        """
        reader = self._reader
        if vector is None:
            vector = self._vector(question, leg)
        trace = RankingTrace(question, vector, matches)
        if leg.needs >= Needs.CANDIDATES:
            # The expansion around the candidates comes in the same round trip.
            with stage("find candidates"):
                trace = find_candidates(reader, trace, leg.needs)
        if leg.needs >= Needs.SEEDS:
            with stage("choose seeds"):
                trace = choose_seeds(trace, self._settings.weights.names, self._settings.walk)
        if leg.needs >= Needs.SCORES:
            with stage("walk"):
                trace = walk(reader, trace)
            with stage("score"):
                trace = score(reader, trace)
        # The function of the leg: the whole fuses hybrid and the scores.
        with stage("rank"):
            return rank(reader, trace, leg)

    def hydrate(self, trace: RankingTrace, top_k: int, *, explain: bool = False) -> RetrieverResult:
        """Return the best ``top_k`` chunks of a ranking as hits."""
        with stage("hydrate"):
            return hydrate(self._reader, trace, top_k, explain=explain)

    def match(self, filters: Mapping[str, Any]) -> Matches:
        """Return the chunks that match a filter; raises FilterError if it is malformed.

        They are of the generation that was visible when the filter was first asked for.
        """
        return self._reader.filters.match(parse_filter(filters))

    def explore(self, question: str) -> RankingTrace:
        """Find the candidates of a checked question, its names, and their expansion, as the whole ranks by them."""
        trace = RankingTrace(question, self._vector(question, Leg.WHOLE))
        return find_candidates(self._reader, trace, Leg.WHOLE.needs)

    def context(
        self,
        question: str,
        count_tokens: Callable[[str], int],
        *,
        tokens: int = 2000,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        expand: Expand | str = Expand.NONE,
        min_relevance: float | None = None,
    ) -> Context:
        """Return the best passages for a question, out of ``top_k``, with at most ``tokens`` tokens, in reading order.

        ``expand`` adds to the best passages what stands around them in their documents, as far as ``filters`` admit it:
        the neighbouring chunks, or the section. It may fill half of the tokens, and what is left at the end.
        ``min_relevance`` is that of :meth:`search`: no hit below it is among the passages. Raises the errors of
        :meth:`search`, and QuestionError if ``tokens`` is under 1 or there is no such expansion.
        """
        if tokens < 1:
            raise QuestionError(f"The budget is {tokens} tokens.", "Allow 1 token or more.")
        expand = expand_named(expand)
        trace, result = self._found(question, None, top_k, filters, min_relevance=min_relevance)
        windows = read_windows(self._reader, result.hits, trace.generation, expand, tokens, trace.matches)
        relations = read_relations(self.corpus.at(trace.generation), [hit.id for hit in result.hits])
        return build_context(question, result, relations, tokens, count_tokens, windows)

    def prepare(self) -> None:
        """Project the visible generation now, if GDS will walk it; else the first questions do without GDS."""
        row = self.corpus.read("corpus_size")[0]
        if engine_for(self._reader, row["chunks"] + row["entities"], alone=True) == "gds":
            GdsWalk(self.corpus, self._settings.walk, self._reader.scale).prepare(row["generation"], row["chunks"])

    def _vector(self, question: str, leg: LegRow) -> Sequence[float]:
        """Return the embedding of a question; none if the leg needs none, or fuses it with words that say more."""
        alone = leg.needs >= Needs.CANDIDATES and not self._reads(question) and fulltext_terms(question)
        return () if alone or leg.needs < Needs.VECTOR else self._embed(question, leg)

    def _embed(self, question: str, leg: LegRow) -> Sequence[float]:
        """Embed a question. For the first question the server plans its query at the same time.

        On a new server the plan takes seconds, and so does the embedding until the model has left its ONNX. Later an
        embedding takes less time than a plan, which an index that is made or dropped costs: to plan beside it spares
        nothing, and to warm up costs a search.
        """
        if self._planned.is_set() or leg.needs < Needs.CANDIDATES:
            return self._encoded(question)
        self._planned.set()

        def warm_up() -> None:
            # A fault of the server or the corpus will be reported for the question itself.
            with suppress(Exception):
                trace = RankingTrace("A question with Names", [1.0] * self.corpus.record.dimension)
                find_candidates(self._reader, trace, Needs.SEEDS)

        thread = threading.Thread(target=warm_up, name="hoprank-warm-up", daemon=True)
        thread.start()
        vector = self._encoded(question)
        # Not after an error: somebody who interrupts the loading of a model shouldn't wait for a plan.
        thread.join()
        return vector

    def _encoded(self, question: str) -> Sequence[float]:
        model = Fingerprint.of(self.corpus.record.fingerprint).model.partition("@")[0]
        with stage("embed question", f"embeddings {model}", of_model("embeddings", model)):
            return self._embed_query(question)


class Retrievers:
    """Caches the retrievers of the ``retrieve.open_corpora`` corpora that were used last, by name. Thread-safe.

    They share one reranker. A name refers to another corpus after its corpus was dropped, renamed or made anew. Each
    search sees this by its first query, whose row has the corpus's name.
    """

    def __init__(self, client: Client, embedder: Embedder, settings: Settings) -> None:
        self._client = client
        self._embedder = embedder
        self._settings = settings
        self._by_name: SharedCache[str, Retriever] = SharedCache(settings.retrieve.open_corpora)
        self._reranker = make_reranker(settings)
        self._planned = threading.Event()
        self._everyday = Everyday(embedder, settings.data_home)

    def current(self, name: str) -> Retriever:
        """Return the retriever of the corpus that has this name now.

        Raises CorpusError if there is none, FingerprintError if another model embedded it.
        """
        self._drop_if_replaced(self._kept(name), name)
        return self._kept(name)

    def call(self, name: str, call: Callable[[Retriever], _Result]) -> _Result:
        """Call a function with the retriever of the corpus that has this name now, and return its result.

        It is called again if the corpus, or its generation, was replaced meanwhile; Superseded is raised if that goes
        on without an end.
        """

        def read() -> _Result:
            retriever = self._kept(name)
            try:
                return call(retriever)
            except (ClientError, Superseded) as error:
                # The indexes of a corpus that is dropped go while a question reads them.
                if self._drop_if_replaced(retriever, name) and isinstance(error, ClientError):
                    raise retriever.corpus.superseded() from error
                raise

        return read_whole(read)

    def _kept(self, name: str) -> Retriever:
        def opened() -> Retriever:
            corpus = open_corpus(self._client, name)
            check_model(corpus.record, self._embedder.identity)
            embedder = self._embedder
            return Retriever(
                corpus,
                embedder.embed_query,
                self._settings,
                embedder.reads,
                self._everyday,
                self._reranker,
                self._planned,
            )

        return self._by_name.get(name, opened)

    def _drop_if_replaced(self, retriever: Retriever, name: str) -> bool:
        """Return whether ``name`` now refers to another corpus, to none, or to the same with texts; drop the retriever.

        One that was opened before the first ingest of its corpus knows of no full-text index.
        """
        corpus, known = find_corpus(self._client, name), retriever.corpus.record
        if corpus is not None and (corpus.id, corpus.slot) == (known.id, known.slot):
            return False
        self._by_name.drop(name, retriever)
        return True
