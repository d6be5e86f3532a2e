"""Read a note: front matter, properties, description, and links with their types and the sentences around them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from operator import itemgetter
from pathlib import Path, PurePosixPath

from pipeline.domains.vault.links import SUFFIXES
from pipeline.domains.vault.note import ANY, Folder, Note, NoteType, Scope
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits, Unreadable, content_of, decode, well_formed
from pipeline.files.guard import encodable
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.link_targets import wikilink_fragment, wikilink_target
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.ingest.sources.parsers.markdown import blanked, blocks_and_links, comment_spans, parsed
from pipeline.ingest.sources.source import parser_errors
from pipeline.ingest.sources.walk import Pattern, find, is_pattern
from pipeline.records import Block, BlockKind, Link, Skipped
from pipeline.text.outline import first_heading, paragraphs
from pipeline.text.prose import sentences

LONGEST_DESCRIPTION = 200
"""Characters: a description is scanned among many, so it has a line or two."""

_LONGEST_CONTEXT = 300
"""Characters kept on each side of a link, so that no long row of a table is kept whole. Chosen by hand."""

_EMBEDS = "embeds"

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
_HYPERLINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_MARKS = re.compile(
    r"\*\*|__|`|^[^\S\n]*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?|^[^\S\n]*#+\s+|^[^\S\n]*>\s?", re.MULTILINE
)
_RELATION = re.compile(r"(?:^|[\[(]|[-*+]\s)\s*(?:\*\*|__)?([^\W\d_][\w /-]{0,60}?)(?:\*\*|__)?::(?:\*\*|__)?\s[^\n]*$")
_PROPERTY = re.compile(r"([\w-]+)::[ \t]*(.*)")
_FRONT_KEY = re.compile(r'(?:[ \t]*"([^"\n]+)"|([^\s#:="\-](?:[^:=\n]*[^:=\s])?))[ \t]*[:=](?:\s|$)')
_TAG = re.compile(r"(?<![\w/#&\[(])#([^\W\d_][\w/-]*)")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\w+")

_DESCRIPTIONS = ("description", "summary", "abstract")
_CREATED, _UPDATED = ("created", "date"), ("updated", "modified", "last_modified")
_TYPES = ("type", "node_type", "nodeType", "kind")
_OWN = frozenset(
    ("title", "aliases", "alias", "tags", "tag", "user", "skill", "agent", "published", "publish", "draft")
)


def read_note(key: str, text: str, *, path: str = "", modified: str = "", defaults: Scope = ANY) -> Note:
    """Return the note in a text. ``path`` and ``modified`` are those of its file, the time in ISO 8601.

    ``defaults`` are for what the front matter doesn't say.
    """
    front = split_front_matter(text)
    mapping, body = front.mapping, front.text
    start = len(text) - len(body)
    tree = parsed(body)
    comments = comment_spans(tree, obsidian=True)
    blocks, links = blocks_and_links(tree)
    blocks = blocks or tuple(paragraphs(body))
    shown = blanked(body, comments)
    fields = {**_properties(shown, blocks), **{str(name): value for name, value in mapping.items()}}
    shifted = tuple(replace(block, start=block.start + start, end=block.end + start) for block in blocks)
    in_body = [replace(link, start=link.start + start, end=link.end + start) for link in links]
    hidden = tuple((first + start, last + start) for first, last in comments)
    linked = (*_front_links(text, start), *_with_contexts(text[:start] + shown, shifted, in_body, hidden))
    # Logseq writes ___ or %2F for the folders of a namespace.
    name = key.rsplit("/", 1)[-1].rsplit(".", 1)[0].replace("___", "/").replace("%2F", "/").strip() or key
    tags = [tag for word in _listed(fields.get("tags", fields.get("tag")), r"[,\s]+") if (tag := word.lstrip("#"))]
    types = [type_.lower() for type_ in (*(scalar_title(fields.get(field)) for field in _TYPES), *tags)]
    flags = (fields.get(field) for field in ("published", "publish"))
    return Note(
        key=key,
        path=path,
        title=scalar_title(fields.get("title")) or first_heading(shown, blocks) or name,
        description=_description(fields, shown, blocks),
        type=NoteType(next((type_ for type_ in types if type_ in set(NoteType)), NoteType.CONCEPT)),
        text=text,
        body_start=start,
        described=_span_of_description(text, start, fields),
        blocks=shifted,
        links=linked,
        in_code=tuple(_in_code(text, linked)),
        comments=hidden,
        tags=tuple(dict.fromkeys([*tags, *_inline_tags(body, blocks)])),
        aliases=tuple(dict.fromkeys(_listed(fields.get("aliases", fields.get("alias"))))),
        scope=Scope(*(scalar_title(fields.get(name)) or getattr(defaults, name) for name in Scope._fields)),
        published=next((flag for flag in flags if isinstance(flag, bool)), fields.get("draft") is not True),
        created=_first_date(fields, _CREATED),
        updated=_first_date(fields, _UPDATED),
        modified=modified,
        metadata=flat({name: value for name, value in fields.items() if name not in _OWN}),
        warnings=front.warnings,
        is_created=bool(text) and not path,
    )


def reread(note: Note, text: str) -> Note:
    """Return a note with another text."""
    return read_note(note.key, text, path=note.path, modified=note.modified, defaults=note.scope)


def plain(text: str) -> str:
    """Return Markdown as a reader sees it: the text of links, without marks of emphasis, lists and headings."""
    shown = _WIKILINK.sub(lambda match: displayed(match[1]), text)
    return " ".join(_MARKS.sub("", _HYPERLINK.sub(r"\1", shown)).split())


def displayed(inside: str) -> str:
    """Return the text that ``[[inside]]`` shows: its alias, else the note's name."""
    name, _, alias = inside.replace("\\|", "|").partition("|")
    return (alias or name.split("#")[0] or name).strip()


