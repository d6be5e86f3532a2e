"""Write the targets of links: find where a note writes them, and spell others in the same way."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from urllib.parse import quote

from pipeline.domains.vault.reading.prose import code_spans
from pipeline.domains.vault.reading.resolve import SUFFIXES, NoteResolver
from pipeline.domains.vault.records import Note
from pipeline.ingest.sources.link_targets import document_target, wikilink_target

_BRACKETS = ("[[", "![[")
_DESTINATION = r"(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:\\[^\n]|[^\s()<>\\]|\([^\s()]*\))+))"
_INLINE = re.compile(r"\]\([ \t]*\n?[ \t]*" + _DESTINATION)
_DEFINITION = re.compile(
    r"^[ >]*\[(?!\^)[^\[\]\n]+\]:[ \t]*" + _DESTINATION + r"""(?=[ \t]*(?:["'(][^\n]*)?$)""", re.MULTILINE
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PATH_END = re.compile("[?#]")
_NOT_IN_WIKILINK = re.compile(r"[\[\]|#^\\\n]")
_DEEP = "/_" * 64


class Form(Enum):
    """A way to write a target: in ``[[...]]``, in ``](...)``, or in ``](<...>)``; the last two in definitions too."""

    WIKILINK = auto()
    PLAIN = auto()
    ANGLED = auto()


@dataclass(frozen=True, slots=True)
class WrittenTarget:
    """A target at ``text[start:end]`` of a note, without fragment, alias and title.

    ``target`` is decoded; ``source`` is as written.
    """

    target: str
    source: str
    start: int
    end: int
    form: Form


def written_targets(note: Note) -> Iterator[WrittenTarget]:
    """Yield the targets in a note's wikilinks, Markdown links, images and link definitions; those in code don't count.

    Links to the web and within the note have none.
    """
    for link in note.links:
        if note.text.startswith(_BRACKETS, link.start):
            begin = note.text.index("[[", link.start) + 2
            inside = note.text[begin : link.end - 2]
            if name := wikilink_target(inside):
                start = begin + len(inside) - len(inside.lstrip())
                yield WrittenTarget(name, name, start, start + len(name), Form.WIKILINK)
    code = list(code_spans(note))
    for pattern in (_INLINE, _DEFINITION):
        for match in pattern.finditer(note.text, note.body_start):
            form = Form.PLAIN if match["angled"] is None else Form.ANGLED
            group = "plain" if form is Form.PLAIN else "angled"
            source, start = _PATH_END.split(match[group], maxsplit=1)[0], match.start(group)
            target = document_target(_ESCAPED.sub(r"\1", source))
            if target and not any(begin <= start < end for begin, end in code):
                yield WrittenTarget(target, source, start, start + len(source), form)


def spelled(target: str, like: WrittenTarget) -> str:
    """Return a target as a link of that form writes it; paths are percent-encoded as far as the form needs it.

    Letters beyond ASCII are encoded only if ``like`` encodes them.
    """
    if like.form is Form.WIKILINK:
        return target
    safe = "/!$&'*+,;=:@~" + (" ()" if like.form is Form.ANGLED and "%" not in like.source else "")
    if like.source.isascii() and not like.target.isascii():
        return quote(target, safe=safe)
    return "".join(char if ord(char) > 127 and char.isprintable() else quote(char, safe=safe) for char in target)


def fits_wikilink(target: str) -> bool:
    """Return whether ``[[target]]`` is a link with that target."""
    return bool(target) and target == target.strip() and not _NOT_IN_WIKILINK.search(target)


def shortest_target(note: Note, source: str, resolver: NoteResolver) -> str | None:
    """Return the shortest wikilink target that means only ``note`` in the note with the key ``source``, if any does.

    Names of files come before titles and aliases, which other programs don't resolve.
    """
    names = (*path_ends(note.key), note.key, note.title, *note.aliases)
    for target in names:
        resolution = resolver.resolve(target, source)
        if fits_wikilink(target) and resolution.key == note.key and not resolution.others:
            return target
    return None


def path_ends(key: str) -> list[str]:
    """Return the ends of a note's path without suffix, shortest first, and last the whole path with ``/`` before it.

    Logseq's ``a___b.md`` is ``a/b``.
    """
    path = without_suffix(key).replace("___", "/")
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)] + [f"/{path}"]


def without_suffix(path: str) -> str:
    """Return a path without the suffix of a note, if it has one."""
    return path[: len(path) - len(note_suffix(path))]


def note_suffix(path: str) -> str:
    """Return the suffix of a note in a path as written, empty if it has none."""
    suffix = next((suffix for suffix in SUFFIXES if path.casefold().endswith(suffix)), "")
    return path[len(path) - len(suffix) :]


def joined(folder: str, target: str) -> str:
    """Return the path in the vault of a target relative to a folder of it."""
    return posixpath.normpath(posixpath.join(folder, target))


def relative(path: str, folder: str) -> str:
    """Return a path of the vault, or above it, relative to a folder of the vault."""
    return posixpath.relpath(posixpath.join(_DEEP, path), posixpath.join(_DEEP, folder))
