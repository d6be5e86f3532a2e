"""What is done to a corpus as a whole: statistics, another name, out to a file and back, another model or layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.db.catalogue import LONGEST_NAME, Corpus, check_name, check_schema, drop_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.indexes import vector_index_name
from pipeline.db.lease import lease
from pipeline.db.projections import drop_projections
from pipeline.embedding.embedder import Embedder
from pipeline.errors import CorpusError
from pipeline.ingest.embed import vectors_of
from pipeline.ingest.entities.extractors import extractor_fingerprint
from pipeline.progress import Progress
from pipeline.records import Vector
from pipeline.settings import Settings
from pipeline.transfer.export import export
from pipeline.transfer.formats import Format
from pipeline.transfer.lines import read_lines
from pipeline.transfer.portable import Part, portable
from pipeline.transfer.restore import Means, restore

_TOP = 10


@dataclass(frozen=True, slots=True)
class Stats:
    """What there is to say of a corpus; ``top`` are the entities that most chunks mention, with how many do."""

    corpus: Corpus
    created_at: str
    writer: str | None
    writer_since: str | None
    top: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return them as plain JSON values."""
        return asdict(self)


def stats(client: Client, name: str) -> Stats:
    """Return the statistics of a corpus; raises CorpusError if there is none."""
    corpus = get_corpus(client, name)
    facts = client.read("corpus_facts", corpus=corpus.id)[0]
    rows = client.read("top_entities", corpus=corpus.id, generation=corpus.generation, limit=_TOP)
    top = tuple((row["name"], row["mentions"]) for row in rows)
    return Stats(corpus, facts["created_at"], facts["writer"], facts["writer_since"], top)


def drop(client: Client, corpus_name: str) -> None:
    """Delete a corpus with all that it holds; raises CorpusError if there is none, Busy if somebody writes to it."""
    corpus = get_corpus(client, corpus_name)
    with lease(client, corpus):
        drop_corpus(client, corpus)
        # Last, for until then a reader could have made one.
        drop_projections(client, corpus)


def rename(client: Client, name: str, other: str) -> None:
    """Give a corpus another name; raises CorpusError if that is taken, Busy if somebody writes to the corpus."""
    check_name(other)
    corpus = get_corpus(client, name)
    with lease(client, corpus) as (corpus, writer):
        if not client.write("rename_corpus", corpus=corpus.id, writer=writer, name=other):
            raise CorpusError(f"There is a corpus {other!r} already.", "Choose another name.")


def export_corpus(
    client: Client, name: str, path: Path, form: Format | None = None, *, embeddings: bool = True, progress: Progress
) -> None:
    """Write a corpus to a file, or for Parquet to a folder; the format is told by the suffix if it isn't given.

    Raises CorpusError if there is none, SourceError if the place can't be written to.
    """
    corpus = get_corpus(client, name)
    check_schema(corpus)
    with progress.stage("export") as done:
        export(portable(client, corpus, embeddings=embeddings), path, form or Format.of(path), done)


def import_corpus(
    client: Client, embedder: Embedder, path: Path, name: str | None = None, *, progress: Progress
) -> Corpus:
    """Make the corpus again that was exported to ``path`` as JSON lines, under its name or another; return it.

    Vectors that were left out are made by the embedder. Raises SourceError, CorpusError.
    """
    with progress.stage("import") as done:
        return restore(client, _checked(read_lines(path), embedder), name, Means(_embed(client, embedder), done))


def reembed(client: Client, embedder: Embedder, settings: Settings, name: str, *, progress: Progress) -> Corpus:
    """Embed a corpus with another model, beside the one that is searched meanwhile; then switch, and drop the old.

    Chunks stay as they were cut. Raises CorpusError if the model is the one that it has, Busy if somebody writes to it.
    """
    corpus = get_corpus(client, name)
    if corpus.fingerprint == embedder.fingerprint:
        raise CorpusError(
            f"The corpus {name!r} is embedded with {embedder.fingerprint} already.", "Give another --model."
        )
    head = {"fingerprint": embedder.fingerprint, "dimension": embedder.dimension}
    return _rebuild(client, corpus, _embed(client, embedder), settings, head, progress)


def migrate(client: Client, settings: Settings, name: str, *, progress: Progress) -> Corpus:
    """Bring a corpus that an older version made to the present layout, beside the one that is searched meanwhile.

    Vectors are kept. One that is as it should be is returned as it is.
    """
    corpus = get_corpus(client, name)
    try:
        check_schema(corpus)
    except CorpusError:
        return _rebuild(client, corpus, lambda _: {}, settings, {}, progress)
    return corpus


def _rebuild(
    client: Client,
    corpus: Corpus,
    embed: Callable[[Mapping[str, str]], Mapping[str, Vector]],
    settings: Settings,
    head: Mapping[str, Any],
    progress: Progress,
) -> Corpus:
    """Make a corpus anew from its documents and chunks, and let it take the other's place."""
    beside = f"{corpus.name[: LONGEST_NAME - 30]} (rebuilt from {corpus.id})"
    with lease(client, corpus, settings.ingest.wait) as (corpus, writer):
        with progress.stage("rebuild") as done:
            extractor = {"extractor": extractor_fingerprint(settings.link)}
            parts = _texts(portable(client, corpus, embeddings="fingerprint" not in head), {**head, **extractor})
            successor = restore(client, parts, beside, Means(embed, done, settings.link))
        client.write("switch_corpus", corpus=corpus.id, writer=writer, successor=successor.id)
        drop_corpus(client, corpus)
        drop_projections(client, corpus)
    return get_corpus(client, corpus.name)


def _texts(parts: Iterator[Part], head: Mapping[str, Any]) -> Iterator[Part]:
    for part in parts:
        if part.kind == "corpus":
            yield Part("corpus", {**part.value, **head})
        elif part.kind in ("document", "chunk"):
            yield part
        else:
            return


def _checked(parts: Iterator[Part], embedder: Embedder) -> Iterator[Part]:
    for part in parts:
        if (
            part.kind == "corpus"
            and not part.value.get("embeddings")
            and part.value["fingerprint"] != embedder.fingerprint
        ):
            raise CorpusError(
                f"The export lacks its vectors, by {part.value['fingerprint']}, not by {embedder.fingerprint}.",
                "Give --model, or export it with its vectors.",
            )
        yield part


def _embed(client: Client, embedder: Embedder) -> Callable[[Mapping[str, str]], Mapping[str, Vector]]:
    vector_index = vector_index_name(embedder.fingerprint)
    return lambda texts: vectors_of(client, embedder, vector_index, texts, lambda _: None)
