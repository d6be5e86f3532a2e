"""Org, AsciiDoc and LaTeX by one table: their text without markup, line for line, with blocks and links.

Headings, code, tables and links become blocks and links; comments, preambles and what is drawn are left out, line ends
stay. Nothing is run or included.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers.line_text import LineText, without_front_matter
from pipeline.ingest.sources.parsers.markup_table import MARKUPS, Markup
from pipeline.records import BlockKind, Document

_METADATA = frozenset(
    "author date description email filetags keywords lang language revdate revision revnumber subtitle version".split()
)
_LONGEST_VALUE, _MOST_VALUES = 200, 10_000
"""Characters of a macro or attribute that stands for its text, and how often all together: others stay as they are
written, so that no text grows without bounds. Chosen by hand; not measured."""
_DEEPEST = 20
"""Rounds over nested markup, each over the whole text: people nest three or four deep. Chosen by hand; not measured."""

_OPENS, _WORDS, _CLOSES, _ASIDE = "\x02", "\x03", "\x04", "\x05"
"""The reader's own signs: an item opens, its number ends, its words end; an empty line that is no end of a block."""
_ESCAPED, _FIXED = (re.compile(mark, re.MULTILINE) for mark in (r"^([ \t]*),(?=\*|#\+|,)", r"^()[ \t]*:[ \t]"))
_OWN = re.compile(r"[\x02-\x05]")
_SIGN = re.compile(r"\x02(?P<item>\d+)\x03|(?P<closes>\x04)|(?P<blank>\n[ \t]*(?:\n[ \t]*)+)")


def structure(name: str, document: Document) -> Document:
    """Return a document of the markup ``name`` with its blocks and links, what it says of itself as metadata.

    Attributes and macros without arguments stand for their values. Footnotes stand in their sentences, in parentheses.
    Files that it includes are named in the warnings.
    """
    document = without_front_matter(document)
    return _Reader(MARKUPS[name]).read(document)


