"""Files of the project ``patina`` beside four other projects, and what they propose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.domains.routing.learn.clues import Proposal
from pipeline.domains.routing.learn.notes import read_sources
from pipeline.domains.routing.learn.proposals import detect
from pipeline.domains.routing.schema import Project

OTHERS = (
    Project("psf/requests", domains=("http",)),
    Project("pallets/flask", domains=("web",)),
    Project("dojo", aliases=("dojo-core",), domains=("cairo", "ecs")),
    Project("SDL", domains=("c",)),
    Project("tree-sitter"),
)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def detected(
    folder: Path,
    files: dict[str, str],
    notes: Sequence[Path] = (),
    others: Sequence[Project] = OTHERS,
    default: str = "",
) -> dict[tuple[str, str], Proposal]:
    """What is proposed for the project ``patina`` in a folder with these files, by type and target."""
    write(folder, files)
    projects = [Project("patina", path=str(folder)), *others]
    found = detect(projects, read_sources(notes, projects, default))
    return {(one.relation.type, one.relation.target): one for one in found if one.relation.source == "patina"}
