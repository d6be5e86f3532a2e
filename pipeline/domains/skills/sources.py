"""Read SKILL.md files with their front matter."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.files import Limits, Unreadable, content_of, decode
from pipeline.files.guard import name_in_utf_8
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.source import parser_errors
from pipeline.ingest.sources.walk import SourceFile, find
from pipeline.records import Skipped, Warned

SKILL_FILE = "SKILL.md"
_FOLDED = SKILL_FILE.casefold()
_TITLE = re.compile(r"^# +(.+?) *#*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """A parsed SKILL.md. ``id`` is the name, with the folder appended if several skills have the name.

    ``path`` is the skill's folder, relative to the folder that was read. ``dependencies`` are as written. ``warnings``
    say what is wrong with the front matter.
    """

    id: str
    name: str
    path: str
    title: str
    description: str
    version: str
    tags: Sequence[str]
    dependencies: Sequence[str]
    text: str
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Requirement:
    """A resolved dependency: a skill's id, a package's key, or neither if it is missing; ``text`` is as written.

    ``assumed`` marks a package that is one only by the majority of the other dependencies.
    """

    text: str
    skill: str | None = None
    package: str | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """Counts of a built graph (``edges`` by type, ``missing`` dependencies), and the skipped files with reasons.

    ``embedded`` is the number of descriptions that were embedded, ``written`` that of nodes and edges that were added,
    changed or removed.
    """

    skills: int
    packages: int
    folders: int
    edges: Mapping[str, int]
    missing: int
    skipped: Sequence[Skipped]
    embedded: int
    written: int
    warnings: Sequence[Warned] = ()


def read_skills(folder: Path, limits: Limits) -> tuple[list[Skill], list[Skipped]]:
    """Return the skills in a folder, at any depth, ordered by path, and the skipped files with their reasons.

    A file may be called ``skill.md`` too, in any letter case. Links to folders are followed.

    Raises SourceError if the folder doesn't exist or holds no readable SKILL.md.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder} is no folder.", "Give a folder that holds skills, each a folder with a SKILL.md.")
    skills: list[Skill] = []
    skipped: list[Skipped] = []
    for item in find(str(folder), within=limits.within):
        path = Path(item.source if isinstance(item, Skipped) else item.path)
        if isinstance(item, Skipped) and (path.name.casefold() == _FOLDED or path.is_dir() or not path.suffix):
            skipped.append(Skipped(_key(path, folder), item.reason))
        elif isinstance(item, SourceFile) and path.name.casefold() == _FOLDED:
            try:
                with parser_errors("Markdown"):
                    skills.append(_read(path, folder, limits))
            except Unreadable as error:
                skipped.append(Skipped(_key(path, folder), error.message))
    skills.sort(key=lambda skill: skill.path)
    if not skills:
        reason = f" {skipped[0].source} {skipped[0].reason}." if skipped else ""
        raise SourceError(f"{folder} holds no skill that can be read.{reason}", "A skill is a folder with a SKILL.md.")
    names = Counter(skill.name for skill in skills)
    return [
        replace(skill, id=f"{skill.name} ({skill.path})") if names[skill.name] > 1 else skill for skill in skills
    ], skipped


def _key(path: Path, folder: Path) -> str:
    return name_in_utf_8(path.relative_to(folder).as_posix())


def _read(path: Path, folder: Path, limits: Limits) -> Skill:
    split = split_front_matter(decode(content_of(path, limits)))
    front, text = split.mapping, split.text
    inner = front.get("metadata")
    # The specification puts name and description at the top level; many collections nest the rest under "metadata".
    fields = {**(inner if isinstance(inner, Mapping) else {}), **front}
    if fault := next((fault for fault in split.faults if fault.name == "name"), None):
        raise Unreadable(f"has malformed front matter (line {fault.line}: 'name': {fault.problem})", "Quote the name.")
    name = _text(fields.get("name"))
    if not name:
        raise Unreadable("has no name in its front matter", "Begin it with ---, name: ..., description: ..., ---.")
    title = _TITLE.search(text)
    return Skill(
        id=name,
        name=name,
        path=_key(path.parent, folder),
        title=title[1] if title else name,
        description=_text(fields.get("description")),
        version=_text(fields.get("version")),
        tags=tuple(dict.fromkeys(_listed(fields.get("tags")))),
        dependencies=tuple(dict.fromkeys(_listed(fields.get("dependencies")))),
        text=text,
        warnings=split.warnings,
    )


def _text(value: object) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) and value is not True else ""


def _listed(value: object) -> Iterable[str]:
    """Return the texts of a list, of a mapping of lists (nested at will), or of a comma-separated string."""
    match value:
        case str():
            yield from filter(None, (part.strip() for part in value.split(",")))
        case Mapping():
            for part in value.values():
                yield from _listed(part)
        case list():
            for part in value:
                yield from filter(None, [_text(part)]) if not isinstance(part, Mapping) else _listed(part)
