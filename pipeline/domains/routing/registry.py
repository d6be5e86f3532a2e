"""Read a registry: a YAML file that names projects and references, and relations between them.

::

    projects:
      patina: {path: ~/code/patina, domains: [rust, tools], summary: Context for agents.}
    references:
      dojo: {path: ../dojo, domains: [cairo], aliases: [dojo-core], was: dojo-engine}
    relations:
      - {from: patina, type: TESTS_WITH, to: dojo, evidence: benchmark subject}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.domains.routing.project_graph import domain_id, relation_id
from pipeline.domains.routing.schema import PROJECT, REFERENCE, Project, Relation, RelationType
from pipeline.errors import GraphError, SourceError, did_you_mean

_KINDS = {"projects": PROJECT, "references": REFERENCE, "repos": REFERENCE}
_RELATIONS = "relations"
_LONGEST = 10_000_000
"""Characters of a registry: a larger file is something else."""

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Entry:
    """A project as a registry states it; ``stated`` are the fields that it gives, and ``was`` its id before."""

    project: Project
    stated: frozenset[str]
    was: str = ""


@dataclass(frozen=True, slots=True)
class Registry:
    """The projects and relations that a file states. Domains are relations too."""

    path: Path
    entries: tuple[Entry, ...]
    relations: tuple[Relation, ...]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
_Names = Annotated[list[_Name], BeforeValidator(_listed)]


class _Fields(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Project(_Fields):
    """The fields of a project in the file."""

    path: str = Field(default="", min_length=1)
    domains: _Names = []
    summary: str = ""
    aliases: _Names = []
    corpus: _Name = ""
    importance: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    was: _Name = ""


class _Relation(_Fields):
    """The fields of a relation in the file."""

    source: _Name = Field(alias="from")
    type: str
    target: _Name = Field(alias="to")
    weight: float = Field(default=1.0, gt=0, le=1)
    evidence: str = ""


def read_registry(path: Path) -> Registry:
    """Return the projects and relations of a file; relative paths in it are relative to the file.

    Raises SourceError naming the file, the entry and the fix. A path that doesn't exist is no error here.
    """
    return _Reader(path).read()


class _Reader:
    """Reads one file, and names it in errors."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Registry:
        document = self._document()
        entries = tuple(self._entries(document))
        if not entries:
            raise self._error(
                "", "names no project", "Write projects: and references: into it, each with an id and a path."
            )
        self._check_names(entries)
        domains = [
            Relation(entry.project.id, domain_id(name), RelationType.DOMAIN)
            for entry in entries
            for name in entry.project.domains
        ]
        stated = self._relations(document, {entry.project.id for entry in entries})
        by_id = {relation_id(one.source, one.target, one.type): one for one in (*domains, *stated)}
        return Registry(self._path, entries, tuple(by_id.values()))

    def _document(self) -> Mapping[str, Any]:
        try:
            document = _load(self._text())
        except yaml.MarkedYAMLError as error:
            place = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
            raise self._error("", f"isn't YAML: {error.problem or 'malformed'}{place}", "Mend the line.") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise self._error("", f"isn't YAML: {str(error)[:200] or 'nested too deeply'}", "Mend the file.") from None
        if not isinstance(document, dict):
            raise self._error("", "isn't a mapping", "Begin it with projects: or references:.")
        for key in document:
            if key not in (*_KINDS, _RELATIONS):
                known = (*_KINDS, _RELATIONS)
                raise self._error(str(key), "is unknown", did_you_mean(str(key), known, f"Use {', '.join(known)}."))
        return document

    def _text(self) -> str:
        try:
            text = self._path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it isn't UTF-8"
            raise self._error("", f"can't be read ({reason})", "Check the path of the registry.") from None
        if len(text) > _LONGEST:
            raise self._error("", f"has {len(text):,} characters", f"A registry has {_LONGEST:,} at most.")
        return text

    def _entries(self, document: Mapping[str, Any]) -> Iterator[Entry]:
        for section, kind in _KINDS.items():
            for name, fields in self._named(section, document.get(section)):
                yield self._entry(name, kind, f"{section}.{name}", {} if fields is None else fields)

    def _named(self, section: str, entries: Any) -> Iterator[tuple[str, Any]]:
        """Yield the entries of a mapping from ids, or of a list of mappings with an id."""
        if isinstance(entries, list):
            for number, fields in enumerate(entries, 1):
                if not isinstance(fields, dict) or "id" not in fields:
                    raise self._error(f"{section}, entry {number}", "has no id", "Write it as {id: NAME, path: ...}.")
                rest = {name: value for name, value in fields.items() if name != "id"}
                yield self._id(section, fields["id"]), rest
        elif isinstance(entries, dict):
            for name, fields in entries.items():
                yield self._id(section, name), fields
        elif entries is not None:
            raise self._error(section, f"is {entries!r:.50}", "Make it a mapping from ids to their fields.")

    def _id(self, section: str, name: object) -> str:
        if not isinstance(name, str) or not name.strip() or name.startswith(domain_id("")):
            raise self._error(f"{section}.{name}", "can't be an id", "Give a text; put a number in quotes.")
        return name

    def _entry(self, name: str, kind: str, where: str, fields: Any) -> Entry:
        values = self._validated(_Project, fields, where)
        project = Project(
            id=name,
            kind=kind,
            path=str(self._path.absolute().parent / Path(values.path).expanduser()) if values.path else "",
            domains=tuple(dict.fromkeys(values.domains)),
            summary=" ".join(values.summary.split()),
            aliases=tuple(dict.fromkeys(values.aliases)),
            corpus=values.corpus or name,
            importance=values.importance,
        )
        return Entry(project, frozenset(values.model_fields_set), values.was)

    def _check_names(self, entries: Sequence[Entry]) -> None:
        ids = {entry.project.id for entry in entries}
        seen: dict[tuple[str, str], str] = {}
        for entry in entries:
            name = entry.project.id
            if entry.was in ids:
                raise self._error(name, f"was {entry.was!r}, which is an entry itself", "Remove one of the two.")
            for unique in (("id", name), ("corpus", entry.project.corpus), ("was", entry.was)):
                if unique in seen and unique[1]:
                    raise self._error(
                        f"{seen[unique]} and {name}",
                        f"have the same {unique[0]} {unique[1]!r}",
                        "Give each entry its own.",
                    )
                seen[unique] = name

    def _relations(self, document: Mapping[str, Any], known: set[str]) -> list[Relation]:
        items = document.get(_RELATIONS) or []
        if not isinstance(items, list):
            raise self._error(_RELATIONS, "isn't a list", "Write a list of {from: A, type: USES, to: B}.")
        relations: dict[str, Relation] = {}
        for number, fields in enumerate(items, 1):
            where = f"{_RELATIONS}, entry {number}"
            relation = self._relation(self._validated(_Relation, fields, where), where, known)
            key = relation_id(relation.source, relation.target, relation.type)
            if key in relations:
                raise self._error(where, "is there already", "State each relation once.")
            relations[key] = relation
        return list(relations.values())

    def _relation(self, stated: _Relation, where: str, known: set[str]) -> Relation:
        try:
            kind = RelationType.parse(stated.type)
        except GraphError as error:
            raise self._error(where, f"has the type {stated.type!r}", error.fix) from None
        is_domain = kind is RelationType.DOMAIN
        for end in (stated.source, *([] if is_domain else [stated.target])):
            if end not in known:
                raise self._error(
                    where, f"names the unknown project {end!r}", did_you_mean(end, known, "Add its entry.")
                )
        if stated.source == stated.target:
            raise self._error(where, f"relates {stated.source!r} to itself", "Relate two projects.")
        target = domain_id(stated.target) if is_domain else stated.target
        return Relation(stated.source, target, kind, stated.weight, evidence=stated.evidence)

    def _validated(self, model: type[_Model], fields: Any, where: str) -> _Model:
        try:
            return model.model_validate(fields)
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join([where, *map(str, fault["loc"])])
            known = [field.alias or name for name, field in model.model_fields.items()]
            if fault["type"] == "extra_forbidden":
                fix = did_you_mean(str(fault["loc"][-1]), known, f"Use {', '.join(known)}.")
                raise self._error(place, "is unknown", fix) from None
            found = "" if fault["type"] == "missing" else f" is {fault['input']!r:.50}:"
            raise self._error(
                place, f"{found} {fault['msg'].lower()}".strip(), f"Fields: {', '.join(known)}."
            ) from None

    def _error(self, entry: str, problem: str, fix: str) -> SourceError:
        return SourceError(f"{self._path}: {f'{entry} ' if entry else ''}{problem}.", fix)


def _load(text: str) -> Any:
    """Return the value of a YAML document; raises YAMLError, also for aliases and for a key that is there twice."""
    if "*" in text:  # with aliases a few lines can expand to gigabytes
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                mark: Any = event.start_mark  # of either of two types, of which an error's stubs know one
                raise yaml.MarkedYAMLError(problem="it has an alias (*name)", problem_mark=mark)
    node = yaml.compose(text, yaml.SafeLoader)
    if node is not None:
        _refuse_repeated(node)
    return yaml.safe_load(text)


def _refuse_repeated(node: yaml.Node) -> None:
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value!r} is there twice", problem_mark=key.start_mark)
                seen.add(key.value)
            _refuse_repeated(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_repeated(value)
