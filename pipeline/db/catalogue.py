"""The catalogue of corpora and of named graphs: look them up by name; create, check and drop corpora.

:mod:`pipeline.knowledge.catalogue` creates and drops graphs.
"""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pipeline.db.client import Client
from pipeline.db.filterable import check_filterable, check_keeps_digits
from pipeline.db.indexes import CONSTRAINTS, corpus_label, ensure_declared, vector_index_name
from pipeline.db.slots import TextSlot, retire_slot
from pipeline.db.writers import is_stale, named
from pipeline.edges import EdgeKind
from pipeline.errors import (
    Busy,
    CorpusError,
    FingerprintError,
    InputError,
    Superseded,
    UnknownCorpus,
    UnknownGraph,
    did_you_mean,
)
from pipeline.records import Fingerprint

SCHEMA_VERSION = 1
"""Layout of the corpora that this version of HopRank reads and writes."""

LONGEST_NAME = 200
"""Longest name of a corpus or graph, in characters. Chosen by hand."""

GRAPH_SCHEMA_VERSION = 1
"""Layout of the graphs that this version of HopRank reads and writes."""

DEFAULT_NAME = "default"
"""Name of the corpus that is meant where none is named."""

NO_FIELDS = "none"
"""The word in place of fields that declares none."""

DERIVED = "::"
"""Stands in the names of graphs that HopRank derives from another name, such as ``memory::merges``, and in no other."""

_DELETE_BATCH = 10_000  # nodes in a transaction; chosen by hand, not measured


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as stored in the graph. ``id`` never changes; ``generation`` is the visible generation.

    ``staging`` is the generation being written, or left unfinished by a crashed run; else None. ``edges`` holds the
    number of edges of each kind, ``links`` the settings that its edges were made with, by name: see
    :attr:`pipeline.settings.LinkSettings.of_edges`. ``filterable`` are the fields of the metadata
    that it declares to filter by (:mod:`pipeline.db.filterable`). ``kind`` is the domain that alone writes to it and
    drops it, "" for documents. ``slot`` is the place of its texts in a full-text index, None before its first ingest.
    ``chance`` is what :mod:`pipeline.retrieve.chance` has measured: mean, deviation, number of chunks; or empty.
    """

    id: str
    name: str
    schema_version: int
    generation: int
    staging: int | None
    fingerprint: str
    dimension: int
    chunker: str
    extractor: str
    analyzer: str
    links: Mapping[str, Any]
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int]
    filterable: tuple[str, ...] = ()
    kind: str = ""
    slot: TextSlot | None = None
    chance: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        """Label of the corpus's chunks."""
        return corpus_label(self.id)

    @property
    def vector_index(self) -> str:
        """Name of the model's vector index and label of the chunks in it."""
        return vector_index_name(self.fingerprint)

    def has_vectors_of(self, model: Fingerprint) -> bool:
        """Return whether its vectors can be compared with those of this model."""
        return model.is_comparable(Fingerprint.of(self.fingerprint))

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Self:
        """Make a corpus from its node's properties."""
        values: dict[str, Any] = {name: properties.get(name) for name in cls.__slots__}
        values["kind"] = properties.get("kind", "")
        values["filterable"] = tuple(properties.get("filterable", ()))
        values["slot"] = TextSlot.of(properties)
        values["chance"] = tuple(properties.get("chance", ()))
        values["links"] = json.loads(properties.get("links", "{}"))
        values["edges"] = {kind.value: properties.get(f"edges.{kind}", 0) for kind in EdgeKind}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A stored graph. ``version`` counts its changes; ``dimension`` is None until a node has an embedding.

    ``node_labels`` and ``edge_types`` are the labels and relationship types that its types have in Neo4j. ``temporal``
    tells whether any node or edge has an end, or begins later. ``kind`` is the domain that made it, "" if none did.
    ``slot`` is the place of its nodes' texts in a full-text index, None before its first full-text search; the search
    may use it once all are ``filled`` in.
    """

    id: str
    name: str
    created_at: str
    version: int
    dimension: int | None
    schema_version: int = GRAPH_SCHEMA_VERSION
    node_labels: frozenset[str] = frozenset()
    edge_types: frozenset[str] = frozenset()
    temporal: bool = False
    kind: str = ""
    slot: TextSlot | None = None
    filled: bool = False

    @property
    def label(self) -> str:
        """Neo4j label of the nodes."""
        return f"HopRankGraph_{self.id}"

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Self:
        """Return the graph that its node's properties describe."""
        return cls(
            properties["id"],
            properties.get("name") or properties.get("awaited_name") or "",
            properties["created_at"],
            properties["version"],
            properties.get("dimension"),
            properties["schema_version"],
            frozenset(properties.get("node_labels", ())),
            frozenset(properties.get("edge_types", ())),
            properties.get("temporal", False),
            properties.get("kind", ""),
            TextSlot.of(properties),
            properties.get("filled", False),
        )


