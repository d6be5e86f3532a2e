"""The portable form of a corpus: a sequence of parts without internal ids, and its export as a file.

The order is: the corpus, its documents, chunks, entities, counts and edges. Equal corpora give equal parts.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import Corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.errors import SourceError
from pipeline.temporary import replacing
from pipeline.transfer.formats import Format, Part

FORMAT = 1  # of the archive: raised if older readers would misread it


def portable(corpus: CorpusHandle, *, embeddings: bool = True, imported: bool = False) -> Iterator[Part]:
    """Yield the parts of a corpus's visible generation, streamed; ``embeddings=False`` leaves the vectors out.

    With ``imported``, chunks whose vectors came with a file say so. What follows from the vectors of chunks or from
    sentences is left out: the centroids of documents, the vectors of links.
    """
    yield Part("corpus", _head(corpus.record, embeddings=embeddings))
    for row in corpus.stream("export_documents"):
        yield Part("document", _without(row["document"], "id", "corpus", "since", "until", "centroid"))
    for row in corpus.stream("export_chunks", embeddings=embeddings):
        vector = {"embedding": row["vector"].to_native()} if row["vector"] is not None else {}
        came_with_file = {"imported": True} if imported and row["imported"] else {}
        chunk = {name: value for name, value in row["chunk"].items() if value is not None}
        yield Part("chunk", {**dict(row["metadata"]), **chunk, **vector, **came_with_file})
    for row in corpus.stream("export_entities"):
        yield Part("entity", {"key": row["key"], "name": row["name"]})
    for row in corpus.stream("export_counts"):
        # An update that removes the last count of a shard leaves it empty.
        if counts := json.loads(row["counts"]):
            yield Part("counts", {"kind": row["kind"], "shard": row["shard"], "counts": counts})
    for _, rows in groupby(corpus.stream("export_edges"), key=itemgetter("source")):
        yield from sorted(map(_edge, rows), key=lambda part: json.dumps(part.value, sort_keys=True))


def _edge(row: Record) -> Part:
    evidence = _without(row["properties"], "since", "until", "embedding", "embedded")
    return Part("edge", {"kind": row["kind"], "source": row["source"], "target": row["target"], **evidence})


def _head(corpus: Corpus, *, embeddings: bool) -> dict[str, Any]:
    names = ("name", "fingerprint", "dimension", "chunker", "extractor", "analyzer", "documents", "chunks", "entities")
    return {
        "format": FORMAT,
        "schema": corpus.schema_version,
        **{name: getattr(corpus, name) for name in names},
        **({"links": dict(corpus.links)} if corpus.links else {}),
        **({"filterable": list(corpus.filterable)} if corpus.filterable else {}),
        **({"kind": corpus.kind} if corpus.kind else {}),
        "edges": dict(corpus.edges),
        "embeddings": embeddings,
    }


def _without(properties: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in names}


def export(parts: Iterable[Part], path: Path, form: Format, done: Callable[[int], None]) -> None:
    """Write ``parts`` to ``path``; an existing file or table is replaced once everything is written.

    ``done`` receives the number of parts written. Raises SourceError if ``path`` can't be written.
    """
    if form is Format.PARQUET:
        from pipeline.transfer.parquet import write_parquet as write
    elif form is Format.GRAPHML:
        from pipeline.transfer.graphml import write_graphml as write
    else:
        from pipeline.transfer.lines import write_lines as write
    try:
        with replacing(path) as partial:
            write(_counted(parts, done), partial)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"{path} can't be written: {reason}.", "Choose another place.") from error


def exported(path: Path) -> Iterator[Part]:
    """Yield the parts of an export at ``path``: a file of JSON Lines, or a folder of Parquet. Raises SourceError."""
    if path.is_dir():
        from pipeline.transfer.parquet import read_parquet as read
    else:
        from pipeline.transfer.lines import read_lines as read
    yield from read(path)


def _counted(parts: Iterable[Part], done: Callable[[int], None]) -> Iterator[Part]:
    for part in parts:
        yield part
        done(1)
