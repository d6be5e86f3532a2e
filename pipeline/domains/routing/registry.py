"""Read a registry: a YAML file that names projects and references, and relations between them.

::

    projects:
      patina: {path: ~/code/patina, domains: [rust, tools], summary: Context for agents.}
    references:
      dojo: {path: ../dojo, domains: [cairo], aliases: [dojo-core], was: dojo-engine}
    relations:
      - {from: patina, type: TESTS_WITH, to: dojo, evidence: benchmark subject}
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pipeline.domains.routing.project_graph import domain_id, relation_id
from pipeline.domains.routing.schema import PROJECT, REFERENCE, Project, Relation, RelationType
from pipeline.errors import GraphError, did_you_mean
from pipeline.files import DEFAULT_LIMITS, Guard
from pipeline.files.validated import validated
from pipeline.files.yaml import read_yaml

_GUARD = Guard(
    fix="Write projects: and references: into it, each a mapping from ids to fields.",
    # A thousand projects: nobody's registry is larger, and PyYAML reads it in some seconds.
    limits=replace(DEFAULT_LIMITS, characters_of_yaml=1_000_000),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A project in a registry; ``stated`` are the fields that its entry has, and ``was`` its former id."""

    project: Project
    stated: frozenset[str]
    was: str = ""


@dataclass(frozen=True, slots=True)
class Registry:
    """The projects and relations in a file. Domains are relations too."""

    path: Path
    entries: tuple[Entry, ...]
    relations: tuple[Relation, ...]


def _pairs(entries: object) -> object:
    """Return the ids and fields of a mapping from ids, or of a list of mappings with an id."""
    if isinstance(entries, list):
        for number, fields in enumerate(entries, 1):
            if not isinstance(fields, dict) or "id" not in fields:
                raise ValueError(f"entry {number} has no id; write it as {{id: NAME, path: ...}}")
        entries = [(fields["id"], {name: fields[name] for name in fields if name != "id"}) for fields in entries]
    elif isinstance(entries, dict):
        entries = list(entries.items())
    elif entries is not None:
        raise ValueError("make it a mapping from ids to their fields")
    for name, _ in entries or ():
        if not isinstance(name, str) or not name.strip() or name.startswith(domain_id("")):
            raise ValueError(f"{name!r} can't be an id; give a text, a number in quotes")
    return [(name, {} if fields is None else fields) for name, fields in entries or ()]


_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
_Names = Annotated[list[_Name], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
_Entries = Annotated[list[tuple[str, Any]], BeforeValidator(_pairs)]


class _Fields(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Document(_Fields):
    projects: _Entries = []
    references: _Entries = []
    repos: _Entries = []
    relations: Annotated[list[Any], BeforeValidator(lambda value: [] if value is None else value)] = []


class _Project(_Fields):
    path: str = Field(default="", min_length=1)
    domains: _Names = []
    summary: str = ""
    aliases: _Names = []
    corpus: _Name = ""
    importance: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    was: _Name = ""


class _Relation(_Fields):
    source: _Name = Field(alias="from")
    type: str
    target: _Name = Field(alias="to")
    weight: float = Field(default=1.0, gt=0, le=1)
    evidence: str = ""


def read_registry(path: Path) -> Registry:
    """Return the projects and relations of a file; relative paths in it are relative to the file.

    Raises SourceError naming the file, the entry and the fix. A path that doesn't exist is no error here.
    """
    document = validated(_Document, read_yaml(path, _GUARD), path, _GUARD)
    sections = {"projects": PROJECT, "references": REFERENCE, "repos": REFERENCE}
    entries = [
        _entry(path, name, kind, f"{path}: {section}.{name}", fields)
        for section, kind in sections.items()
        for name, fields in getattr(document, section)
    ]
    if not entries:
        raise _GUARD.fault(path, "names no project")
    _check_names(path, entries)
    domains = [
        Relation(entry.project.id, domain_id(name), RelationType.DOMAIN)
        for entry in entries
        for name in entry.project.domains
    ]
    relations = {relation_id(one.source, one.target, one.type): one for one in domains}
    relations |= _relations(path, document.relations, {entry.project.id for entry in entries})
    return Registry(path, tuple(entries), tuple(relations.values()))


def _entry(path: Path, name: str, kind: str, place: str, fields: object) -> Entry:
    values = validated(_Project, fields, place, _GUARD)
    project = Project(
        id=name,
        kind=kind,
        path=str(path.absolute().parent / Path(values.path).expanduser()) if values.path else "",
        domains=tuple(dict.fromkeys(values.domains)),
        summary=" ".join(values.summary.split()),
        aliases=tuple(dict.fromkeys(values.aliases)),
        corpus=values.corpus or name,
        importance=values.importance,
    )
    return Entry(project, frozenset(values.model_fields_set), values.was)


def _check_names(path: Path, entries: Sequence[Entry]) -> None:
    ids = {entry.project.id for entry in entries}
    seen: dict[tuple[str, str], str] = {}
    for entry in entries:
        name = entry.project.id
        if entry.was in ids:
            raise _GUARD.fault(
                f"{path}: {name}", f"was {entry.was!r}, which is an entry itself", "Remove one of the two."
            )
        for unique in (("id", name), ("corpus", entry.project.corpus), ("was", entry.was)):
            if unique in seen and unique[1]:
                both = f"{path}: {seen[unique]} and {name}"
                raise _GUARD.fault(both, f"have the same {unique[0]} {unique[1]!r}", "Give each entry its own.")
            seen[unique] = name


def _relations(path: Path, items: Iterable[object], known: set[str]) -> dict[str, Relation]:
    relations: dict[str, Relation] = {}
    for number, fields in enumerate(items, 1):
        place = f"{path}: relations, entry {number}"
        relation = _relation(validated(_Relation, fields, place, _GUARD), place, known)
        if relations.setdefault(relation_id(relation.source, relation.target, relation.type), relation) is not relation:
            raise _GUARD.fault(place, "is there already", "State each relation once.")
    return relations


def _relation(stated: _Relation, place: str, known: set[str]) -> Relation:
    try:
        kind = RelationType.parse(stated.type)
    except GraphError as error:
        raise _GUARD.fault(place, f"has the type {stated.type!r}", error.fix) from None
    is_domain = kind is RelationType.DOMAIN
    for end in [stated.source] if is_domain else [stated.source, stated.target]:
        if end not in known:
            fix = did_you_mean(end, known, "Add its entry.")
            raise _GUARD.fault(place, f"names the unknown project {end!r}", fix)
    if stated.source == stated.target:
        raise _GUARD.fault(place, f"relates {stated.source!r} to itself", "Relate two projects.")
    target = domain_id(stated.target) if is_domain else stated.target
    return Relation(stated.source, target, kind, stated.weight, evidence=stated.evidence)
