"""Org: headings, paragraphs, code, tables, links and footnotes, line for line; no comments, no drawers."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers.line_text import LineText, without_front_matter
from pipeline.records import BlockKind, Document

_HEADING = re.compile(r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)[ \t]+)?(?:\[#\w\][ \t]+)?(.*)")
_TAGS = re.compile(r"[ \t]:[\w@#%:]+:$")
_COOKIE = re.compile(r"\[\d*(?:/\d*|%)\]$")
_COMMENT = re.compile(r"[ \t]*#(?:[ \t].*)?")
_KEYWORD = re.compile(r"[ \t]*#\+(\w+)(?:\[[^\[\]]*\])?:[ \t]*(.*)")
_BEGIN = re.compile(r"[ \t]*#\+begin_(\S+)(?:[ \t].*)?", re.IGNORECASE)
_END = re.compile(r"[ \t]*#\+end_(\S+)[ \t]*", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*")
_FIXED = re.compile(r"[ \t]*:(?:[ \t](.*))?")
_TABLE = re.compile(r"[ \t]*\|.*")
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*|[ \t]*\|[-+|]*[ \t]*")
_ESCAPED = re.compile(r"([ \t]*),(?=\*|#\+|,)")
_NOTE = re.compile(r"\[fn:[\w-]+\][ \t]*")
_TERM = re.compile(r"[ \t]*[-+*][ \t]")
_CODE = frozenset(("src", "example", "export"))
_LEFT_OUT = frozenset(("properties", "logbook", "clock"))
_METADATA = frozenset(("author", "date", "description", "email", "filetags", "keywords", "language", "subtitle"))

_INLINE = re.compile(
    r"\[fn:[\w-]*(?::(?P<note>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*))?\]"
    r"|\[\[(?P<target>[^\[\]\n]+)\](?:\[(?P<text>[^\[\]]+)\])?\]"
    r"""|(?<![^\s('"{-])(?P<mark>[*/_=~+])(?=\S)(?P<body>(?:(?!(?P=mark))[\s\S])+)(?<=\S)(?P=mark)"""
    r"""(?![^\s.,:!?;'")}\[-])"""
)


def structure(document: Document) -> Document:
    """Return a document of Org with its blocks and links, its keywords as metadata.

    The text of a footnote that stands within a sentence follows its paragraph. States, priorities and tags are no part
    of a heading. Files that it includes are named in the warnings.
    """
    document = without_front_matter(document)
    return _Reader(document.text.split("\n")).read(document)


class _Reader:
    """Reads the lines of a file in order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._built = LineText()
        self._title: list[str] = []
        self._metadata: dict[str, object] = {}
        self._headings = [at for at, line in enumerate(lines) if _HEADING.fullmatch(line)]
        self._ends = defaultdict[str, list[int]](list)
        for at, line in enumerate(lines):
            if match := _END.fullmatch(line):
                self._ends[match[1].lower()].append(at)
            elif line.strip().lower() == ":end:":
                self._ends[":"].append(at)
        self._closings = {at for ends in self._ends.values() for at in ends}

    def read(self, document: Document) -> Document:
        at = 0
        while at < len(self._lines):
            at = self._take(at)
        return self._built.document(document, " ".join(self._title), self._metadata)

    def _take(self, at: int) -> int:
        """Read what begins at a line; return the line after it."""
        line = self._lines[at]
        if heading := _HEADING.fullmatch(line):
            return self._heading(at, len(heading[1]), heading[2])
        if (begin := _BEGIN.fullmatch(line)) and (end := self._end(begin[1].lower(), at)):
            return self._block(at, end, begin[1].lower())
        if (drawer := _DRAWER.fullmatch(line)) and (end := self._end(":", at)):
            return self._skip(at, end + 1 if drawer[1].lower() in _LEFT_OUT else at + 1)
        if keyword := _KEYWORD.fullmatch(line):
            return self._keyword(at, keyword[1].lower(), keyword[2].strip())
        if not line.strip() or _COMMENT.fullmatch(line) or _RULE.fullmatch(line) or at in self._closings:
            return self._skip(at, at + 1)
        if line.lstrip().startswith("#+"):
            return self._skip(at, at + 1)
        for pattern, kind in ((_FIXED, BlockKind.CODE), (_TABLE, BlockKind.TABLE)):
            if pattern.fullmatch(line):
                return self._run(at, pattern, kind)
        return self._paragraph(at)

    def _end(self, name: str, at: int) -> int:
        """Return the line that ends a block or drawer before the next heading; 0 if there is none."""
        ends = self._ends.get(name, [])
        place, heading = bisect_left(ends, at), bisect_left(self._headings, at)
        before = self._headings[heading] if heading < len(self._headings) else len(self._lines)
        return ends[place] if place < len(ends) and ends[place] < before else 0

    def _skip(self, at: int, end: int) -> int:
        self._built.close(BlockKind.PARAGRAPH)
        self._built.write("\n" * (end - at))
        return end

    def _heading(self, at: int, level: int, words: str) -> int:
        self._built.close(BlockKind.PARAGRAPH)
        if words.split(" ", 1)[0] == "COMMENT":
            return self._skip(at, self._section_end(at, level))
        self._inline(_COOKIE.sub("", _TAGS.sub("", words.rstrip()).rstrip()).rstrip())
        self._built.close(BlockKind.HEADING, min(level, 6))
        self._built.write("\n")
        return at + 1

    def _section_end(self, at: int, level: int) -> int:
        for place in range(bisect_left(self._headings, at) + 1, len(self._headings)):
            line = self._lines[self._headings[place]]
            if len(line) - len(line.lstrip("*")) <= level:
                return self._headings[place]
        return len(self._lines)

    def _block(self, at: int, end: int, name: str) -> int:
        if name == "comment":
            return self._skip(at, end + 1)
        self._skip(at, at + 1)
        if name not in _CODE:
            return at + 1
        for line in self._lines[at + 1 : end]:
            self._built.write(_ESCAPED.sub(r"\1", line, count=1) + "\n")
        self._built.close(BlockKind.CODE)
        return self._skip(end, end + 1)

    def _keyword(self, at: int, name: str, value: str) -> int:
        if name == "title":
            self._title.append(value)
        elif name in _METADATA and value:
            self._metadata[name] = value.strip(":").split(":") if name == "filetags" else value.strip("<>")
        elif name == "include":
            included = next(filter(None, value.split('"')), "").split(" :")[0]
            self._built.warn(f"includes {included}, which isn't read")
        elif name == "caption":
            self._built.close(BlockKind.PARAGRAPH)
            self._inline(value)
        return self._skip(at, at + 1)

    def _run(self, at: int, pattern: re.Pattern[str], kind: BlockKind) -> int:
        """Read the lines that match a pattern: fixed width, or a table."""
        self._built.close(BlockKind.PARAGRAPH)
        while at < len(self._lines) and (match := pattern.fullmatch(self._lines[at])):
            if kind is BlockKind.CODE:
                self._built.write(match[1] or "")
            elif not _RULE.fullmatch(match[0]):
                self._inline(" | ".join(cell.strip() for cell in match[0].strip().strip("|").split("|")))
            self._built.write("\n")
            at += 1
        self._built.close(kind)
        return at

    def _paragraph(self, at: int) -> int:
        """Read lines of running text up to a blank one, or one that begins something else."""
        end = at + 1
        while end < len(self._lines) and self._goes_on(end):
            end += 1
        lines = [line.replace(" :: ", ": ", 1) if _TERM.match(line) else line for line in self._lines[at:end]]
        self._inline(_NOTE.sub("", "\n".join(lines), count=1) if _NOTE.match(lines[0]) else "\n".join(lines))
        self._built.close(BlockKind.PARAGRAPH)
        self._built.write("\n")
        return end

    def _goes_on(self, at: int) -> bool:
        line = self._lines[at]
        begins = line.lstrip()[:1] in ("", "|", "#") or _HEADING.fullmatch(line) or _NOTE.match(line)
        return not begins and at not in self._closings and not _FIXED.fullmatch(line) and not _DRAWER.fullmatch(line)

    def _inline(self, text: str) -> None:
        at = 0
        for match in _INLINE.finditer(text):
            self._built.write(text[at : match.start()])
            at = match.end()
            if match["target"]:
                self._link(match["target"], match["text"])
            elif match["mark"]:
                is_verbatim = match["mark"] in "=~"
                (self._built.write if is_verbatim else self._inline)(match["body"])
            elif match["note"]:
                self._built.notes.append(partial(self._inline, " ".join(match["note"].split())))
        self._built.write(text[at:])

    def _link(self, target: str, words: str | None) -> None:
        start, bare = self._built.offset, target.removeprefix("file:").removeprefix("./").partition("::")[0]
        self._built.write(words or bare)
        is_place = target.startswith(("*", "#", "id:", "(")) or ("." not in bare and not target.startswith("file:"))
        self._built.link(None if is_place else document_target(bare), start)
