"""Stage documents and their chunks in batches, each while the next is prepared."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.db.background_writer import BackgroundWriter
from pipeline.ids import document_id
from pipeline.ingest.embed import PreparedChunk, PreparedDocument
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.write_session import WriteSession
from pipeline.progress import Progress


@dataclass(frozen=True, slots=True)
class StagedDocuments:
    """Staged documents: all titles by key, and the node properties of documents that replace stored ones."""

    titles: dict[str, str]
    replacing: list[dict[str, Any]]

    def ids(self, corpus_id: str) -> set[str]:
        """Return the ids of the documents."""
        return {document_id(corpus_id, key) for key in self.titles}


def stage(
    session: WriteSession,
    batches: Iterable[Sequence[PreparedDocument]],
    stored: Collection[str],
    chunks: Spool[PreparedChunk],
    progress: Progress,
) -> StagedDocuments:
    """Write each batch in the background while the next is prepared; append the chunks to ``chunks``.

    ``stored`` holds the keys of the corpus's documents.
    """
    staged = StagedDocuments({}, [])
    with BackgroundWriter() as background:
        for batch in batches:
            in_batch = [chunk for prepared in batch for chunk in prepared.chunks]
            background.submit(session.stage_documents, batch)
            background.submit(session.stage_chunks, in_batch)
            chunks.append(in_batch)
            for prepared in batch:
                document = prepared.document
                staged.titles[document.key] = document.title
                # A crashed run may have staged an earlier version of the document.
                if document.key in stored or session.corpus.record.staging is not None:
                    staged.replacing.append(session.document_row(prepared))
        with progress.stage("load chunks"):
            background.wait()
    return staged