def list_corpora(client: Client) -> list[Corpus]:
    """Return all corpora, ordered by name."""
    return [Corpus.of(row["corpus"]) for row in client.read("corpora")]


def find_corpus(client: Client, name: str) -> Corpus | None:
    """Return the corpus with this name, or None."""
    rows = client.read("corpus_named", name=name)
    return Corpus.of(rows[0]["corpus"]) if rows else None


def get_corpus(client: Client, name: str, kind: str = "corpus", make: str = "hoprank ingest") -> Corpus:
    """Return the corpus with this name; raises CorpusError, suggesting a similar name, if there is none.

    ``kind`` is what its user calls it, and ``make`` the command that makes one.
    """
    if corpus := find_corpus(client, name):
        return corpus
    names = [existing.name for existing in list_corpora(client)]
    fix = did_you_mean(name, names, _known(names) or f"Make one: {make}.")
    raise UnknownCorpus(f"There is no {kind} {name!r}.", fix)


def corpus_or_only(client: Client, name: str | None, opens: Callable[[str], bool] = lambda _: True) -> str:
    """Return ``name``; without one ``default`` if there is such a corpus, else the only corpus that there is.

    A corpus whose first ingest isn't complete, and one that the caller doesn't open, is none. If there is none, or
    several, it is ``default``, about which any use raises UnknownCorpus with the names of the others.
    """
    if name is not None:
        return name
    names = [corpus.name for corpus in list_corpora(client) if corpus.generation and opens(corpus.name)]
    return names[0] if len(names) == 1 else DEFAULT_NAME


def list_graphs(client: Client) -> list[tuple[NamedGraph, int]]:
    """Return every published graph with its number of nodes, ordered by name."""
    return [(NamedGraph.of(row["graph"]), row["nodes"]) for row in client.read("graphs")]


def find_graph(client: Client, name: str) -> NamedGraph | None:
    """Return the graph of that name, or None."""
    return find_graphs(client, name).get(name)


def find_graphs(client: Client, *names: str) -> dict[str, NamedGraph]:
    """Return those of the graphs of these names that exist, by name."""
    return {row["graph"]["name"]: NamedGraph.of(row["graph"]) for row in client.read("graphs_named", graph_names=names)}


def get_graph(client: Client, name: str) -> NamedGraph:
    """Return the graph of that name; if there is none, raise GraphError with the closest name."""
    if graph := find_graph(client, name):
        return graph
    names = [listed.name for listed, _ in list_graphs(client)]
    fix = did_you_mean(
        name, names, _known(names) or "There is none yet; `hoprank help knowledge` says how one is made."
    )
    raise UnknownGraph(f"There is no graph {name!r}.", fix)


def check_graph(client: Client, graph: NamedGraph, *, unchanged: bool = False) -> None:
    """Raise Superseded if another graph, or none, has the name by now; with ``unchanged`` also if it was written to."""
    current = find_graph(client, graph.name)
    if current is None or current.id != graph.id or (unchanged and current.version != graph.version):
        raise Superseded(f"The graph {graph.name!r} was replaced while it was read.", "Ask again.")


def _known(names: Sequence[str]) -> str:
    return f"Known: {', '.join(names)}." if names else ""


def check_idle(client: Client) -> None:
    """Raise Busy if a live process writes to any corpus, or replaces any graph."""
    for row in client.read("writers"):
        if not is_stale(row["writer"], row["silent"]):
            host, pid = named(row["writer"])
            raise Busy(
                f"Process {pid} on {host} is writing to {row['name']!r}.",
                "Run this again when it is done; or cut it off: `hoprank db stop`.",
            )


def check_name(name: str) -> None:
    """Raise InputError unless ``name`` is valid for a corpus."""
    if not name.strip() or len(name) > LONGEST_NAME or DERIVED in name:
        raise InputError(
            f"A corpus can't be named {name[:50]!r}.", f"Use 1 to {LONGEST_NAME} characters, without {DERIVED!r}."
        )


def derived_name(name: str, part: str) -> str:
    """Return the name of a graph that belongs to the corpus or graph ``name``; no user's name is like it."""
    return f"{name}{DERIVED}{part}"


def check_kind(corpus: Corpus, kind: str) -> None:
    """Raise CorpusError unless the corpus belongs to the domain ``kind``, or with "" to none."""
    if corpus.kind == kind:
        return
    raise CorpusError(
        f"The corpus {corpus.name!r} holds {f'a {corpus.kind}' if corpus.kind else 'documents'},"
        f" not {f'a {kind}' if kind else 'documents'}.",
        f"Give another name{f', or use hoprank {corpus.kind}' if corpus.kind else ''}.",
    )