def shortened(text: str, limit: int) -> str:
    """Return the first sentences or words of ``text`` that fit into ``limit`` characters."""
    if len(text) <= limit:
        return text
    ends = [end for _, end in sentences(text, 0, len(text)) if limit // 2 <= end <= limit]
    return text[: ends[-1]] if ends else f"{text[: limit - 1].rsplit(' ', 1)[0]}…"


def _properties(body: str, blocks: Sequence[Block]) -> dict[str, object]:
    """Return the properties of Logseq and Dataview (``name:: value``) in a first paragraph that holds nothing else."""
    if not blocks or blocks[0].kind is not BlockKind.PARAGRAPH:
        return {}
    matches = [_PROPERTY.fullmatch(line.strip()) for line in body[blocks[0].start : blocks[0].end].split("\n")]
    if not all(matches):
        return {}
    return {match[1]: _WIKILINK.sub(lambda link: displayed(link[1]), match[2]) for match in matches if match}


def _description(fields: Mapping[str, object], body: str, blocks: Sequence[Block]) -> str:
    given = next(filter(None, (scalar_title(fields.get(name)) for name in _DESCRIPTIONS)), "")
    if not given:
        texts = (plain(body[block.start : block.end]) for block in blocks if block.kind is BlockKind.PARAGRAPH)
        given = next((text for text in texts if text and "::" not in text), "")
    return shortened(" ".join(given.split()), LONGEST_DESCRIPTION)


def _span_of_description(text: str, end: int, fields: Mapping[str, object]) -> tuple[int, int]:
    """Return the span of the description in the front matter ``text[:end]``, with its continuation lines."""
    for name in _DESCRIPTIONS:
        if not scalar_title(fields.get(name)):
            continue
        key = rf'^"?{name}"?[ \t]*[:=][ \t]*'
        match = re.search(key + r"(?:[|>][+-]?\n[ \t]*)?(\S.*(?:\n[ \t]+.+)*)", text[:end], re.MULTILINE)
        if match is None:
            continue
        start, stop = match.span(1)
        if text[start] in "\"'" and text[stop - 1] == text[start]:
            start, stop = start + 1, stop - 1
        return start, max(start, stop)
    return 0, 0


def _first_date(fields: Mapping[str, object], names: Iterable[str]) -> str:
    """Return the first field that is a date, or a text that begins with one, in ISO 8601."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, date):
            return value.isoformat()
        with suppress(ValueError):
            return datetime.fromisoformat(str(value).strip()).isoformat()
    return ""


def _listed(value: object, separator: str = ",") -> list[str]:
    """Return the texts of a list, or those that separators, a pattern, divide in a text."""
    items = value if isinstance(value, list) else re.split(separator, str(value)) if value is not None else []
    return [text for item in items if (text := well_formed(str(item)).strip())]


def _inline_tags(body: str, blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind is not BlockKind.CODE and "#" in body[block.start : block.end]:
            yield from _TAG.findall(_HYPERLINK.sub(" ", body[block.start : block.end]))


def _front_links(text: str, end: int) -> Iterator[Link]:
    """Yield the wikilinks in the front matter ``text[:end]``; the type of each is the field that it stands in."""
    relation, at = "", 0
    for line in text[:end].splitlines(keepends=True):
        key = _FRONT_KEY.match(line)
        relation = (key[1] or key[2]).strip() if key else relation
        for match in _WIKILINK.finditer(line):
            value = line[key.end() :] if key else line
            context = _unless_bare(plain(value).strip(" \"'[],"), displayed(match[1]))
            target, fragment = wikilink_target(match[1]) or "", wikilink_fragment(match[1])
            yield Link(target, at + match.start(), at + match.end(), fragment, relation, context)
        at += len(line)


def _in_code(text: str, links: Sequence[Link]) -> Iterator[Link]:
    starts = {link.start for link in links}
    for match in _WIKILINK.finditer(text):
        start = match.start() + match[0].startswith("!")
        if not starts & {start, match.start()}:
            yield Link(wikilink_target(match[1]) or "", start, match.end(), wikilink_fragment(match[1]))


def _with_contexts(
    text: str, blocks: Sequence[Block], links: Sequence[Link], comments: Sequence[tuple[int, int]]
) -> Iterator[Link]:
    """Yield links with their types and sentences; ``text`` is without the comments, whose links have neither."""
    starts = [block.start for block in blocks]

    @cache
    def stretches(place: int) -> list[tuple[int, int]]:
        """Return the sentences of a block, or its lines if it isn't running text."""
        block = blocks[place]
        if block.kind is BlockKind.PARAGRAPH:
            return list(sentences(text, block.start, block.end))
        return [line.span() for line in _LINE.finditer(text, block.start, block.end)]

    for link in links:
        if any(begin <= link.start < stop for begin, stop in comments):
            yield link
            continue
        first, last = max(0, link.start - _LONGEST_CONTEXT), link.end + _LONGEST_CONTEXT
        line = max(first, text.rfind("\n", first, link.start) + 1)
        before = text[line : link.start].removesuffix("!")
        relation = _RELATION.search(before if line == 0 or text[line - 1] == "\n" else f"\0{before}")
        embeds = _EMBEDS if text[max(0, link.start - 1)] == "!" else ""
        place = bisect_right(starts, link.start) - 1
        spans = stretches(place) if place >= 0 else []
        start, end = spans[bisect_right(spans, link.start, key=itemgetter(0)) - 1] if spans else (0, 0)
        if not start <= link.start < end:
            start, end = line, link.end + len(text[link.end : last].partition("\n")[0])
        context = plain(text[max(start, first) : min(end, last)])
        yield replace(
            link,
            relation=relation[1].strip() if relation else embeds,
            context=_unless_bare(context, plain(text[link.start : link.end])),
        )


def _unless_bare(context: str, shown: str) -> str:
    """Return the context if it has more words than the link itself, else an empty text."""
    return context if len(_WORD.findall(context)) > len(_WORD.findall(shown)) + 1 else ""


def read_folder(
    folder: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    scope: Scope = ANY,
    limits: Limits = DEFAULT_LIMITS,
) -> Folder:
    """Return the vault in a folder. Hidden files and folders, such as .obsidian, are left out.

    ``include`` and ``exclude`` are paths or patterns relative to the folder: ``templates``, ``daily/**``. ``scope`` is
    for notes that name no user, skill or agent. Raises SourceError if there is no such folder.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder} is no folder.", "Give the folder of a vault, which holds Markdown notes.")
    notes: list[Note] = []
    attachments: set[str] = set()
    skipped: list[Skipped] = []
    for item in find(str(folder)):
        if isinstance(item, Skipped):
            skipped.append(item)
        elif not item.key.casefold().endswith(SUFFIXES):
            attachments.add(item.key)
        elif (not include or _matches(item.key, include)) and not _matches(item.key, exclude):
            path = item.path
            try:
                text = _text(path, limits)
                with parser_errors("Markdown"):
                    note = read_note(item.key, text, path=path.as_posix(), modified=modified_at(path), defaults=scope)
                notes.append(note)
            except Unreadable as error:
                skipped.append(Skipped(str(item.path), error.message))
    return Folder(str(folder), tuple(notes), frozenset(attachments), tuple(skipped))


def modified_at(path: Path) -> str:
    """Return when a file was written, in ISO 8601."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _text(path: Path, limits: Limits) -> str:
    """Return the text of a note; an empty note is a note too: links lead to it."""
    if not encodable(str(path)):  # notes are written by their keys
        raise Unreadable("has a name that isn't UTF-8", "Rename it.")
    with suppress(OSError):
        if path.stat().st_size == 0:
            return ""
    content = content_of(path, limits)
    return "" if not content.strip() else decode(content)


def _matches(key: str, patterns: Iterable[str]) -> bool:
    """Return whether a path is, lies below, or matches one of some patterns."""
    parts = PurePosixPath(key).parts
    for pattern in patterns:
        wanted = pattern.strip("/").removeprefix("./")
        if not is_pattern(wanted):
            if key == wanted or key.startswith(f"{wanted}/"):
                return True
            continue
        glob = Pattern(wanted)
        root = glob.root.parts
        if parts[: len(root)] == root and glob.matches(parts[len(root) :]):
            return True
    return False
