"""Store single notes of a vault in its corpus, decided while nobody else writes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pipeline.db.catalogue import check_extractor, check_fingerprint, find_corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.domains.vault.graph import StoredNote, read_graph
from pipeline.domains.vault.vault import Vault
from pipeline.flows.ingest import ingest_documents, make_chunker, prepare, write_generation
from pipeline.ingest.embed import vectors_of
from pipeline.ingest.entities.extractors import extractor_fingerprint
from pipeline.ingest.update.changes import Changes, detect_changes
from pipeline.ingest.update.stored import stored_documents
from pipeline.ingest.update.write_session import WriteSession, writing
from pipeline.progress import Progress
from pipeline.records import Document

Decide = Callable[[Mapping[str, StoredNote]], Sequence[Document]]
"""A function that returns the documents to store, given the notes that the vault has, by key."""

_WAIT_SECONDS = 30.0
"""Actions of several agents wait for each other at least this long: each takes about a second."""


def store_notes(vault: Vault, decide: Decide) -> None:
    """Store the documents that ``decide`` returns; the vault's other notes stay, and a missing vault is made.

    ``decide`` sees the notes that are there when the documents are written, whatever other agents and syncs do: its
    checks hold. Raises what it raises, and then writes nothing; FingerprintError, Busy, ServerLost.
    """
    hoprank = vault.hoprank
    corpus = find_corpus(hoprank.client, vault.name)
    if corpus is None:
        ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, decide({}), vault.name)
        return
    wait = max(hoprank.settings.ingest.wait, _WAIT_SECONDS)
    with writing(CorpusHandle(hoprank.client, corpus), wait) as session:
        documents = decide(read_graph(session.corpus).notes)
        with detect_changes(documents, stored_documents(session.corpus), Progress()) as changes:
            if changes.changed:
                _write(vault, session, changes)


def _write(vault: Vault, session: WriteSession, changes: Changes) -> None:
    hoprank, corpus, progress = vault.hoprank, session.corpus, Progress()
    embedder, settings = hoprank.embedder, hoprank.settings
    chunker, fingerprint = make_chunker(embedder, settings), corpus.record.fingerprint
    check_fingerprint(corpus.record, embedder.fingerprint_beside(fingerprint), chunker.fingerprint)
    check_extractor(corpus.record, extractor_fingerprint(settings.link))
    write_generation(
        session,
        prepare(embedder, chunker, corpus, changes, progress),
        changes.stored,
        (),
        settings.link.kept_by(corpus.record.links),
        lambda texts: vectors_of(hoprank.client, embedder, fingerprint, texts, lambda _: None),
        progress,
    )
