"""Find unlinked mentions: places where a note names another one without a link, and make them links."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.domains.vault.check import line_of
from pipeline.domains.vault.edits import Conflict, Edit, Written, write_edits
from pipeline.domains.vault.links import NoteResolver, code_spans, shortest_target
from pipeline.domains.vault.note import Folder, Note
from pipeline.records import BlockKind
from pipeline.text.names import FUNCTION_WORDS, Matcher, lowered

_SHORT = 4
"""Characters below which a name counts in its own letter case only: `rag` and `it` are words. Chosen by hand."""

_AROUND = 60
"""Characters of its line on each side of a mention that is listed."""

_SPACING = re.compile(r"[-_\s]")
_WORDS = re.compile(r"[^\W_]+")
_JOINING = "-_/\\"
_NOT_IN_ALIAS = re.compile(r"[\[\]|\\]")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of the note ``target`` at ``[start:end]`` of the text of ``note``, both given by key.

    ``text`` is the name as written there, ``context`` the line around it. Lines count from 1 in the file.
    """

    note: str
    line: int
    start: int
    end: int
    text: str
    target: str
    context: str


class _Name(NamedTuple):
    """A name as a note gives it; ``exact``: too short or common to be recognised in other letter case."""

    text: str
    key: str
    exact: bool


def mentions(folder: Folder, note_key: str | None = None) -> list[Mention]:
    """Return the unlinked mentions in a vault, by note and place; with ``note_key``, those in that note or of it.

    A mention is a title, file name or alias in running text, as whole words; letter case makes no difference, nor do
    dashes and underscores for spaces. The longest name counts. Names of several notes are left out; names shorter than
    4 characters, or of function words alone, count only in their own letter case, and if they have a capital.
    """
    matcher = Matcher(_names(folder.notes))
    found = (mention for note in folder.notes for mention in _mentions_in(note, matcher))
    return [mention for mention in found if note_key in (None, mention.note, mention.target)]


def write_mentions(folder: Folder, mentions: Iterable[Mention], *, every: bool = False) -> Written:
    """Turn mentions into links: ``[[Note]]``, or ``[[Note|text]]`` where the text is another.

    Of the mentions of a note in another the first becomes a link, and none if that text has a link to it already;
    ``every``: all of them. A note that has changed since ``folder`` was read is a conflict.
    """
    resolver = NoteResolver(folder.notes, folder.attachments)
    notes = {note.key: note for note in folder.notes}
    linked = {(note.key, target) for note in folder.notes for target in _linked(note, resolver)}
    edits: dict[str, list[Edit]] = defaultdict(list)
    unnamed = []
    for mention in sorted(mentions, key=lambda mention: (mention.note, mention.start)):
        pair = mention.note, mention.target
        if pair in linked and not every:
            continue
        linked.add(pair)
        target = shortest_target(notes[mention.target], mention.note, resolver)
        if target is None:
            unnamed.append(Conflict(mention.note, f"can't link {mention.target}: no link can have its name"))
        else:
            edits[mention.note].append(_edit(mention, target, notes[mention.note]))
    written = write_edits(folder, edits)
    return Written(written.changed, written.edits, (*written.conflicts, *unnamed))


def _names(notes: Iterable[Note]) -> dict[str, list[_Name]]:
    """Return the names of notes by their spellings in small letters."""
    names: dict[str, list[_Name]] = defaultdict(list)
    for note in notes:
        own = (note.title, PurePosixPath(note.key).stem, *note.aliases)
        for text in dict.fromkeys(" ".join(name.split()) for name in own):
            exact = len(text) < _SHORT or _is_function_words(text)
            if not text or _NOT_IN_ALIAS.search(text) or (exact and not _is_distinct(text)):
                continue
            for form in ("NFC", "NFD"):
                spelling = _spelled(unicodedata.normalize(form, text))
                if (name := _Name(text, note.key, exact)) not in names[spelling]:
                    names[spelling].append(name)
    return dict(names)


def _is_function_words(name: str) -> bool:
    return FUNCTION_WORDS.issuperset(_WORDS.findall(name.lower()))


def _is_distinct(name: str) -> bool:
    """Return whether a short or common name is one in its own letter case: ``Ada``, ``k8s``, ``IT``, but not ``It``."""
    marks = sum(char.isupper() or char.isdigit() for char in name)
    return len(name) > 1 and any(map(str.isalpha, name)) and marks >= (2 if _is_function_words(name) else 1)


def _spelled(text: str) -> str:
    """Return a text in small letters, with spaces for dashes and underscores, each character at its place."""
    return lowered(_SPACING.sub(" ", text))