def create_corpus(
    client: Client,
    name: str,
    *,
    fingerprint: str,
    dimension: int,
    chunker: str,
    extractor: str,
    analyzer: str,
    links: Mapping[str, Any],
    filterable: Sequence[str] = (),
    kind: str = "",
) -> Corpus:
    """Create a corpus; if another process has created one with the same name meanwhile, return that.

    Raises InputError for a wrong name or field to filter by, ConfigurationError if the analyser can't hold the fields.
    """
    check_name(name)
    fields = check_filterable(filterable)
    if fields:
        check_keeps_digits(analyzer)
    properties = {
        "fingerprint": fingerprint,
        "dimension": dimension,
        "chunker": chunker,
        "extractor": extractor,
        "analyzer": analyzer,
        "links": json.dumps(dict(links)),
        "schema_version": SCHEMA_VERSION,
        **({"filterable": list(fields)} if fields else {}),
        **({"kind": kind} if kind else {}),
        **dict.fromkeys(("documents", "chunks", "entities"), 0),
    }
    ensure_declared(client, CONSTRAINTS)
    _finish_drops(client)
    rows = client.write("create_corpus", id=uuid.uuid4().hex[:12], name=name, properties=properties)
    return Corpus.of(rows[0]["corpus"])


def check_model(corpus: Corpus, model: Fingerprint) -> None:
    """Raise FingerprintError unless the corpus's vectors can be compared with those of this model."""
    if not corpus.has_vectors_of(model):
        raise FingerprintError(
            f"The corpus {corpus.name!r} was embedded with {corpus.fingerprint}, not with {model}.",
            "Set embed.model to the one it was made with, ingest into a new corpus, or run hoprank reembed.",
        )


def check_fingerprint(corpus: Corpus, fingerprint: str, chunker: str) -> None:
    """Raise FingerprintError unless vectors of this fingerprint and chunks of this chunker may join the corpus's."""
    made_by, joining = Fingerprint.of(corpus.fingerprint), Fingerprint.of(fingerprint)
    check_model(corpus, joining)
    if made_by != joining:
        raise FingerprintError(
            f"The corpus {corpus.name!r} is embedded in {made_by.precision}, not in {joining.precision}.",
            f"Set embed.precision to auto, or embed the corpus anew: hoprank reembed {corpus.name}.",
        )
    check_schema(corpus)
    if corpus.chunker != chunker:
        raise FingerprintError(
            f"The corpus {corpus.name!r} was chunked by {corpus.chunker}, not by {chunker}.",
            "Set chunk.max_tokens and chunk.overlap as they were, or ingest into a new corpus.",
        )


def check_extractor(corpus: Corpus, extractor: str) -> None:
    """Raise FingerprintError unless the corpus was made with this extractor of names."""
    if corpus.extractor != extractor:
        raise FingerprintError(
            f"The names in the corpus {corpus.name!r} were found by {corpus.extractor}, not by {extractor}.",
            f"Set link.extractor and link.spacy_model as they were, or run hoprank relink {corpus.name}.",
        )


def check_declared(corpus: Corpus, filterable: Sequence[str] | None) -> None:
    """Raise FingerprintError unless the corpus declares exactly these fields to filter by; None asks nothing."""
    if filterable is not None and corpus.filterable != tuple(filterable):
        raise FingerprintError(
            f"The corpus {corpus.name!r} filters by {_fields(corpus.filterable)}, not by {_fields(filterable)}.",
            f"Leave --filterable out to keep its fields, or change them: hoprank relink {corpus.name} --filterable"
            f" {','.join(filterable) or NO_FIELDS}",
        )


def _fields(names: Sequence[str]) -> str:
    return ", ".join(names) or "no declared field"


def check_schema(corpus: Corpus) -> None:
    """Raise FingerprintError unless the corpus has this version's schema."""
    if corpus.schema_version != SCHEMA_VERSION:
        raise FingerprintError(
            f"The corpus {corpus.name!r} is of schema version {corpus.schema_version}, not {SCHEMA_VERSION}.",
            f"Use the HopRank that made it, or drop it and ingest anew: hoprank corpus drop {corpus.name}.",
        )


def drop_corpus(client: Client, corpus: Corpus) -> None:
    """Delete a corpus whose lease the caller holds.

    Readers lose it at once; its nodes follow, in batches. The next creation or drop of any corpus completes an
    interrupted drop.
    """
    client.write("begin_drop", corpus=corpus.id)
    _delete(client, corpus)
    _finish_drops(client)


def _finish_drops(client: Client) -> None:
    for row in client.read("dropped_corpora"):
        properties = row["corpus"]
        # A corpus that another process is deleting right now may lack some of its properties.
        complete = "id" in properties and "fingerprint" in properties
        if complete and ("writer" not in properties or is_stale(properties["writer"])):
            _delete(client, Corpus.of(properties))


def _delete(client: Client, corpus: Corpus) -> None:
    client.delete_in_batches("delete_corpus_part", _DELETE_BATCH, corpus=corpus.id, label=corpus.label)
    retire_slot(client, corpus.id)
    client.write("delete_corpus", corpus=corpus.id)
