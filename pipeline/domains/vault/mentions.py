"""Find unlinked mentions: places where a note names another one without a link, and make them links."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.domains.vault.edits import Conflict, Edit, Written, write_edits
from pipeline.domains.vault.links import NoteResolver, code_spans, shortest_target
from pipeline.domains.vault.note import Folder, Note
from pipeline.records import BlockKind
from pipeline.text.fold import fold, fold_with_places
from pipeline.text.names import FUNCTION_WORDS, Matcher, lowered
from pipeline.text.scripts import is_run

_SHORT = 4
"""Characters below which a name counts in its own letter case only: `rag` and `it` are words. Chosen by hand."""

_AROUND = 60
"""Characters of its line on each side of a mention that is listed: they fit into a terminal. Chosen by hand."""

_SPACING = re.compile(r"[-_\s]")
_WORDS = re.compile(r"[^\W_]+")
_JOINING = frozenset("-_/\\")
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
    """A name as a note gives it, folded; ``exact``: too short or common to be recognised in other letter case."""

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
    linked = {
        (note.key, resolver.resolve(link.target, note.key).key)
        for note in folder.notes
        for link in note.links
        if link.start >= note.body_start
    }
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
            continue
        tables = (block for block in notes[mention.note].blocks if block.kind is BlockKind.TABLE)
        bar = "\\|" if any(table.start <= mention.start < table.end for table in tables) else "|"
        text = " ".join(mention.text.split())
        link = f"[[{target}]]" if text == target else f"[[{target}{bar}{text}]]"
        edits[mention.note].append(Edit(mention.start, mention.end, link))
    written = write_edits(folder, edits)
    return Written(written.changed, written.edits, (*written.conflicts, *unnamed))


def _names(notes: Iterable[Note]) -> dict[str, list[_Name]]:
    names: dict[str, list[_Name]] = defaultdict(list)
    for note in notes:
        own = (note.title, PurePosixPath(note.key).stem, *note.aliases)
        for text in dict.fromkeys(" ".join(fold(name).split()) for name in own):
            is_common = FUNCTION_WORDS.issuperset(_WORDS.findall(text.lower()))
            exact = is_common or len(text) < _SHORT
            # A short or common name needs capitals or digits to differ from words: Ada, k8s, IT, but not It.
            marks = sum(char.isupper() or char.isdigit() for char in text)
            is_distinct = len(text) > 1 and any(map(str.isalpha, text)) and marks >= (2 if is_common else 1)
            if not text or _NOT_IN_ALIAS.search(text) or (exact and not is_distinct):
                continue
            if (name := _Name(text, note.key, exact)) not in names[_spelled(text)]:
                names[_spelled(text)].append(name)
    return dict(names)


def _spelled(text: str) -> str:
    """Return a text in small letters, with spaces for dashes and underscores, each character at its place."""
    return lowered(_SPACING.sub(" ", text))


def _mentions_in(note: Note, matcher: Matcher[list[_Name]]) -> Iterator[Mention]:
    text, mask, at = note.text, prose_mask(note), 0
    folded, starts, ends = fold_with_places(text)
    for first, last, names in matcher.leftmost_longest(_spelled(folded)):
        start, end = starts[first], ends[last - 1]
        if start < at or not all(mask[start:end]) or not _is_whole(folded, first, last):
            continue
        written = text[start:end]
        named = {name.key for name in names if not name.exact or name.text == " ".join(folded[first:last].split())}
        if not named:
            continue
        # The note's own name and one that several notes have aren't mentions, nor are names within them.
        at = end
        if len(named) == 1 and note.key not in named:
            before = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
            after = text[end : end + _AROUND].partition("\n")[0]
            context = " ".join(f"{before}{written}{after}".split())
            yield Mention(note.key, note.line_of(start), start, end, written, named.pop(), context)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is whole words, and no part of a compound, a path or a file name.

    In scripts without spaces between words any part of a run is taken for a word.
    """
    before, after = text[start - 1 : start], text[end : end + 1]
    for inner, outer in ((text[start], before), (text[end - 1], after)):
        if inner.isalnum() and (outer in _JOINING or (outer.isalnum() and not is_run(inner))):
            return False
    if before == "!" or (after and unicodedata.combining(after)):
        return False
    is_suffix = before == "." and text[start - 2 : start - 1].isalnum()
    has_suffix = after == "." and text[end + 1 : end + 2].isalnum()
    return not (is_suffix or has_suffix)


# No pattern may be tried to the end of a note at each of its characters: runs are possessive, or have a limit.
_HEADING = re.compile(r"^[ \t>*+-]*+#{1,6}\s.*$", re.MULTILINE)
_MARKUP = re.compile(
    r"\]\((?:[^()\n]|\([^()\n]*\))*\)"  # the destination of a link or image
    r"|!?\[(?:[^\[\]\n]|\n(?!\n))*\](?=\()"  # its text
    r"|!?\[\[[^\[\]\n]*\]\]"
    r"|!?\[[^\[\]\n]*\](?:\[[^\[\]\n]*\]|:[ \t]+\S+)?"  # references, definitions, footnotes, inline fields
    r"|\b[A-Za-z][A-Za-z0-9+.-]{0,31}://\S+|\bwww\.\S+|\S{1,64}@\S+"  # no scheme and no mailbox is longer
    r"|</?[A-Za-z!][^<>]*>|<!--.*?(?:-->|\Z)"
    r"|\$\$.+?\$\$|(?<![\w$])\$(?!\s)[^$\n]+(?<!\s)\$(?!\w)"
    r"|%%.*?%%|\{\{(?:(?!\{\{).)*?\}\}|\(\([\w-]+\)\)"
    r"|^[ \t>*+-]*+[\w-]++::"  # the name of an inline field
    r"|(?<!\w)[#@^][\w/-]+",
    re.DOTALL | re.MULTILINE,
)
_ANCHOR = re.compile(r"<a\s(?:(?!<a\s).)*?</a>", re.DOTALL | re.IGNORECASE)
_HTML_BLOCK = re.compile(r"\s*<[A-Za-z/!?]")


def prose_mask(note: Note) -> bytearray:
    """Return a byte for each character of the note: 1 in running text, where a word could become a link.

    Front matter, headings, code, links, addresses, tags, formulas, comments and HTML have 0.
    """
    mask = bytearray(len(note.text))
    for block in note.blocks:
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.TABLE) and not _HTML_BLOCK.match(note.text, block.start):
            mask[block.start : block.end] = b"\1" * (block.end - block.start)
    links = [(link.start, link.end) for link in (*note.links, *note.in_code)]
    patterns = (_HEADING, _MARKUP, _ANCHOR)
    markup = (match.span() for pattern in patterns for match in pattern.finditer(note.text, note.body_start))
    for start, end in (*code_spans(note), *links, *markup):
        mask[start:end] = bytes(end - start)
    return mask
