"""Maintenance of a whole corpus: statistics, drop, rename, export, import, new vectors or links."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.db.catalogue import (
    LONGEST_NAME,
    Corpus,
    check_kind,
    check_name,
    check_schema,
    drop_corpus,
    find_corpus,
    get_corpus,
)
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.db.lease import lease
from pipeline.db.projections import drop_projections
from pipeline.embedding.embedder import Embedder
from pipeline.errors import CorpusError
from pipeline.ingest.embed import vectors_of
from pipeline.ingest.entities.extract import extractor_fingerprint
from pipeline.ingest.links.threshold import with_threshold
from pipeline.json_values import JsonRecord
from pipeline.progress import Progress
from pipeline.retrieve.filters.parse import declared_fields
from pipeline.settings import LinkSettings, Settings
from pipeline.transfer.formats import Format, Part
from pipeline.transfer.portable import export, exported, portable
from pipeline.transfer.restore import Embed, RestoreOptions, restore

_TOP = 10  # names shown; chosen by hand


@dataclass(frozen=True, slots=True)
class Stats(JsonRecord):
    """Statistics of a corpus. ``writer`` holds the lease, if anyone does.

    ``top`` are the most mentioned entities with their numbers of mentioning chunks.
    """

    corpus: Corpus
    created_at: str
    writer: str | None
    writer_since: str | None
    top: tuple[tuple[str, int], ...]


def stats(client: Client, name: str) -> Stats:
    """Return the statistics of a corpus; raises CorpusError if it doesn't exist."""
    corpus = open_corpus(client, name)
    facts = corpus.read("corpus_facts")[0]
    top = tuple((row["name"], row["mentions"]) for row in corpus.read("top_entities", limit=_TOP))
    return Stats(corpus.record, facts["created_at"], facts["writer"], facts["writer_since"], top)


def degrees(client: Client, name: str) -> dict[str, list[tuple[int, int]]]:
    """Return the distribution of the chunks' degrees: for each type of edge, pairs of a degree and its chunks."""
    counted: dict[str, list[tuple[int, int]]] = {}
    for row in open_corpus(client, name).read("degree_counts"):
        counted.setdefault(row["kind"], []).append((row["degree"], row["chunks"]))
    return counted


def drop(client: Client, corpus_name: str, *, kind: str = "") -> None:
    """Delete a corpus of a domain ``kind``, or of documents, and its contents.

    Raises CorpusError if it doesn't exist or is another domain's, Busy if it has a writer.
    """
    corpus = open_corpus(client, corpus_name)
    check_kind(corpus.record, kind)
    with lease(corpus):
        drop_corpus(client, corpus.record)
        # Last, because a reader can create a projection until the corpus is gone.
        drop_projections(client, corpus.id)


def rename(client: Client, name: str, new_name: str) -> None:
    """Rename a corpus of documents; raises CorpusError if the new name is taken, Busy if the corpus has a writer."""
    check_name(new_name)
    with lease(open_corpus(client, name)) as (corpus, writer):
        check_kind(corpus.record, "")
        if not corpus.write("rename_corpus", writer=writer, name=new_name):
            raise CorpusError(f"There is a corpus {new_name!r} already.", "Choose another name.")


def export_corpus(
    client: Client, name: str, path: Path, form: Format | None = None, *, embeddings: bool = True, progress: Progress
) -> None:
    """Write a corpus to a file, or to a folder for Parquet; the default format follows the suffix of ``path``.

    Raises CorpusError if the corpus doesn't exist, SourceError if ``path`` can't be written, or has an unknown suffix.
    """
    form = form or Format.of(path)
    corpus = open_corpus(client, name)
    check_schema(corpus.record)
    with progress.stage("export") as done:
        export(portable(corpus, embeddings=embeddings), path, form, done)


def import_corpus(
    client: Client, embedder: Embedder, path: Path, name: str | None = None, *, progress: Progress
) -> Corpus:
    """Restore a corpus that was exported as JSON Lines or Parquet, under ``name`` or its own name; return it.

    The embedder makes vectors that the export lacks. Raises SourceError if it can't be read, CorpusError if the
    name is taken or the file lacks vectors of another model.
    """
    with progress.stage("import") as done:
        options = RestoreOptions(_embed(client, embedder), done, file=str(path))
        return restore(client, _checked(exported(path), embedder, path), name, options)


