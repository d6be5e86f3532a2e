"""Querysets of routing: a JSON file over an existing registry, or a folder that brings its documents."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import check_documents
from pipeline.evaluate.datasets.dataset import named
from pipeline.evaluate.datasets.folder import number_as_text
from pipeline.evaluate.harness import read_judged
from pipeline.files import Guard, lines, read_json
from pipeline.files.validated import validated
from pipeline.retrieve.question import as_asked
from pipeline.text.prose import counted

_GUARD = Guard(
    QuerySetError,
    'Write {"queries": [{"id": ..., "query": ..., "source_project": ..., "expected_repos": [...],'
    ' "expected_docs": [...], "derivation": ...}]}; source_project and derivation may be absent.',
    mend=True,
)


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Query(_Model):
    id: Annotated[str, BeforeValidator(number_as_text), Field(min_length=1)]
    query: Annotated[str, BeforeValidator(number_as_text)]
    source_project: str = ""
    expected_repos: list[str] = Field(min_length=1)
    expected_docs: list[str] = Field(min_length=1)
    derivation: str = ""


class _QuerySet(_Model):
    name: str = ""
    queries: list[_Query] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class RoutingQuery:
    """A question of a project, ``source`` (empty if none asks), with the projects and documents that answer it.

    ``documents`` are pairs of a project and the key of a document in its corpus, at least one; a pair without a project
    stands for the document of this key in any of the expected ``projects``. ``derivation`` says where the question is
    from.
    """

    id: str
    text: str
    source: str
    projects: tuple[str, ...]
    documents: frozenset[tuple[str, str]]
    derivation: str = ""

    def judged(self, project: str, key: str) -> tuple[str, str]:
        """Return the expected document that matches a document of a project; the document itself if none does."""
        anywhere = ("", key)
        return anywhere if project in self.projects and anywhere in self.documents else (project, key)


@dataclass(frozen=True, slots=True)
class RoutingQuerySet:
    """The queries of an evaluation, in the order of their file; ``remarks`` say what of the files isn't used."""

    name: str
    queries: tuple[RoutingQuery, ...]
    remarks: tuple[str, ...] = ()


def read_queryset(path: Path) -> RoutingQuerySet:
    """Read a queryset over projects that are registered.

    An expected document is ``project:key``, or a key that counts in each of the expected projects. A query without a
    text is left out with a remark. Raises QuerySetError that names the file and the fault.
    """
    found = validated(_QuerySet, read_json(path, _GUARD), path, _GUARD)
    repeated = next((name for name, count in Counter(query.id for query in found.queries).items() if count > 1), "")
    if repeated:
        raise QuerySetError(f"{path}: the query id {repeated!r} was used before", "Give every query its own id.")
    queries = (
        RoutingQuery(
            query.id,
            query.query,
            query.source_project,
            tuple(dict.fromkeys(query.expected_repos)),
            frozenset(_document(name, query.expected_repos) for name in query.expected_docs),
            query.derivation,
        )
        for query in found.queries
        if as_asked(query.query)
    )
    blank = [query.id for query in found.queries if not as_asked(query.query)]
    if len(blank) == len(found.queries):
        raise _GUARD.fault(path, f"has the `queries.0.query` {found.queries[0].query!r:.80}, and none with a text")
    return RoutingQuerySet(found.name or path.stem, tuple(queries), _left_out(blank, "without a text"))


def _left_out(ids: Sequence[str], what: str) -> tuple[str, ...]:
    number = counted(len(ids), "query", "queries")
    return (f"{number} {what} can't be asked ({named(ids)}).",) if ids else ()


def read_folder(folder: Path) -> tuple[RoutingQuerySet, Mapping[str, str]]:
    """Read a folder of corpus.jsonl, queries.jsonl and qrels.tsv whose documents and queries name their ``repo``.

    Returns the queryset and the project of each document, by its id. A query's projects are its ``repo`` or ``repos``,
    else those of its relevant documents; its ``source_project`` may be absent. Raises QuerySetError.
    """
    dataset, corpus = read_judged(folder)
    projects = _projects(corpus)
    dataset = check_documents(dataset, projects)
    asked = {_id(record): record for record in (line.object() for line in lines(folder / "queries.jsonl", _GUARD))}
    queries, nowhere = [], list[str]()
    for query in dataset.queries:
        documents = frozenset((projects.get(key, ""), key) for key in query.relevant)
        source = asked[query.id].get("source_project")
        expected = _named(asked[query.id], f"{folder / 'queries.jsonl'}: the query {query.id!r}")
        expected = expected or sorted({project for project, _ in documents if project})
        if not expected:
            nowhere.append(query.id)
            continue
        if unknown := set(expected) - set(projects.values()):
            raise QuerySetError(
                f"{folder}: the query {query.id!r} expects {min(unknown)!r}, which is the repo of no document",
                "Name the repo as the documents do.",
            )
        queries.append(
            RoutingQuery(query.id, query.text, source if isinstance(source, str) else "", tuple(expected), documents)
        )
    remarks = (*dataset.remarks, *_left_out(nowhere, "whose documents aren't in the corpus"))
    return RoutingQuerySet(dataset.name, tuple(queries), remarks), projects


def _projects(corpus: Path) -> dict[str, str]:
    projects = {}
    for line in lines(corpus, _GUARD):
        record = line.object()
        repo, metadata = record.get("repo"), record.get("metadata")
        repo = metadata.get("repo") if repo is None and isinstance(metadata, dict) else repo
        if not isinstance(repo, str) or not repo.strip():
            raise line.fault("names no repo", 'Give each document its project: "repo".')
        projects[_id(record)] = repo
    return projects


def _named(record: Mapping[str, Any], where: str) -> list[str]:
    named = record.get("repos", record.get("expected_repos", record.get("repo")))
    named = [named] if isinstance(named, str) else named
    if named is not None and not (isinstance(named, list) and all(isinstance(name, str) for name in named)):
        raise QuerySetError(f"{where} has a repo that isn't a name: {json.dumps(named):.80}", "Name the project.")
    return named or []


def _document(name: str, projects: Sequence[str]) -> tuple[str, str]:
    project, _, key = name.partition(":")
    return (project, key) if key and project in projects else ("", name)


def _id(record: Mapping[str, object]) -> str:
    return str(record.get("id", record.get("_id")))
