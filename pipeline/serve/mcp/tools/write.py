"""Tools that write: ingest and forget."""

from typing import Annotated

from pydantic import Field

from pipeline.errors import InputError
from pipeline.serve.folders import allowed_path, confined
from pipeline.serve.mcp.models import Corpus, ForgetResult, Forgotten, GivenDocument, IngestResult
from pipeline.serve.mcp.service import Call
from pipeline.serve.mcp.uris import document_uri, is_document_uri, parse_document_uri

_WOULD = "Nothing was deleted. Call again with dry_run=false to delete these documents; there is no way back."


def ingest(
    call: Call,
    documents: Annotated[list[GivenDocument] | None, Field(description="Texts to add or update.")] = None,
    paths: Annotated[
        list[str] | None,
        Field(description="Files, folders or globs on the server to add or update, below the folders it permits."),
    ] = None,
    corpus: Corpus = "default",
    filterable: Annotated[
        list[str] | None,
        Field(max_length=8, description="Fields of the metadata that a new corpus declares to filter by."),
    ] = None,
) -> IngestResult:
    """Add and update documents; searches find them when this returns."""
    call.grant.check(corpus, write=True)
    if bool(documents) == bool(paths):
        raise InputError("Neither or both of documents and paths were given.", "Give one of them.")
    if paths:
        folders = call.service.folders
        allowed = [allowed_path(path, folders) for path in paths]
        summary = confined(call.hoprank, folders).ingest(*allowed, corpus=corpus, filterable=filterable)
    else:
        objects = [document.model_dump() for document in documents or ()]
        summary = call.hoprank.add(objects, corpus, filterable=filterable)
    return IngestResult.model_validate(summary, from_attributes=True)


def forget(
    call: Call,
    documents: Annotated[
        list[str], Field(min_length=1, max_length=100, description="Ids of search results, or keys of documents.")
    ],
    corpus: Corpus = "default",
    dry_run: Annotated[bool, Field(description="Only say what would be deleted; false deletes it.")] = True,
) -> ForgetResult:
    """Delete documents from a corpus, or say which ones would be."""
    call.grant.check(corpus, write=True)
    keys = list(dict.fromkeys(_key(document, corpus) for document in documents))
    titles = {key: title for key in keys if (title := _title(call, corpus, key)) is not None}
    if titles and not dry_run:
        call.hoprank.delete(titles, corpus)
    return ForgetResult(
        corpus=corpus,
        dry_run=dry_run,
        documents=[Forgotten(id=document_uri(corpus, key), title=title) for key, title in titles.items()],
        unknown=[key for key in keys if key not in titles],
        note=_WOULD if dry_run and titles else f"{0 if dry_run else len(titles)} documents were deleted.",
    )


def _key(document: str, corpus: str) -> str:
    if not is_document_uri(document):
        return document
    named, key = parse_document_uri(document)
    if named != corpus:
        raise InputError(f"{document[:200]!r} is of another corpus than {corpus!r}.", "Give its corpus.")
    return key


def _title(call: Call, corpus: str, key: str) -> str | None:
    """Return the title of a document, None if the corpus lacks it."""
    # The key itself sorts before all longer keys that begin with it.
    listed = call.hoprank.documents(corpus, prefix=key, limit=1)
    return (listed[0].title or key) if listed and listed[0].key == key else None
