"""Corpora and their documents."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor

from pipeline.db.catalogue import Corpus, list_corpora
from pipeline.flows import maintain
from pipeline.flows.questions import Judgement
from pipeline.ingest.update.changes import Outcome
from pipeline.serve.http import models
from pipeline.serve.http.state import Granted, Service


class _KeyConvertor(PathConvertor):
    regex = "(?s:.*)"  # that of paths ends at a line break


register_url_convertor("key", _KeyConvertor())
router = APIRouter(prefix="/v1/corpora", tags=["corpora"])

_BYTES = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

Name = Annotated[str, Path(description="Name of the corpus.", examples=["docs"])]
Key = Annotated[str, Path(description="Key of the document: its path, or its .jsonl id.", examples=["guide/start.md"])]


@router.get("")
async def corpora(service: Service, grant: Granted) -> list[models.CorpusModel]:
    """List the corpora that the token opens, by name."""
    found = await service.gate.run(list_corpora, service.connection.client)
    return [_model(corpus) for corpus in found if grant.opens(corpus.name)]


@router.get("/{corpus}")
async def corpus_stats(corpus: Name, service: Service, grant: Granted) -> models.CorpusStats:
    """Return what a corpus holds, who writes to it, and its most mentioned entities."""
    grant.check(corpus)
    stats = await service.gate.run(maintain.stats, service.connection.client, corpus)
    return models.CorpusStats(
        **_model(stats.corpus).model_dump(),
        **{name: getattr(stats, name) for name in ("created_at", "writer", "writer_since")},
        top=[models.Mentioned(name=name, mentions=mentions) for name, mentions in stats.top],
    )


@router.get("/{corpus}/degrees", response_model=models.DegreePlot)
async def degrees(corpus: Name, service: Service, grant: Granted) -> dict[str, object]:
    """Return the distribution of the chunks' degrees, by type of edge."""
    grant.check(corpus)
    found = await service.gate.run(maintain.degrees, service.connection.client, corpus)
    counts = {kind: [{"degree": degree, "chunks": chunks} for degree, chunks in pairs] for kind, pairs in found.items()}
    return {"degrees": counts}


@router.get("/{corpus}/examples")
async def examples(corpus: Name, service: Service, grant: Granted) -> models.ExampleQuestions:
    """Return some questions to ask a corpus, the same each time: those kept with it, or about its names and titles."""
    grant.check(corpus)
    return models.ExampleQuestions(questions=await service.gate.run(service.connection.examples, corpus))


@router.get("/{corpus}/judgements", response_model=list[models.JudgementModel])
async def judgements(
    corpus: Name,
    service: Service,
    grant: Granted,
    question: Annotated[str | None, Query(description="Only of the hits of this question.")] = None,
) -> list[Judgement]:
    """Return what was said of the hits of a corpus: whether documents answer questions."""
    grant.check(corpus)
    return await service.gate.run(service.connection.judgements, corpus, question)


@router.put("/{corpus}/judgements", status_code=204)
async def judge(corpus: Name, body: models.JudgementBody, service: Service, grant: Granted) -> Response:
    """Keep whether a document answers a question; `hoprank corpus judgements` writes all as a queryset."""
    grant.check(corpus, write=True)
    service.check_question(body.question)
    await service.gate.run(service.connection.judge, body.question, body.document, body.relevance, corpus)
    return Response(status_code=204)


@router.delete("/{corpus}", status_code=204)
async def drop_corpus(corpus: Name, service: Service, grant: Granted) -> Response:
    """Delete a corpus with its documents, chunks, entities and indexes. There is no way back."""
    grant.check(corpus, write=True)
    await service.gate.run(maintain.drop, service.connection.client, corpus)
    return Response(status_code=204)


@router.get("/{corpus}/documents", response_model=models.DocumentPage)
async def documents(
    corpus: Name,
    service: Service,
    grant: Granted,
    prefix: Annotated[str, Query(description="The beginning of the keys.")] = "",
    after: Annotated[str, Query(description="The last key of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, object]:
    """List the documents of a corpus, in the order of their keys."""
    grant.check(corpus)
    entries = await service.gate.run(service.connection.documents, corpus, prefix=prefix, after=after, limit=limit)
    return {"documents": entries, "next": entries[-1].key if len(entries) == limit else None}


@router.get("/{corpus}/documents/{key:key}", response_model=models.DocumentModel)
async def document(corpus: Name, key: Key, service: Service, grant: Granted) -> dict[str, object]:
    """Return a document with its text."""
    grant.check(corpus)
    return (await service.gate.run(service.connection.document, key, corpus)).to_json()


@router.put("/{corpus}/documents/{key:key}", response_model=models.IngestSummaryModel)
async def put_document(
    corpus: Name, key: Key, body: models.DocumentBody, service: Service, grant: Granted
) -> dict[str, object]:
    """Add or update a document, and make the corpus if it is missing; when this returns, searches find it."""
    grant.check(corpus, write=True)
    return (await service.gate.run(service.connection.add, [{"id": key, **body.model_dump()}], corpus)).to_json()


@router.put("/{corpus}/files/{key:key}", response_model=models.IngestSummaryModel, openapi_extra=_BYTES)
async def put_file(corpus: Name, key: Key, request: Request, service: Service, grant: Granted) -> dict[str, object]:
    """Add or update the document that a file is; the suffix of its key tells the format (.md, .pdf, .docx, ...)."""
    grant.check(corpus, write=True)
    return (await service.gate.run(service.connection.add_file, key, await request.body(), corpus)).to_json()


@router.delete("/{corpus}/documents/{key:key}")
async def delete_document(corpus: Name, key: Key, service: Service, grant: Granted) -> Outcome:
    """Delete a document from a corpus."""
    grant.check(corpus, write=True)
    return await service.gate.run(service.connection.delete, [key], corpus)


def _model(corpus: Corpus) -> models.CorpusModel:
    names = ("name", "documents", "chunks", "entities", "edges", "generation", "fingerprint")
    values = {name: getattr(corpus, name) for name in names}
    return models.CorpusModel(**values, filterable=list(corpus.filterable), writing=corpus.staging is not None)
