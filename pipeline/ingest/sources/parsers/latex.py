"""LaTeX: headings, paragraphs, lists, code, tables and footnotes, line for line; no preamble, no comments.

No macro is run: a known one is what it shows, and of others the arguments stay. Mathematics stay as they are written.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from pipeline.files import Unreadable, decode
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.parsers.encodings import decoded_part
from pipeline.ingest.sources.parsers.latex_names import (
    ACCENTS,
    ARGUMENTS,
    BEFORE_TEXT,
    ENVIRONMENT_ARGUMENTS,
    HEADINGS,
    LEFT_OUT,
    MATHEMATICS,
    NOTES,
    SYMBOLS,
    TABLES,
    VERBATIM,
)
from pipeline.ingest.sources.parsers.line_text import LineText
from pipeline.ingest.sources.source import Source
from pipeline.records import BlockKind, Document

_TOKEN = re.compile(
    r"""\\(?P<accent>['`^"~=.]|[uvHckrdbt](?![A-Za-z@]))[ \t]*(?:\{[ \t]*(?P<in_braces>\\[ij]|[^\W\d_])[ \t]*\}"""
    r"|(?P<bare>\\[ij](?![A-Za-z])|[^\W\d_]))"
    r"|\\begin[ \t]*\{(?P<begin>[^{}\n]*)\}|\\end[ \t]*\{(?P<end>[^{}\n]*)\}"
    r"|\\(?:verb\*?|lstinline(?:\[[^\[\]\n]*\])?)(?P<fence>[^A-Za-z\s*\[{])(?P<verb>[^\n]*?)(?P=fence)"
    r"|\\(?P<name>[A-Za-z@]+)\*?|\\(?P<symbol>[\s\S])"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*(?![ \t\n]))?)"
    r"|(?P<formula>\$\$(?:[^$\\]|\\.)+\$\$|\$(?:[^$\\\n]|\\.|\n(?![ \t]*\n))+\$)"
    r"|(?P<open>\{)|(?P<close>\})|(?P<blank>\n[ \t]*(?:\n[ \t]*)+)|(?P<newline>\n)|(?P<sign>---?|``|''|[~&`])"
)
_BRACE = re.compile(r"\\[\s\S]|%[^\n]*|[{}]")
_OPTION = re.compile(r"[ \t]*(?:\n[ \t]*(?=\[))?\[([^\[\]]{0,1000})\]")
_SPACE = re.compile(r"[ \t]*(?:\n[ \t]*(?=\{))?")
_BODY = re.compile(r"^[^%\n]*?\\begin\{document\}", re.MULTILINE)
_BODY_END = re.compile(r"^[^%\n]*?\\end\{document\}", re.MULTILINE)
_DEFINITION = re.compile(r"[ \t]*(?:\{[ \t]*)?\\([A-Za-z@]+)[ \t]*\}?(?P<arguments>[ \t]*\[|[ \t]*#)?")
_DEFINING = frozenset(("newcommand", "renewcommand", "providecommand", "def", "gdef", "edef", "DeclareRobustCommand"))
_READ = frozenset(("input", "include", "subfile", "subfileinclude", "import", "subimport"))
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "`": "‘", "&": "&"}
_SPACES = {",": " ", ";": " ", ":": " ", " ": " ", "\t": " ", "!": "", "-": "", "/": "", "@": ""}
_RAW = re.compile(r"\\begin\{([A-Za-z]+)\*?\}")
_PREAMBLE = re.compile(r"\\([A-Za-z@]+)\*?|%[^\n]*|\\.")
_NAME = re.compile(r"[ \t]+([^\s{}%]+)")
_INPUT_ENCODING = re.compile(
    rb"\\usepackage\[(\w+)\]\{inputenc\}|%[ \t]*!TeX encoding[ \t]*=[ \t]*(\S+)", re.IGNORECASE
)
_ENCODINGS = {"ansinew": "windows-1252", "applemac": "macintosh", "latin9": "iso-8859-15", "latin10": "iso8859-16"}
_DEEPEST = 3
"""Notes in notes whose markup is read. Chosen by hand: nobody nests them, and each level reads its text again."""
_LONGEST_VALUE, _MOST_VALUES = 200, 10_000
"""Characters of a macro of the author's that stands for its text, and how often all together, so that no text grows
without bounds. Chosen by hand; not measured."""


def parse(source: Source) -> Document:
    """Return a LaTeX file as a document, in the encoding that it states, if it isn't UTF-8. Raises Unreadable."""
    try:
        text = decode(source.data)
    except Unreadable:
        if b"\x00" in source.data or not source.data.strip():
            raise
        stated = _INPUT_ENCODING.search(source.data, 0, 50_000)
        label = (stated[1] or stated[2]).decode("ascii", "replace") if stated else ""
        text = decoded_part(source.data, _ENCODINGS.get(label, label))
    document = structure(Document(source.key, "", text, path=source.path))
    return replace(document, title=document.title or source.stem)