def reembed(client: Client, embedder: Embedder, settings: Settings, name: str, *, progress: Progress) -> Corpus:
    """Embed a corpus with another model, or in another precision; return the new corpus, which replaces the old one.

    Searches use the old corpus until the new one is complete. Chunks keep their boundaries. Raises CorpusError if the
    corpus has this model already, Busy if the corpus has a writer.
    """
    corpus = open_corpus(client, name)
    check_schema(corpus.record)
    if corpus.record.fingerprint == embedder.fingerprint:
        raise CorpusError(
            f"The corpus {name!r} is embedded with {embedder.fingerprint} already.",
            "Give another --model, or set embed.precision.",
        )
    head = {"fingerprint": embedder.fingerprint, "dimension": embedder.dimension}
    # A threshold of another model has no meaning in this one's cosines.
    same = corpus.record.has_vectors_of(embedder.identity)
    kept = {name: value for name, value in corpus.record.links.items() if same or name != "similar_threshold"}
    links = with_threshold(settings, embedder).kept_by(kept)
    return _rebuild(corpus, _embed(client, embedder), links, settings.ingest.wait, head, progress)


def relink(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    name: str,
    *,
    filterable: Sequence[str] | None = None,
    progress: Progress,
) -> Corpus:
    """Link a corpus anew by the present link settings; return the new corpus, which replaces the old one.

    With ``filterable`` it declares these fields of the metadata to filter by instead of its own; empty, it has none.

    Every edge follows from the new settings: similarity links, names, titles and hyperlinks. A threshold of "auto" is
    that of the corpus's model; by another model the corpus keeps the one that it has. Searches use the old
    corpus until the new one is complete. Vectors are kept. A corpus that was linked with these settings is returned
    unchanged. Raises CorpusError if it doesn't exist, Busy if it has a writer.
    """
    corpus = open_corpus(client, name)
    check_schema(corpus.record)
    links = with_threshold(settings, embedder, corpus.record)
    fields = corpus.record.filterable if filterable is None else declared_fields(filterable)
    before = corpus.record.links, corpus.record.extractor, corpus.record.filterable
    if before == (links.of_edges, extractor_fingerprint(links), fields):
        return corpus.record
    return _rebuild(corpus, lambda *_: {}, links, settings.ingest.wait, {"filterable": fields}, progress)


def _rebuild(
    corpus: CorpusHandle, embed: Embed, links: LinkSettings, wait: float, head: Mapping[str, Any], progress: Progress
) -> Corpus:
    """Rebuild a corpus from its documents and chunks with the fields of ``head`` changed, and replace it."""
    temporary_name = f"{corpus.name[: LONGEST_NAME - 30]} (rebuilt from {corpus.id})"
    client = corpus.client
    with lease(corpus, wait) as (corpus, writer):
        # One that was killed between the end of its rebuild and the switch; the corpus may have changed since.
        if (left := find_corpus(client, temporary_name)) and left.generation:
            drop_corpus(client, left)
        with progress.stage("rebuild") as done:
            linked = {"extractor": extractor_fingerprint(links), "links": links.of_edges}
            stored = portable(corpus, embeddings="fingerprint" not in head, imported=True)
            # The corpus, its documents and its chunks come first; the rest follows from them.
            kept = itertools.takewhile(lambda part: part.kind in ("corpus", "document", "chunk"), stored)
            fields = {**head, **linked}
            parts = (Part("corpus", {**part.value, **fields}) if part.kind == "corpus" else part for part in kept)
            successor = restore(client, parts, temporary_name, RestoreOptions(embed, done, links))
        corpus.write("switch_corpus", writer=writer, successor=successor.id)
        drop_corpus(client, corpus.record)
        drop_projections(client, corpus.id)
    return get_corpus(client, corpus.name)


def _checked(parts: Iterator[Part], embedder: Embedder, path: Path) -> Iterator[Part]:
    for part in parts:
        if (
            part.kind == "corpus"
            and not part.value.get("embeddings")
            and part.value["fingerprint"] != embedder.fingerprint_beside(part.value["fingerprint"])
        ):
            raise CorpusError(
                f"{path} lacks its vectors, by {part.value['fingerprint']}, not by {embedder.fingerprint}.",
                "Give --model, or export it with its vectors.",
            )
        yield part


def _embed(client: Client, embedder: Embedder) -> Embed:
    return lambda fingerprint, texts: vectors_of(client, embedder, fingerprint, texts, lambda _: None)
