"""Evaluate routing: on a queryset over registered projects, or on a folder that brings its own."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pipeline.api import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.domains.routing.api import Projects
from pipeline.domains.routing.compare import RoutingReport, compare
from pipeline.domains.routing.index import describe
from pipeline.domains.routing.learn.proposals import accept, propose
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.querysets import RoutingQuerySet, read_folder, read_queryset
from pipeline.domains.routing.schema import REFERENCE, Project
from pipeline.domains.routing.settings import RoutingSettings
from pipeline.errors import GraphError, QuerySetError
from pipeline.flows.evaluate import temporary
from pipeline.flows.ingest import sync_documents
from pipeline.grouping import grouped
from pipeline.ingest.sources import read
from pipeline.ingest.update.stored import stored_documents
from pipeline.progress import Progress
from pipeline.records import Document

_PART = 0.2
"""Share of a project's source files in a language from which on it is one of the project's domains. Chosen by hand."""


def evaluate(
    hoprank: HopRank, path: Path, *, graph: str | None = None, keep: str | None = None, progress: Progress | None = None
) -> RoutingReport:
    """Measure routing on a queryset over the projects of ``graph``, or on a folder; see :func:`compare`.

    The projects of a folder get a graph and corpora of their own, dropped afterwards; with ``keep`` they stay under
    this name and are reused. Raises QuerySetError, GraphError.
    """
    progress = progress or Progress()
    if not path.is_dir():
        return _compare(hoprank, Projects(hoprank, graph), read_queryset(path), progress)
    queryset, project_of = read_folder(path)
    with temporary(hoprank.client, keep) as name:
        register(hoprank, path / "corpus.jsonl", project_of, name, progress)
        return _compare(hoprank, Projects(hoprank, name), queryset, progress)


def _compare(hoprank: HopRank, projects: Projects, queryset: RoutingQuerySet, progress: Progress) -> RoutingReport:
    """Measure a queryset; raises QuerySetError if no expected project has a document that answers a query."""
    report = compare(projects, queryset, progress)
    corpora = {one.id: one.corpus for one in projects.graph.list_nodes()}
    for name in dict.fromkeys(name for query in queryset.queries for name in query.projects):
        keys = {key for query in queryset.queries for of, key in query.documents if of in ("", name)}
        corpus = find_corpus(hoprank.client, corpora[name])
        if corpus and not keys.isdisjoint(stored_documents(CorpusHandle(hoprank.client, corpus))):
            return report
    raise QuerySetError(
        f"queryset {queryset.name!r}: no expected project has any of the documents that answer its queries",
        "Index the projects that it was written for: hoprank route index.",
    )


def register(
    hoprank: HopRank, corpus: Path, project_of: Mapping[str, str], name: str, progress: Progress
) -> ProjectGraph:
    """Make a graph hold the projects of a corpus.jsonl, and a corpus for each its documents.

    Everything in the graph comes from the documents: domains (languages), descriptions, and the proposed relations of
    at least ``routing.auto_accept``. Raises GraphError if the graph holds other projects.
    """
    items = read([str(corpus)], limits=hoprank.settings.sources.limits)
    documents = grouped((project_of[item.key], item) for item in items if isinstance(item, Document))
    graph = ProjectGraph.open(hoprank, name)
    for one in graph.list_nodes():
        if one.id not in documents or one.corpus != f"{name}/{one.id}":
            raise GraphError(
                f"The graph {name!r} holds the project {one.id!r}, which isn't of the folder.",
                "Give --keep a name that no other projects have.",
            )
    with TemporaryDirectory() as folder:
        for at, (project, of_project) in enumerate(documents.items()):
            source, corpus_of = f"{corpus}: {project}", f"{name}/{project}"
            sync_documents(
                hoprank.client,
                hoprank.embedder,
                hoprank.settings,
                partial(list, of_project),
                source,
                corpus_of,
                progress=progress,
            )
            _add(graph, Project(project, REFERENCE, str(Path(folder, str(at))), corpus=corpus_of), of_project)
        sure = hoprank.settings.section(RoutingSettings).auto_accept
        accept(graph, propose(graph, least=sure), datetime.now(UTC))
    for node in graph.list_nodes():
        graph.update_node(replace(node, path=""))
    return graph


def _add(graph: ProjectGraph, project: Project, documents: Sequence[Document]) -> None:
    """Add a project with the description that its documents, written as files to its path, give of it."""
    path = Path(project.path)
    _write_files(documents, path)
    counts = Counter(str(document.metadata["language"]) for document in documents if "language" in document.metadata)
    languages = sorted(name for name, count in counts.items() if count >= _PART * counts.total())
    (graph.update_node if graph.get_node(project.id) else graph.add_node)(replace(project, domains=tuple(languages)))
    found = describe(path)
    graph.mark_indexed(project.id, found.summary, found.aliases)


def _write_files(documents: Iterable[Document], folder: Path) -> None:
    """Write documents whose keys are paths, such as ``owner/name:src/main.py``, as files below a new folder.

    A key that isn't the path of a file in the folder is left out, as is one whose path another file blocks.
    """
    folder.mkdir(parents=True)
    for document in documents:
        place = PurePosixPath(document.key.rpartition(":")[2])
        if place.is_absolute() or not place.suffix or ".." in place.parts:
            continue
        with suppress(OSError, ValueError):
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(document.text[document.body_start :], encoding="utf-8")
