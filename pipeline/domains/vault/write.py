"""Create and link notes for agents: as files, or kept in the corpus as Markdown, so that a sync keeps them."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.domains.vault.edits import Edit, create_in, edited, is_begun, note_in, replace_in
from pipeline.domains.vault.fields import front_matter, with_fields
from pipeline.domains.vault.links import NoteResolver, VaultResolver, document_of, folded, names_of, shortest_target
from pipeline.domains.vault.note import AGENT, MADE_BY, Folder, Note, Scope
from pipeline.domains.vault.requests import CreatedNode, CreateKnowledgeNode, LinkedNodes, LinkKnowledgeNodes, NewLink
from pipeline.domains.vault.sources import read_folder, read_note, reread
from pipeline.domains.vault.stored import NoteGraph, OpenVault, read_graph
from pipeline.errors import CorpusError, InputError, SourceError
from pipeline.flows.ingest import Decision, ingest_decided
from pipeline.ids import digest
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.link_targets import wikilink_target
from pipeline.knowledge.clock import now
from pipeline.records import BlockKind, Document
from pipeline.text.outline import heading_text

_Result = TypeVar("_Result")

_SECTION = "Related"  # the heading of the section that holds new links
_WAIT_SECONDS = 30.0  # for other agents, at least: each action takes about a second
_FOLDER = "agents"
_LONGEST_STEM = 100  # characters of a new file's name: file systems take 255 bytes, and a character may have four
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]]+')
_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


def create_note(vault: OpenVault, request: CreateKnowledgeNode, folder: Path | None) -> CreatedNode:
    """Create a note; see :meth:`pipeline.domains.vault.api.Vault.create`."""
    scope = vault.scope
    for name in ("skill", "agent"):
        own, wanted = getattr(scope, name), getattr(request, name)
        if own and wanted not in ("", own):
            raise InputError(f"The {name} is {wanted!r}, but this vault is that of {own!r}.", f"Leave {name} out.")
    owner = Scope(scope.user, request.skill or scope.skill, request.agent or scope.agent)
    files = open_folder(vault, folder)

    def decide(graph: NoteGraph) -> Decision[CreatedNode]:
        stored, notes = graph.notes, dict(graph.notes)
        unstored = {note.key: note for note in files.notes if note.key not in stored}
        note = _composed(request, owner, notes, scope, {*stored})
        # A run that was killed before it stored the note may have left its file, which is the note's then.
        if is_begun(unstored.get(note.key), note):
            del unstored[note.key]
        else:
            note = _composed(request, owner, notes, scope, {*stored, *(other.key for other in files.notes)})
        for other in (*notes.values(), *unstored.values()):
            if scope.holds(other.scope) and folded(request.title) in names_of(other):
                raise CorpusError(
                    f"The note {other.key} is already called {request.title!r}.",
                    "Give another title, or link it: link_knowledge_nodes, hoprank vault link.",
                )
        note = create_in(files, note) if folder else note
        notes[note.key] = note
        resolver, created_resolver = VaultResolver(notes.values(), files.attachments), VaultResolver(notes.values())
        # Links of created notes that led to no note may lead to the new one.
        gained = (
            other.key
            for other in stored.values()
            if any(created_resolver.resolve(target, other.key).key == note.key for target in other.unresolved)
        )
        documents = [document_of(note, resolver)]
        documents += [document_of(other, created_resolver) for other in created_in(graph.corpus, list(gained))]
        return Decision(documents, CreatedNode(**written(note, documents[0], notes, scope)))

    return store(vault, decide)


def link_notes(vault: OpenVault, request: LinkKnowledgeNodes, folder: Path | None) -> LinkedNodes:
    """Link a note to another one; see :meth:`pipeline.domains.vault.api.Vault.link`."""
    start, end = vault.note(request.source), vault.note(request.target)
    if start.key == end.key:
        raise CorpusError(
            f"{request.source!r} and {request.target!r} are the same note, {start.key}.", "Name two notes."
        )
    if folder is None and not start.is_created:
        raise SourceError(
            f"{start.key!r} is a note of the vault's folder: its links are those of its file.",
            "Give the folder too: folder=Path(DIR), or --folder DIR.",
        )
    files = open_folder(vault, folder)

    def decide(graph: NoteGraph) -> Decision[LinkedNodes]:
        stored = graph.notes
        if lost := {start.key, end.key} - stored.keys():
            raise CorpusError(f"The note {min(lost)!r} was removed meanwhile.", "Name another note.")
        is_created, before = stored[start.key].is_created, note_of(graph, start.key, files)
        notes = {**stored, start.key: before}
        resolver = VaultResolver(notes.values(), files.attachments)
        ends = {"source": start.key, "target": end.key, "relation": request.relation}
        if _has_link(before, end.key, request.relation, resolver):
            # The corpus lacks the link of a file that a run wrote which was killed before it stored the note.
            known = is_created or _leads(graph, start.key, end.key, request.relation)
            documents = [] if known else [document_of(before, resolver)]
            return Decision(documents, LinkedNodes(**ends, created=not known, path=before.path))
        text = edited(before.text, [_appended(before, _link_line(request, notes[end.key], before.key, resolver))])
        after = reread(before, text) if before.path else dated(reread(before, text))
        if not _has_link(after, end.key, request.relation, resolver):
            raise SourceError(f"A link at the end of {before.key!r} would be none.", "Close the code or comment there.")
        if folder:
            after = create_in(files, after) if is_created else replace_in(files, before, after)
        notes[start.key] = after
        document = document_of(after, VaultResolver(notes.values(), files.attachments))
        return Decision([document], LinkedNodes(**ends, created=True, path=after.path))

    return store(vault, decide)


def written(note: Note, document: Document, notes: Mapping[str, Note], scope: Scope) -> dict[str, Any]:
    """Return the fields of the result of writing a note: what it is now, and where its links lead in the scope."""
    keys = dict.fromkeys(link.target.removeprefix("/") for link in document.links)
    return {
        "key": note.key,
        "title": note.title,
        "description": note.description,
        "type": note.type,
        "links": tuple(key for key in keys if key in notes and scope.holds(notes[key].scope)),
        "unresolved": document.metadata.get("unresolved", ()),
        "version": digest(document.text),
        "path": note.path,
    }


def store(vault: OpenVault, decide: Callable[[NoteGraph], Decision[_Result]]) -> _Result:
    """Store what ``decide`` returns for the vault's notes and links, and return its result.

    A missing vault is made. Nobody else writes to the vault between the decision and the write, so its checks still
    hold. Raises what ``decide`` raises, and then writes nothing; FingerprintError, Busy, ServerLost.
    """
    hoprank = vault.hoprank
    _, result = ingest_decided(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        lambda corpus: decide(read_graph(corpus)),
        vault.name,
        wait=max(hoprank.settings.ingest.wait, _WAIT_SECONDS),
    )
    return result


def note_of(graph: NoteGraph, key: str, files: Folder) -> Note:
    """Return a stored note with its text: that of its file, or of the corpus if an agent created it beside them."""
    stored = graph.notes[key]
    return created_in(graph.corpus, [key])[0] if stored.is_created else note_in(files, stored)


def _composed(
    request: CreateKnowledgeNode, owner: Scope, notes: Mapping[str, Note], seen: Scope, taken: set[str]
) -> Note:
    """Return the new note as it is kept in the corpus; raises CorpusError if none or several notes are a link's target.

    Its path is one that no note has, in any letter case: ``agents/USER/SKILL/AGENT/TITLE.md``.
    """
    folder = "/".join([_FOLDER, *(_file_name(part) for part in owner if part)])
    used = {unicodedata.normalize("NFC", key).casefold() for key in taken}
    stem = f"{folder}/{_file_name(request.title)}"
    keys = (f"{stem} {number}.md" if number > 1 else f"{stem}.md" for number in itertools.count(1))
    key = next(key for key in keys if key.casefold() not in used)
    fields: dict[str, object] = {
        "title": request.title,
        "description": request.description,
        "type": request.type.value,
        "tags": list(request.tags),
        **owner._asdict(),
        MADE_BY: AGENT,
        **dict.fromkeys(("created", "updated"), now(whole_seconds=True)),
    }
    text = f"{front_matter(fields)}\n{request.content}"
    note = read_note(key, f"{text}\n")
    if not request.links:
        return note
    within = {other.key: other for other in notes.values() if seen.holds(other.scope)}
    names, resolver, lines = NoteResolver(within.values()), VaultResolver([*notes.values(), note]), []
    for link in request.links:
        target = names.resolve(link.target, "")
        if target.others or target.key not in within:
            called = f"{1 + len(target.others)} notes are" if target.others else "No note is"
            raise CorpusError(f"{called} called {link.target!r}.", "Give the path of one note as the link's target.")
        lines.append(_link_line(link, within[target.key], key, resolver))
    return read_note(key, f"{text}{_section_of(lines)}\n")


def dated(note: Note) -> Note:
    """Return a note with now as the time of its last update, if its front matter has one."""
    if "updated" not in split_front_matter(note.text).mapping:
        return note
    return reread(note, with_fields(note.text, {"updated": now(whole_seconds=True)}))


def _file_name(text: str) -> str:
    name = _NOT_IN_NAMES.sub("-", unicodedata.normalize("NFC", text))[:_LONGEST_STEM].strip(" .")
    return name or "note"


def _link_line(link: NewLink, target: Note, source: str, resolver: NoteResolver) -> str:
    """Return the list item that links the note with the key ``source`` to ``target``.

    Raises InputError if the context holds a link to another note, or if no wikilink means the target alone.
    """
    relation = f"{link.relation}:: " if link.relation else ""
    names = [wikilink_target(match[1]) or "" for match in _WIKILINK.finditer(link.context)]
    if wrong := [name for name in names if resolver.resolve(name, source).key != target.key]:
        raise InputError(
            f"The context of the link to {target.title!r} has a link to {wrong[0]!r}.",
            "Link one note at a time: leave the brackets out, or make a second link.",
        )
    if names:
        return f"- {relation}{link.context}"
    name = shortest_target(target, source, resolver)
    if name is None:
        raise InputError(
            f"No wikilink means only {target.key!r}.", "Rename the note: hoprank vault rename DIR OLD NEW."
        )
    return f"- {relation}[[{name}]]" + (f": {link.context}" if link.context else "")


def _section_of(lines: Iterable[str]) -> str:
    joined = "\n".join(lines)
    return f"\n\n## {_SECTION}\n\n{joined}" if joined else ""


def related_section(note: Note) -> str:
    """Return a note's last section, with its heading, if that holds the links that agents added; else nothing."""
    headings = [block for block in note.blocks if block.kind is BlockKind.HEADING]
    start, end = (headings[-1].start, headings[-1].end) if headings else (len(note.text), len(note.text))
    return note.text[start:] if folded(heading_text(note.text[start:end])) == folded(_SECTION) else ""