def _mentions_in(note: Note, matcher: Matcher[list[_Name]]) -> Iterator[Mention]:
    text, mask, at = note.text, prose_mask(note), 0
    for start, end, names in matcher.leftmost_longest(_spelled(text)):
        if start < at or not all(mask[start:end]) or not _is_whole(text, start, end):
            continue
        written = text[start:end]
        named = {name.key for name in names if not name.exact or name.text == " ".join(written.split())}
        if not named:
            continue
        # The note's own name and one that several notes have aren't mentions, nor are names within them.
        at = end
        if len(named) == 1 and note.key not in named:
            (target,) = named
            yield Mention(note.key, line_of(text, start), start, end, written, target, _context(text, start, end))


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is whole words, and no part of a compound, a path or a file name."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if text[start].isalnum() and (before.isalnum() or before in tuple(_JOINING)):
        return False
    if text[end - 1].isalnum() and (after.isalnum() or after in tuple(_JOINING)):
        return False
    if before == "!" or (after and unicodedata.combining(after)):
        return False
    is_suffix = before == "." and text[start - 2 : start - 1].isalnum()
    has_suffix = after == "." and text[end + 1 : end + 2].isalnum()
    return not (is_suffix or has_suffix)


def _context(text: str, start: int, end: int) -> str:
    """Return the line around a mention, at most so many characters on each side."""
    first = max(text.rfind("\n", 0, start) + 1, start - _AROUND)
    line_end = text.find("\n", end)
    last = min(len(text) if line_end < 0 else line_end, end + _AROUND)
    return " ".join(text[first:last].split())


def _linked(note: Note, resolver: NoteResolver) -> Iterator[str]:
    """Yield the keys of the notes to which a note's text has links."""
    return (resolver.resolve(link.target, note.key).key for link in note.links if link.start >= note.body_start)


def _edit(mention: Mention, target: str, note: Note) -> Edit:
    text = " ".join(mention.text.split())
    in_table = any(block.kind is BlockKind.TABLE and block.start <= mention.start < block.end for block in note.blocks)
    bar = "\\|" if in_table else "|"
    return Edit(mention.start, mention.end, f"[[{target}]]" if text == target else f"[[{target}{bar}{text}]]")


_HEADING = re.compile(r"^[\s>*+-]*#{1,6}\s.*$", re.MULTILINE)
_MARKUP = re.compile(
    r"\]\((?:[^()\n]|\([^()\n]*\))*\)"  # the destination of a link or image
    r"|!?\[(?:[^\[\]\n]|\n(?!\n))*\](?=\()"  # its text
    r"|!?\[\[[^\[\]\n]*\]\]"
    r"|!?\[[^\[\]\n]*\](?:\[[^\[\]\n]*\]|:[ \t]+\S+)?"  # references, definitions, footnotes, inline fields
    r"|\b[A-Za-z][A-Za-z0-9+.-]*://\S+|\bwww\.\S+|\S+@\S+"
    r"|</?[A-Za-z!][^<>]*>|<!--.*?-->"
    r"|\$\$.+?\$\$|(?<![\w$])\$(?!\s)[^$\n]+(?<!\s)\$(?!\w)"
    r"|%%.*?%%|\{\{.*?\}\}|\(\([\w-]+\)\)"
    r"|^[\s>*+-]*[\w-]+::"  # the name of an inline field
    r"|(?<!\w)[#@^][\w/-]+",
    re.DOTALL | re.MULTILINE,
)
_ANCHOR = re.compile(r"<a\s.*?</a>", re.DOTALL | re.IGNORECASE)
_HTML_BLOCK = re.compile(r"\s*<[A-Za-z/!?]")


def prose_mask(note: Note) -> bytearray:
    """Return a byte for each character of the note: 1 in running text, where a word could become a link.

    Front matter, headings, code, links, addresses, tags, formulas, comments and HTML have 0.
    """
    mask = bytearray(len(note.text))
    for block in note.blocks:
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.TABLE) and not _HTML_BLOCK.match(note.text, block.start):
            mask[block.start : block.end] = b"\1" * (block.end - block.start)
    for start, end in _markup(note):
        mask[start:end] = bytes(end - start)
    return mask


def _markup(note: Note) -> Iterator[tuple[int, int]]:
    yield from code_spans(note)
    yield from ((link.start, link.end) for link in (*note.links, *note.in_code))
    for pattern in (_HEADING, _MARKUP, _ANCHOR):
        yield from (match.span() for match in pattern.finditer(note.text, note.body_start))
