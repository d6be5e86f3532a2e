"""Detect relations between projects by all detectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.domains.routing.learn.commands import history_clues, script_clues
from pipeline.domains.routing.learn.evidence import Clue, proposals_of
from pipeline.domains.routing.learn.files import project_files
from pipeline.domains.routing.learn.imports import use_clues
from pipeline.domains.routing.learn.mentions import learning_clues
from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.learn.notes import Sources
from pipeline.domains.routing.learn.overlap import siblings
from pipeline.domains.routing.learn.records import Proposal
from pipeline.domains.routing.records import Project
from pipeline.domains.routing.schema import RelationType


def detect(
    projects: Sequence[Project], sources: Sources, done: Callable[[int], None] = lambda _: None
) -> list[Proposal]:
    """Return the relations that files, notes and domains speak for: the most probable first, then by projects.

    ``done`` is called for each project whose files were read. A project without a path, or whose folder is gone, is
    proposed as a target alone.
    """
    names = ProjectNames(projects)
    tests = history_clues(sources.notes, names)
    found = siblings(projects)
    found += _of_all(learning_clues(sources.notes, names), RelationType.LEARNS_FROM, "mentions")
    for project in projects:
        files = list(project_files(Path(project.path))) if project.path else []
        found += proposals_of(project.id, RelationType.USES, use_clues(project.id, files, names), "imports")
        commands = [*script_clues(project.id, files, names), *tests.get(project.id, ())]
        found += proposals_of(project.id, RelationType.TESTS_WITH, commands, "commands")
        done(1)
    return sorted(found, key=_order)


def _of_all(clues: Mapping[str, Sequence[Clue]], kind: RelationType, detector: str) -> Iterator[Proposal]:
    for source, found in clues.items():
        yield from proposals_of(source, kind, found, detector)


def _order(proposal: Proposal) -> tuple[float, str, str, str]:
    relation = proposal.relation
    return -proposal.confidence, relation.source, relation.target, relation.type