def structure(document: Document) -> Document:
    """Return a document of LaTeX with its blocks and links, its author and date as metadata.

    Accents and signs are characters. A macro without arguments that the file defines stands for its text, ``\\cite``
    and ``\\ref`` for their keys. The text of a footnote follows its paragraph; a row of a table is a line. Files that
    it reads in are named in the warnings.
    """
    return _Reader(document.text, {}).read(document)


class _Reader:
    """Reads a file from its beginning to its end; ``_at`` is where it is, ``_owed`` the lines that it left out."""

    def __init__(self, text: str, values: Mapping[str, str], depth: int = 0) -> None:
        self._text = text
        self._built = LineText()
        self._values = dict(values)
        self._depth = depth
        self._used = self._owed = self._at = self._tables = 0
        self._about: dict[str, str] = {}
        self._missing = set[str]()
        self._at_close: dict[int, Callable[[], None]] = {}
        self._closings = self._braces()
        self._missing.clear()
        self._space, self._is_new_row = False, True
        self._actions: dict[str, Callable[[str], None]] = {
            **dict.fromkeys(NOTES, self._note),
            **dict.fromkeys(_DEFINING, self._define),
            **dict.fromkeys(_READ, self._read_in),
            **dict.fromkeys(("title", "author", "date"), self._tell),
            **dict.fromkeys(("caption", "captionof"), self._caption),
            **dict.fromkeys(HEADINGS, self._heading),
            **dict.fromkeys(SYMBOLS, self._character),
            "item": self._item,
            "href": self._link,
            "par": lambda _: self._break(),
        }

    def read(self, document: Document) -> Document:
        begin = _BODY.search(self._text)
        if begin:
            self._preamble(begin.end())
        end = _BODY_END.search(self._text, self._at)
        self._run(end.end() if end else len(self._text))
        self._built.write("\n" * (self._owed + self._text.count("\n", self._at)))
        title = self._about.pop("title", "")
        return self._built.document(document, title, self._about)

    def plain(self) -> str:
        """Return the text of a piece of LaTeX on one line."""
        self._run(len(self._text))
        return " ".join(self._built.document(Document("", "", ""), "", {}).text.split()).replace(" ,", ",")

    def _plain(self, text: str) -> str:
        if self._depth >= _DEEPEST:
            return " ".join(text.split())
        return _Reader(text, self._values, self._depth + 1).plain()

    def _braces(self) -> dict[int, int]:
        """Return where each brace that opens is closed."""
        closings, opened, at = dict[int, int](), list[int](), 0
        while match := _BRACE.search(self._text, at):
            at = match.end()
            if match[0] == "{":
                opened.append(match.start())
            elif match[0] == "}" and opened:
                closings[opened.pop()] = match.start()
            elif match[0] == "\\b" and (code := _RAW.match(self._text, at - 2)):
                is_raw = code[1] in VERBATIM or code[1] in LEFT_OUT
                at = max(at, self._end_of(code[0][7:-1], code.end())) if is_raw else at
        return closings

    def _end_of(self, name: str, at: int) -> int:
        """Return where an environment ends; 0 if it doesn't."""
        if name in self._missing:
            return 0
        end = self._text.find(f"\\end{{{name}}}", at)
        if end < 0:
            self._missing.add(name)  # so that no further one is searched to the end
        return max(0, end)

    def _preamble(self, end: int) -> None:
        """Read what is said of the document, and the macros that it defines."""
        while match := _PREAMBLE.search(self._text, self._at, end):
            self._at = match.end()
            if match[1] in _DEFINING:
                self._define(match[1])
            elif match[1] in ("title", "author", "date"):
                self._tell(match[1])
        self._at = self._owed = 0
        self._leave_out(end)

    def _tell(self, name: str) -> None:
        self._option()
        if span := self._argument():
            text = self._text[slice(*span)].replace("\\and", ", ").replace("\\\\", " ")
            if plain := self._plain(re.sub(r"\\(?:thanks|inst)\{[^{}]*\}", "", text)):
                self._about[name] = plain

    def _define(self, _: str) -> None:
        """Take in a macro of the author's; of one with arguments nothing is known, and its arguments stay."""
        if not (match := _DEFINITION.match(self._text, self._at)):
            return
        brace = self._text.find("{", match.end(), match.end() + 40)
        if (end := self._closings.get(brace, -1)) < 0:
            return
        if not match["arguments"] and end - brace < 2 * _LONGEST_VALUE:
            value = self._plain(self._text[brace + 1 : end])
            self._values |= {match[1]: value} if 0 < len(value) <= _LONGEST_VALUE else {}
        self._leave_out(end + 1)

    def _run(self, end: int) -> None:
        """Write what is before ``end``."""
        while self._at < end and (match := _TOKEN.search(self._text, self._at, end)):
            self._write(self._text[self._at : match.start()])
            self._at = match.end()
            self._take(match)
        self._write(self._text[self._at : end])
        self._at = max(self._at, end)

    def _take(self, match: re.Match[str]) -> None:
        kind = match.lastgroup or ""
        if match["accent"]:
            self._write(_accented(match["accent"], (match["in_braces"] or match["bare"]).lstrip("\\")))
        elif match["fence"]:
            self._write(match["verb"])
        elif kind == "close":
            if action := self._at_close.pop(match.start(), None):
                action()
        elif kind == "blank":
            self._break(match[0].count("\n"))
        elif kind == "newline":
            self._newline()
        elif kind == "comment":
            self._comment(match)
        elif kind != "open":
            taken: dict[str, Callable[[str], None]] = {
                "begin": self._begin, "end": self._end, "name": self._macro, "symbol": self._symbol,
                "formula": self._write, "sign": self._sign,
            }  # fmt: skip
            taken[kind](match[kind])

    def _write(self, words: str) -> None:
        """Add words; in a table on one line."""
        bare = " ".join(words.split()) if self._tables else words
        if self._tables and not bare:
            self._space = self._space or bool(words)
            return
        if self._built.is_blank or (self._tables and self._is_new_row):
            self._built.write("\n" * max(0, self._owed) if not words.isspace() else "")
            self._owed = self._owed if words.isspace() else min(0, self._owed)
        elif self._tables and (self._space or words[0].isspace()):
            self._built.write(" ")
        self._built.write(bare)
        self._is_new_row, self._space = False, words[-1:].isspace()

    def _newline(self) -> None:
        self._owed += 1
        if self._tables:
            self._space = True
        else:
            self._built.write("\n" * self._owed)
            self._owed = 0

    def _break(self, lines: int = 0, kind: BlockKind = BlockKind.PARAGRAPH, level: int = 0) -> None:
        """End a block, and go on so many lines below. A table has a single block."""
        if self._tables:
            self._owed += lines
            return
        self._built.close(kind, level)
        self._built.write("\n" * (lines + self._owed))
        self._owed = min(0, lines + self._owed)

    def _comment(self, match: re.Match[str]) -> None:
        """Leave out a comment, and if it has no line of its own the end of the line too: the word goes on."""
        self._owed += match[0].count("\n")
        before = self._text.rfind("\n", max(0, match.start() - 200), match.start()) + 1
        if not self._text[before : match.start()].strip() and self._owed:
            self._owed -= 1
            self._newline()

    def _leave_out(self, end: int) -> None:
        """Go on at ``end``; the lines between stay, empty."""
        lines = self._text.count("\n", self._at, end)
        self._owed += lines
        self._at = max(self._at, end)

    def _option(self) -> str | None:
        """Return the optional argument that stands here, and go on behind it; None if there is none."""
        if not (match := _OPTION.match(self._text, self._at)):
            return None
        self._leave_out(match.end())
        return match[1]

    def _argument(self) -> tuple[int, int] | None:
        """Return the span of the argument in braces that stands here, and go on behind it; None if there is none."""
        space = _SPACE.match(self._text, self._at)
        start = space.end() if space else self._at
        end = self._closings.get(start, -1)
        if end < 0:
            return None
        self._leave_out(end + 1)
        return start + 1, end

    def _value(self) -> str:
        """Return the argument that stands here as it is written."""
        span = self._argument()
        return " ".join(self._text[slice(*span)].split()) if span else ""

    def _after_argument(self, action: Callable[[], None]) -> None:
        """Have something done where the argument that stands here ends, which is written meanwhile."""
        space = _SPACE.match(self._text, self._at)
        start = space.end() if space else self._at
        if (end := self._closings.get(start, -1)) >= 0:
            self._leave_out(start + 1)
            self._at_close[end] = action
        else:
            action()

    def _macro(self, name: str) -> None:
        self._actions.get(name, self._other)(name)

    def _character(self, name: str) -> None:
        self._write(SYMBOLS[name])
        for ending in ("{}", " "):
            if self._text.startswith(ending, self._at):
                self._at += len(ending)
                return

    def _heading(self, name: str) -> None:
        self._option()
        self._break()
        self._after_argument(partial(self._break, 0, BlockKind.HEADING, HEADINGS[name]))

    def _caption(self, _: str) -> None:
        self._option()
        self._break()
        self._after_argument(self._break)

    def _read_in(self, macro: str) -> None:
        bare = _NAME.match(self._text, self._at)
        name = (self._value() + (self._value() if macro.endswith("import") else "")) or (bare[1] if bare else "a file")
        self._at = max(self._at, bare.end()) if bare and bare[1] == name else self._at
        self._built.warn(f"reads in {name}, which isn't read")

    def _other(self, name: str) -> None:
        """Leave out a macro: with all arguments, with those before its text, or with its options alone."""
        if name in self._values and self._used < _MOST_VALUES:
            self._used += 1
            self._write(self._values[name])
            self._at += 2 if self._text.startswith("{}", self._at) else 0
        elif name in ARGUMENTS:
            for _ in range(ARGUMENTS[name]):
                self._option()
                self._argument()
        elif "cite" in name.lower() or name.endswith("ref"):
            self._reference(name)
        else:
            if name in BEFORE_TEXT or self._text.startswith("[", self._at):
                self._option()
            for _ in range(BEFORE_TEXT.get(name, 0)):
                self._argument()
            self._at += self._text.startswith(" ", self._at)  # it only ends the name

    def _note(self, _: str) -> None:
        self._option()
        if span := self._argument():
            self._built.notes.append(partial(self._built.write, self._plain(self._text[slice(*span)])))

    def _item(self, _: str) -> None:
        term = self._option()
        self._write(f"{self._plain(term)}:" if term else "-")

    def _link(self, _: str) -> None:
        target = document_target(self._value().removeprefix("file:"))
        start = self._built.offset
        self._after_argument(lambda: self._built.link(target, start))

    def _reference(self, name: str) -> None:
        note = ""
        while (option := self._option()) is not None:
            note = option
        keys = ", ".join(key.strip() for key in self._value().split(","))
        words = ", ".join(filter(None, (keys, self._plain(note))))
        self._write(words if name.endswith("ref") else f"[{words}]" if words else "")

    def _symbol(self, symbol: str) -> None:
        if symbol == "\\":
            self._at += self._text.startswith("*", self._at)
            self._option()
            self._end_row() if self._tables else self._write(" ")
        elif symbol in "([":
            self._formula("\\)" if symbol == "(" else "\\]")
        elif symbol == "\n":
            self._newline()
        else:
            self._write(_SPACES.get(symbol, symbol))

    def _formula(self, closing: str) -> None:
        end = -1 if closing in self._missing else self._text.find(closing, self._at)
        if end < 0:
            self._missing.add(closing)
            return
        self._raw(end, end + 2)

    def _raw(self, end: int, after: int) -> None:
        """Write what is before ``end`` as it is, and go on after it."""
        if self._tables:
            self._write(self._text[self._at : end])
        else:
            self._built.write("\n" * self._owed + self._text[self._at : end])
            self._owed = 0
        self._at = after

    def _sign(self, sign: str) -> None:
        if sign == "&" and self._tables:
            self._space = True
            self._write("|")
            self._space = True
        else:
            self._write(_SIGNS[sign])

    def _begin(self, name: str) -> None:
        bare = name.rstrip("*")
        end = self._end_of(name, self._at) if bare in VERBATIM | LEFT_OUT | MATHEMATICS else 0
        if bare in TABLES:
            self._begin_table(bare)
        elif end and bare in MATHEMATICS:
            self._raw(end, end + len(name) + 6)
        elif end:
            self._break()
            self._code(end) if bare in VERBATIM else None
            self._leave_out(end + len(name) + 6)
            self._break()
        else:
            self._break()
            self._open_environment(bare)

    def _open_environment(self, name: str) -> None:
        option = self._option()
        for _ in range(ENVIRONMENT_ARGUMENTS.get(name, 0)):
            self._argument()
        if name == "frame":
            self._after_argument(partial(self._break, 0, BlockKind.HEADING, 3))
        elif option and " " in option.strip() and "=" not in option:
            self._write(f"{self._plain(option)}.")

    def _code(self, end: int) -> None:
        self._option()
        if self._text.startswith("{", self._at):
            self._argument()
        self._raw(end, end)
        self._built.close(BlockKind.CODE)

    def _end(self, name: str) -> None:
        if name.rstrip("*") in TABLES and self._tables:
            self._tables -= 1
            if not self._tables:
                self._break(0, BlockKind.TABLE)
            return
        self._break()

    def _begin_table(self, name: str) -> None:
        self._break()
        self._tables += 1
        self._is_new_row = self._is_new_row or self._tables == 1
        self._option()
        for _ in range(TABLES[name]):
            self._argument()
            self._option()

    def _end_row(self) -> None:
        if self._tables == 1:
            self._built.write("\n")
            self._owed -= 1
            self._space, self._is_new_row = False, True
        else:
            self._space = True


def _accented(accent: str, letter: str) -> str:
    return unicodedata.normalize("NFC", letter + ACCENTS.get(accent, ""))