class _Reader:
    """Applies the rows of a markup to a text, with signs for what gets its place only at the end."""

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._built = LineText()
        self._items: list[tuple[str, str]] = []
        self._values = dict(markup.values)
        self._used = 0
        self._title = ""
        self._metadata: dict[str, object] = {}
        self._kinds: dict[str, Callable[[re.Match[str], str, str], str]] = {
            "code": self._code, "kept": partial(self._item, "kept"), "words": self._words, "target": self._link,
            "table": self._table, "define": self._define, "value": self._about, "use": self._use, "note": _note,
            "included": self._include, "accent": self._accent, "symbol": self._symbol, "term": _term, "text": _text,
            "aside": lambda *_: _ASIDE,
        }  # fmt: skip

    def read(self, document: Document) -> Document:
        text = _OWN.sub(" ", document.text)
        for row in self._markup.rows:
            text = self._apply(row, text)
        self._build(self._without_nested(text))
        return self._built.document(document, self._title, self._metadata)

    def _without_nested(self, text: str) -> str:
        for _ in range(_DEEPEST):
            before, text = text, self._apply(self._markup.nested, text)
            if text == before:
                break
        for row in self._markup.rest:
            text = self._apply(row, text)
        return text

    def _apply(self, row: re.Pattern[str], text: str) -> str:
        """Return a text with each match of a row replaced; a line that has only the look of an underline goes on."""
        pieces, at = list[str](), 0
        while match := row.search(text, at):
            pieces.append(text[at : match.start()])
            under = match.groupdict().get("under")
            if under and abs(len(match["words_under"].rstrip()) - len(under)) > 1:
                pieces.append(match["words_under"])
                at = match.end("words_under")
            else:
                pieces.append(self._replaced(match))
                at = max(match.end(), match.start() + 1)
        return "".join(pieces) + text[at:]

    def _replaced(self, match: re.Match[str]) -> str:
        """Return what a match becomes, by the first kind of its groups; with none its line ends alone."""
        for group, value in match.groupdict().items():
            kind = group.partition("_")[0]
            if value is not None and kind in self._kinds:
                return self._kinds[kind](match, group, value)
        return "\n" * match[0].count("\n")

    def _item(self, kind: str, match: re.Match[str], group: str, value: str, words: str = "") -> str:
        """Return the sign of an item, amid the line ends of what is left out around it."""
        self._items.append((kind, value))
        sign = f"{_OPENS}{len(self._items) - 1}{_WORDS}{words}{_CLOSES}"
        return _lines(match, match.start(), match.start(group)) + sign + _lines(match, match.end(group), match.end())

    def _code(self, match: re.Match[str], group: str, value: str) -> str:
        marks = _FIXED if group == "code_fixed" else _ESCAPED
        return self._item("code", match, group, marks.sub(r"\1", value))

    def _words(self, match: re.Match[str], group: str, words: str) -> str:
        found = match.groupdict()
        mark = next(found[name] for name in found if name.startswith("mark") and found[name])
        for name in ("author", "revision"):
            if found.get(name):
                self._metadata[name] = found[name]
        return self._item(str(self._markup.levels.get(mark, min(len(mark), 6))), match, group, "", words)

    def _link(self, match: re.Match[str], _: str, target: str) -> str:
        found = match.groupdict()
        given = next((found[name] for name in found if name.startswith("words") and found[name]), "")
        bare = target.removeprefix("file:").removeprefix("./").partition("::")[0]
        words = given or (bare if "." in bare else bare.lstrip("#_").replace("_", " "))
        is_place = target.startswith(("*", "#", "id:", "(")) or ("." not in bare and not target.startswith("file:"))
        href = "" if is_place else document_target(bare) or ""
        self._items.append(("link", href))
        lines = "\n" * (match[0].count("\n") - words.count("\n"))
        return f"{_OPENS}{len(self._items) - 1}{_WORDS}{words}{_CLOSES}{lines}"

    def _table(self, match: re.Match[str], group: str, rows: str) -> str:
        """Return a table with a row a line, as they are written, and ``|`` between its cells."""
        lines = (self._markup.cell.split(line) for line in rows.split("\n"))
        text = "\n".join(" | ".join(filter(None, (cell.strip(" \t") for cell in line))) for line in lines)
        return self._item("table", match, group, "", text)

    def _define(self, match: re.Match[str], _: str, name: str) -> str:
        value = " ".join((match["value"] or "").replace("\\\n", " ").split())
        if "unknown" not in match.groupdict() or not match["unknown"]:
            self._values |= {name: value} if len(value) <= _LONGEST_VALUE else {}
        if value and name.lower() in _METADATA:
            self._metadata[name.lower()] = value
        return "\n" * match[0].count("\n")

    def _use(self, match: re.Match[str], _: str, name: str) -> str:
        if name not in self._values or self._used >= _MOST_VALUES:
            return match[0]
        self._used += 1
        return self._values[name]

    def _about(self, match: re.Match[str], _: str, value: str) -> str:
        """Note what a document says of itself, without its markup."""
        name = match["name"].lower()
        words = " ".join(self._plain(value).strip("<>").split()).replace(" ,", ",")
        if name == "title":
            self._title = f"{self._title} {words}".strip()
        elif words:
            self._metadata[name] = words.strip(":").split(":") if name == "filetags" else words
        return "\n" * match[0].count("\n")

    def _plain(self, text: str) -> str:
        shown = _SIGN.sub(lambda sign: self._kept(sign["item"]), self._without_nested(text))
        return _OWN.sub("", shown)

    def _kept(self, item: str | None) -> str:
        kind, value = self._items[int(item)] if item else ("", "")
        return value if kind == "kept" else ""

    def _include(self, match: re.Match[str], _: str, name: str) -> str:
        self._built.warn(f"includes {name}, which isn't read")
        return "\n" * match[0].count("\n")

    def _accent(self, match: re.Match[str], _: str, accent: str) -> str:
        letter = (match["letter"] or match["letter_bare"]).lstrip("\\")
        return unicodedata.normalize("NFC", letter + self._markup.accents[accent])

    def _symbol(self, match: re.Match[str], _: str, symbol: str) -> str:
        return self._markup.symbols.get(symbol, match[0])

    def _build(self, text: str) -> None:
        """Write a text with what its signs stand for: blocks end at blank lines, headings, code and tables."""
        at, opened = 0, list[tuple[str, str, int]]()
        for sign in _SIGN.finditer(text):
            self._built.write(text[at : sign.start()].replace(_ASIDE, ""))
            at = sign.end()
            if sign["item"]:
                kind, value = self._items[int(sign["item"])]
                if kind not in ("kept", "link"):
                    self._built.close(BlockKind.PARAGRAPH)
                opened.append((kind, value, self._built.offset))
                self._built.write(value if kind in ("kept", "code") else "")
            elif sign["blank"]:
                self._blank(sign["blank"], in_table=any(kind == "table" for kind, _, _ in opened))
            elif opened:
                self._end(*opened.pop())
        self._built.write(text[at:].replace(_ASIDE, ""))

    def _blank(self, lines: str, *, in_table: bool) -> None:
        if not in_table:
            self._built.close(BlockKind.PARAGRAPH)
        self._built.write(lines)

    def _end(self, kind: str, value: str, start: int) -> None:
        if kind == "link":
            self._built.link(value, start)
        elif kind in ("code", "table"):
            self._built.close(BlockKind(kind))
        elif kind != "kept":
            self._built.close(BlockKind.HEADING, int(kind))


def _lines(match: re.Match[str], start: int, end: int) -> str:
    return "\n" * match.string.count("\n", start, end)


def _note(_match: re.Match[str], _: str, words: str) -> str:
    return f" ({words})"


def _term(_match: re.Match[str], _: str, words: str) -> str:
    return f"{words}:"


def _text(match: re.Match[str], group: str, words: str) -> str:
    return _lines(match, match.start(), match.start(group)) + words + _lines(match, match.end(group), match.end())
