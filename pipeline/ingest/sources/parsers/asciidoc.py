"""AsciiDoc: headings, paragraphs, code, tables, links and footnotes, line for line; no comments, no inclusion."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers.line_text import LineText, without_front_matter
from pipeline.records import BlockKind, Document

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?")
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:[ \t]+(.*))?")
_AUTHOR = re.compile(r"[^\W\d_][^:{}<>]*(?:<[^<>]*>[^:{}<>]*)*")
_REVISION = re.compile(r"v?\d.*")
_STYLE = re.compile(r"\[(?:[\w.#%,\"'].*|\[.*\])?\]")
_TITLE = re.compile(r"\.([^\s.].*)")
_MACRO = re.compile(r"(include|image|video|audio|toc|ifdef|ifndef|ifeval|endif)::([^\[\]]*)\[(.*)\]")
_DELIMITER = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|`{3,}[\w-]*|--|[|,:!]={3,}")
_LINE_COMMENT = re.compile(r"//(?!/)")
_RULE = re.compile(r"'{3,}|<{3,}|---|\*\*\*")
_ITEM = re.compile(r"[ \t]*(?:\*{1,6}|-|\.{1,6}|\d+\.|<\d+>|<\.>)[ \t]+")
_TERM = re.compile(r"(?<=[^\s:;])(?::{2,4}|;;)(?=[ \t]|$)")
_UNDERLINE = re.compile(r"(?P<mark>[=~^+-])(?P=mark)+")
_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_CELL = re.compile(r"(?:(?:(?<=\s)|^)(?:(?:\d{1,3}|\d{0,3}\.\d{1,3})[+*])?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|")
_COLUMNS = re.compile(r"""\bcols=(?:["']([^"']*)["']|([^,\]]*))""")
_REPEATED = re.compile(r"(\d+)\*")
_REFERENCE = re.compile(r"(?<!\\)\{([\w][\w-]*)\}")
_CODE_STYLES = ("source", "listing", "literal", "stem", "latexmath", "asciimath")
_METADATA = frozenset(("author", "date", "description", "email", "keywords", "lang", "revdate", "revnumber", "version"))
_GIVEN = {
    "amp": "&", "asterisk": "*", "apos": "'", "backtick": "`", "cpp": "C++", "empty": "", "endsb": "]", "gt": ">",
    "lt": "<", "nbsp": " ", "plus": "+", "pp": "++", "quot": '"', "sp": " ", "startsb": "[", "vbar": "|", "zwsp": "",
}  # fmt: skip
_LONGEST_VALUE, _MOST_VALUES = 200, 10_000
"""Characters of an attribute that stands for itself in the text, and how often all together: others are left as they
are written, so that no text grows without bounds. Chosen by hand; not measured."""

_INLINE = re.compile(
    r"footnote(?:ref)?:[\w-]*\[(?P<note>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]"
    r"|<<(?P<place>[^<>,\n]+)(?:,(?P<called>[^<>]+))?>>"
    r"|(?<![\w:/])(?:"
    r"(?:xref|link):(?P<target>[^\s\[\]]+)\[(?P<text>[^\[\]]*)\]"
    r"|(?:(?:https?|ftp|irc)://|mailto:)[^\s\[\]<>]+\[(?P<web>[^\[\]]*)\]"
    r"|(?:image|icon):(?P<image>[^\s:\[\]]+)\[(?P<alt>[^\[\]]*)\]"
    r"|(?P<macro>kbd|btn|menu|stem|latexmath|asciimath|pass|indexterm2?|anchor):(?P<named>[^\s\[\]]*)"
    r"\[(?P<inside>[^\[\]]*)\])"
    r"|\[\[[\w:.-]+(?:,[^\[\]\n]*)?\]\]|\(\(\((?P<hidden>[^()]+)\)\)\)|\(\((?P<index>[^()]+)\)\)"
    r"|(?P<code>`[^`\n]+`)|(?P<double>\*\*|__|##)(?=\S)(?P<inner>[^*_#]+)(?P=double)"
    r"|(?:\[[\w.#% ,-]+\])?(?<![\w*_#:;}\\/])(?P<mark>[*_#])(?=\S)(?P<body>(?:(?!(?P=mark))[\s\S])+)(?<=\S)"
    r"(?P=mark)(?!\w)"
    r"|[ \t]\+(?=\n|$)"
)


def structure(document: Document) -> Document:
    """Return a document of AsciiDoc with its blocks and links, the attributes of its header as metadata.

    Attributes stand for their values. The text of a footnote follows its paragraph, and a row of a table is a line.
    What conditions hide is read too. Files that it includes are named in the warnings.
    """
    document = without_front_matter(document)
    return _Reader(document.text.split("\n")).read(document)


class _Reader:
    """Reads the lines of a file in order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._built = LineText()
        self._title = ""
        self._attributes: dict[str, str] = dict(_GIVEN)
        self._metadata: dict[str, object] = {}
        self._replaced = 0
        self._style = ""
        self._delimiters = defaultdict[str, list[int]](list)
        for at, line in enumerate(lines):
            if _DELIMITER.fullmatch(bare := line.rstrip()):
                self._delimiters["```" if bare.startswith("```") else bare].append(at)

    def read(self, document: Document) -> Document:
        at = self._header()
        while at < len(self._lines):
            at = self._take(at)
        return self._built.document(document, self._title, self._metadata)

    def _header(self) -> int:
        """Read the title, the author and the attributes; return the line after them."""
        at = 0
        while at < len(self._lines):
            line = self._lines[at].rstrip()
            if not self._title and (level := self._underlined(at) or len(line) - len(line.lstrip("=#"))) == 1:
                self._title = self._replace(line.lstrip("=#").strip())
                at = self._heading(at, level, self._title)
            elif attribute := _ATTRIBUTE.fullmatch(line):
                at = self._attribute(at, attribute[1], attribute[2] or "", header=True)
            elif self._belongs(line):
                at = self._skip(at, at + 1)
            else:
                break
        return at

    def _belongs(self, line: str) -> bool:
        """Return whether a line belongs to the header: a comment, an empty one above the title, or one about it."""
        if not line or _LINE_COMMENT.match(line):
            return bool(line) or not self._title
        return bool(self._title) and self._about(line)

    def _about(self, line: str) -> bool:
        """Take the line below the title for its author or its revision, and return whether it is one."""
        name = "revision" if _REVISION.fullmatch(line) else "author"
        is_one = name not in self._metadata and (name == "revision" or _AUTHOR.fullmatch(line) is not None)
        if is_one:
            self._metadata[name] = line
        return is_one

    def _underlined(self, at: int) -> int:
        """Return the level of a heading that a line under it makes one; 0 if it is none."""
        line, below = (self._lines[place].rstrip() if place < len(self._lines) else "" for place in (at, at + 1))
        match = _UNDERLINE.fullmatch(below)
        is_heading = line[:1].isalnum() and abs(len(line) - len(below)) <= 1 and len(below) > 2
        return _LEVELS[match["mark"]] if match and is_heading else 0

    def _take(self, at: int) -> int:
        """Read what begins at a line; return the line after it."""
        line = self._lines[at].rstrip()
        if not line or line == "+" or _LINE_COMMENT.match(line) or _RULE.fullmatch(line):
            return self._skip(at, at + 1)
        if level := self._underlined(at):
            return self._heading(at, level, line)
        if _DELIMITER.fullmatch(line):
            return self._delimited(at, line)
        if heading := _HEADING.fullmatch(line):
            return self._heading(at, len(heading[1]), heading[2])
        if attribute := _ATTRIBUTE.fullmatch(line):
            return self._attribute(at, attribute[1], attribute[2] or "", header=False)
        if macro := _MACRO.fullmatch(line):
            return self._macro(at, *macro.groups())
        if _STYLE.fullmatch(line):
            self._style = line[1:-1]
            return self._skip(at, at + 1, keeps_style=True)
        if title := _TITLE.fullmatch(line):
            self._inline(title[1])
            return self._skip(at, at + 1, keeps_style=True)
        return self._paragraph(at)

    def _skip(self, at: int, end: int, *, keeps_style: bool = False) -> int:
        """Leave out lines, and end the block above them."""
        self._built.close(BlockKind.PARAGRAPH)
        self._built.write("\n" * (end - at))
        self._style = self._style if keeps_style else ""
        return end

    def _heading(self, at: int, level: int, words: str) -> int:
        self._built.close(BlockKind.PARAGRAPH)
        self._inline(words)
        self._built.close(BlockKind.HEADING, level)
        return self._skip(at, at + 1 + (self._underlined(at) > 0))

    def _attribute(self, at: int, name: str, value: str, *, header: bool) -> int:
        end, last, parts = at + 1, value, list[str]()
        while last.endswith((" \\", " +")) and end < len(self._lines):
            parts.append(last[:-2].strip())
            last, end = f" {self._lines[end].strip()}", end + 1
        value = self._replace(" ".join(filter(None, [*parts, last.strip()])))
        self._attributes[name.lower()] = value
        if header and value and name.lower() in _METADATA:
            self._metadata[name.lower()] = value
        return self._skip(at, end)

    def _macro(self, at: int, name: str, target: str, inside: str) -> int:
        self._built.close(BlockKind.PARAGRAPH)
        if name == "include":
            self._built.warn(f"includes {target}, which isn't read")
        elif name == "image":
            self._inline(_alt(inside))
        elif name in ("ifdef", "ifndef"):
            self._inline(inside)
        return self._skip(at, at + 1)

    def _delimited(self, at: int, line: str) -> int:
        """Read a delimited block as a whole if it is code, a table or a comment; others are what is in them."""
        places = self._delimiters["```" if line.startswith("```") else line]
        place, kind, style = bisect_right(places, at), line[0], self._style
        if place == len(places) or kind in "=*_" or line == "--":
            return self._skip(at, at + 1, keeps_style=True)
        end = places[place]
        self._skip(at, at + 1)
        if kind == "/" or style == "comment":
            return self._skip(at + 1, end + 1)
        if kind in "|!":
            self._table(self._lines[at + 1 : end], _width(style))
        else:
            self._code(self._lines[at + 1 : end])
        self._built.close(BlockKind.CODE if kind in "-.+`" else BlockKind.TABLE)
        return self._skip(end, end + 1)

    def _code(self, lines: Sequence[str]) -> None:
        for line in lines:
            if (macro := _MACRO.fullmatch(line.rstrip())) and macro[1] == "include":
                self._built.warn(f"includes {macro[2]}, which isn't read")
            self._built.write(f"{line}\n")

    def _table(self, lines: Sequence[str], width: int) -> None:
        """Write each row on the line where it ends."""
        cells, ends = list[list[str]](), list[int]()
        for at, line in enumerate(lines):
            before, *found = _CELL.split(line)
            if cells and before.strip():
                cells[-1].append(before.strip())
                ends[-1] = at
            cells += ([cell.strip()] for cell in found)
            ends += [at] * len(found)
            width = width or len(found)
        rows = {end: (at + 1 - width, at + 1) for at, end in enumerate(ends) if (at + 1) % width == 0}
        rows = {ends[-1]: (len(cells) - len(cells) % width, len(cells)), **rows} if cells else {}
        for at in range(len(lines)):
            self._row([" ".join(cell).strip() for cell in cells[slice(*rows.get(at, (0, 0)))]])

    def _row(self, row: Sequence[str]) -> None:
        for number, cell in enumerate(row):
            self._built.write(" | " if number else "")
            self._inline(cell.replace("\\|", "|"))
        self._built.write("\n")

    def _paragraph(self, at: int) -> int:
        """Read running text up to an empty line, or one that begins something else."""
        end = at + 1
        while end < len(self._lines) and self._goes_on(self._lines[end].rstrip()):
            end += 1
        text = "\n".join(self._lines[at:end])
        style, self._style = self._style, ""
        if style == "comment":
            return self._skip(at, end)
        is_code = style.startswith(_CODE_STYLES) or (text[:1] in " \t" and not _ITEM.match(text))
        if is_code:
            self._built.write(text)
        else:
            self._inline("\n".join(_TERM.sub(":", line, count=1) for line in self._lines[at:end]))
        self._built.close(BlockKind.CODE if is_code else BlockKind.PARAGRAPH)
        self._built.write("\n")
        return end

    def _goes_on(self, line: str) -> bool:
        return (
            bool(line)
            and line != "+"
            and not _LINE_COMMENT.match(line)
            and not any(pattern.fullmatch(line) for pattern in (_DELIMITER, _STYLE, _MACRO))
        )

    def _replace(self, text: str) -> str:
        """Return a text with attributes as their values."""
        return _REFERENCE.sub(self._value, text) if "{" in text else text

    def _value(self, match: re.Match[str]) -> str:
        value = self._attributes.get(match[1].lower())
        if value is None or len(value) > _LONGEST_VALUE or self._replaced >= _MOST_VALUES:
            return match[0]
        self._replaced += 1
        return value

    def _inline(self, text: str) -> None:
        self._write_inline(self._replace(text))

    def _write_inline(self, text: str) -> None:
        at = 0
        for match in _INLINE.finditer(text):
            self._built.write(text[at : match.start()])
            at = match.end()
            self._element(match.groupdict())
        self._built.write(text[at:])

    def _element(self, found: Mapping[str, str | None]) -> None:
        if found["note"]:
            self._built.notes.append(partial(self._write_inline, " ".join(found["note"].split())))
        elif target := found["target"] or found["place"]:
            self._link(target, _first(found["text"] or found["called"] or ""))
        elif found["macro"] == "menu":
            self._built.write(" > ".join(filter(None, (found["named"], found["inside"]))))
        elif formatted := found["inner"] or found["body"]:
            self._write_inline(formatted)
        elif found["macro"] not in ("indexterm", "anchor"):
            words = (
                _alt(found["alt"] or ""),
                _first(found["web"] or ""),
                found["inside"],
                found["index"],
                found["code"],
            )
            self._built.write(next(filter(None, words), ""))

    def _link(self, target: str, words: str) -> None:
        start, bare = self._built.offset, target.partition("#")[0]
        self._built.write(words or target.lstrip("#").removeprefix("_").replace("_", " "))
        self._built.link(document_target(bare) if "." in bare else None, start)


def _first(attributes: str) -> str:
    """Return the first of a macro's attributes, without quotes: its text."""
    text = attributes.strip()
    if text[:1] == '"' and (end := text.find('"', 1)) > 0:
        return text[1:end]
    return "" if re.match(r"[\w-]+=", text) else re.split(r",(?=\s*[\w-]+=)|\^$", text, maxsplit=1)[0]


def _alt(attributes: str) -> str:
    """Return the text that stands for a picture."""
    return _first(attributes if attributes.startswith('"') else attributes.partition(",")[0])


def _width(style: str) -> int:
    """Return how many columns a table says that it has; 0 if it doesn't."""
    columns = _COLUMNS.search(style)
    parts = re.split("[,;]", (columns[1] or columns[2] or "")[:10_000]) if columns else []
    return sum(int(match[1][:4]) if (match := _REPEATED.match(part.strip())) else 1 for part in parts)