def _appended(note: Note, line: str) -> Edit:
    """Return the edit that adds a link's line to the last section of a note, which is made if it is missing."""
    tail = note.text.rstrip()
    if not related_section(note):
        before = _section_of([line]).removeprefix("" if tail else "\n\n")
        return Edit(len(tail), len(note.text), f"{before}\n")
    follows_item = tail.rsplit("\n", 1)[-1].lstrip().startswith("- ")
    return Edit(len(tail), len(note.text), f"{'' if follows_item else chr(10)}\n{line}\n")


def _has_link(note: Note, target: str, relation: str, resolver: NoteResolver) -> bool:
    return any(
        resolver.resolve(link.target, note.key).key == target
        and (not relation or folded(link.relation) == folded(relation))
        for link in note.links
    )


def _leads(graph: NoteGraph, start: str, end: str, relation: str) -> bool:
    """Return whether the corpus has a link between two notes, of the relation if one is given."""
    links = (link for link in graph.outgoing.get(start, ()) if link.target == end)
    return any(not relation or folded(relation) in map(folded, link.relations) for link in links)


def created_notes(client: Client, vault: str) -> tuple[Note, ...]:
    """Return the notes that agents have created in the vault of a name; none if there is no such vault."""
    corpus = find_corpus(client, vault)
    return created_in(CorpusHandle(client, corpus)) if corpus else ()


def created_in(corpus: CorpusHandle, keys: Sequence[str] | None = None) -> tuple[Note, ...]:
    """Return the notes with these keys, by default all, that agents created in a corpus, with their texts."""
    rows = corpus.read("vault_created", keys=keys) if keys != [] else ()
    return tuple(read_note(row["key"], row["original"]) for row in rows)


def open_folder(vault: OpenVault, folder: Path | None) -> Folder:
    """Return the folder of a vault as it is now, one without notes if changes stay in the corpus."""
    limits = vault.hoprank.settings.sources.limits
    return read_folder(folder, limits=limits) if folder else Folder("", (), frozenset(), ())
