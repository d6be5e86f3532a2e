"""Index projects: files of each path -> its corpus, and the description of the project from its own files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.api import HopRank
from pipeline.code.manifests import is_manifest, read_manifest
from pipeline.db.catalogue import find_corpus
from pipeline.domains.routing.learn.files import text_of
from pipeline.domains.routing.learn.usage import refresh
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Project
from pipeline.errors import Busy, InputError, ServerError, SourceError
from pipeline.flows import maintain
from pipeline.flows.ingest import sync
from pipeline.ingest.sources import read
from pipeline.progress import Progress
from pipeline.records import BlockKind, Document
from pipeline.settings import Settings
from pipeline.text.prose import prose

_LONGEST_SUMMARY = 400  # characters, chosen by hand: about 100 tokens of the 256 that the default model embeds

_FEWEST_WORDS = 5
"""Words of a paragraph that says something: badges, titles and menus have fewer. Chosen by hand."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_MARKS = re.compile(r"[*`\[\]]|^>+ ?|(?<!\w)_|_(?!\w)", re.MULTILINE)
_READMES = ("readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme")
_NO_PACKAGES = {"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "scripts", "tools", "build"}


@dataclass(frozen=True, slots=True)
class Indexed:
    """The outcome of indexing a project: counts of documents, or the ``problem`` that prevented it.

    ``changed`` counts new and changed documents, ``skipped`` files that can't be read.
    """

    project: str
    corpus: str
    documents: int = 0
    chunks: int = 0
    changed: int = 0
    removed: int = 0
    skipped: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a project by its files; empty fields if they say nothing."""

    summary: str = ""
    aliases: tuple[str, ...] = ()


def index(
    hoprank: HopRank,
    graph: ProjectGraph,
    projects: Sequence[str] | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> list[Indexed]:
    """Sync the corpora of projects with the files in their paths, source code too; return an outcome for each.

    By default all projects that have a path. One that can't be indexed is returned with its problem. Only changed files
    are chunked and embedded; ``force`` drops the corpora first. A project is marked as indexed as soon as it is, so a
    stopped run keeps what is complete. Learned weights are brought up to date, since judgements decay. Raises
    GraphError if a project is unknown.
    """
    known = {project.id: project for project in graph.list_nodes()}
    for name in projects or ():
        if name not in known:
            raise graph.unknown(name)
    chosen = [known[name] for name in dict.fromkeys(projects or ())] or [one for one in known.values() if one.path]
    settings = hoprank.settings
    code = settings.model_copy(update={"sources": settings.sources.model_copy(update={"code": True})})
    progress = progress or Progress()
    done = [_index(hoprank, graph, project, code, progress.of(project.id), force=force) for project in chosen]
    refresh(graph, datetime.now(UTC))
    return done


def _index(
    hoprank: HopRank, graph: ProjectGraph, project: Project, settings: Settings, progress: Progress, *, force: bool
) -> Indexed:
    try:
        if not project.path:
            raise SourceError(f"The project {project.id!r} has no path.", "Give it one in the registry.")
        if not Path(project.path).exists():
            raise SourceError(f"{project.path} doesn't exist.", f"Mend the path of {project.id!r} in the registry.")
        if force and find_corpus(hoprank.client, project.corpus):
            maintain.drop(hoprank.client, project.corpus)
        synced = sync(hoprank.client, hoprank.embedder, settings, [project.path], project.corpus, progress=progress)
    except ServerError:
        raise
    except (InputError, Busy) as error:
        return Indexed(project.id, project.corpus, problem=str(error))
    found = describe(Path(project.path))
    graph.mark_indexed(project.id, found.summary, found.aliases)
    plan, done = synced.plan, synced.done
    return Indexed(
        project.id,
        project.corpus,
        documents=done.documents if done else 0,
        chunks=done.chunks if done else 0,
        changed=len(plan.added) + len(plan.changed) + len(plan.renamed),
        removed=len(plan.removed),
        skipped=len(plan.skipped),
    )


def describe(folder: Path) -> Description:
    """Return the description of the project in a folder; an empty one of a file.

    The summary is that of a manifest at the top, else the first paragraph of the README. The aliases are the packages
    that the manifests declare, and the Python packages at the top and in ``src``.
    """
    if not folder.is_dir():
        return Description()
    texts = ((path.name, text_of(path)) for path in _children(folder) if is_manifest(path.name))
    manifests = [one for name, text in texts if text and (one := read_manifest(name, text))]
    summary = next((one.description for one in manifests if one.description), "") or _first_paragraph(folder)
    summary = " ".join(summary.split())
    if len(summary) > _LONGEST_SUMMARY:
        summary = summary[:_LONGEST_SUMMARY].rpartition(" ")[0] + "…"
    packages = (
        path.name
        for path in (*_children(folder), *_children(folder / "src"))
        if path.name not in _NO_PACKAGES and (path / "__init__.py").is_file()
    )
    return Description(summary, tuple(dict.fromkeys([*(one.name for one in manifests if one.name), *packages])))


def _first_paragraph(folder: Path) -> str:
    """Return the first paragraph of the README that has enough words, as prose on one line."""
    by_name = {path.name.lower(): path for path in _children(folder) if path.is_file()}
    readme = next((by_name[name] for name in _READMES if name in by_name), None)
    if readme is None:
        return ""
    try:
        documents = [one for one in read([str(readme)]) if isinstance(one, Document)]
    except SourceError:
        return ""
    for document in documents:
        text = prose(document.text)
        for block in document.blocks:
            paragraph = " ".join(_MARKS.sub("", text[block.start : block.end]).split())
            if block.kind is BlockKind.PARAGRAPH and len(_WORD.findall(paragraph)) >= _FEWEST_WORDS:
                return re.sub(r" (?=[.,;:!?])", "", paragraph)
    return ""


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
