"""The prose of a passage: its text with markup, code and tables blanked out, every other character in its place.

Code blocks, tables, front matter, comments, tags, template shortcodes and the marks of admonitions and directives hold
no sentences, and their capitals and identifiers name nothing. :func:`prose` depends on the text alone: a passage from
a file, from a line of .jsonl and from the graph gives the same prose.
"""

import re
from collections.abc import Iterator, Sequence

from pipeline.resources import word_lists

_ANY = re.compile(
    r"```|~~~|^[ \t>]*[|+=]|\|[ \t]*:?-|<[/!A-Za-z]|\{[{%:#.]|::|^[ \t]*\.\.|\?\?\?|!!!|///|\A---|\]\(|\[!",
    re.MULTILINE,
)
"""Cheap test for markup: a text without a match has none."""

_FENCE = re.compile(r"^[ \t>]*(?P<marks>`{3,}(?=[^`\n]*$)|~~~(?!~))(?P<info>.*)$", re.MULTILINE)
_BORDER = re.compile(r"^[ \t]*=+(?:[ \t]+=+)+[ \t]*$", re.MULTILINE)  # border of a simple table in reStructuredText
_EMPTY_LINE = re.compile(r"\n[ \t]*$|\Z", re.MULTILINE)
_CODE = (
    "code|code-block|sourcecode|parsed-literal|math|prompt|ipython|literalinclude|include|image|figure|toctree"
    "|highlight|currentmodule|module|automodule|autoclass|autofunction|automethod|table|list-table|csv-table"
    "|testcode|testsetup|testcleanup|testoutput|doctest|raw|graphviz|mermaid|productionlist"
)
_ADMONITIONS = "admonition|attention|caution|danger|error|hint|important|note|seealso|tip|topic|warning"
_PATTERNS = (
    # front matter, comments, elements without text content
    re.compile(r"\A---[ \t]*\n(?=#|[\w'\"-]+[ \t]*:\s)(?:[^\n]*\n)*?---[ \t]*$", re.MULTILINE),
    re.compile(r"(?<!`)<!--.*?(?:-->|\Z)", re.DOTALL),
    re.compile(r"(?<!`)<(script|style|svg)\b.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE),
    # reStructuredText: directives without prose, with everything indented below them
    re.compile(rf"^(?P<at>[ \t]*)\.\. (?:{_CODE})::.*(?:\n(?:[ \t]*$|(?P=at)[ \t]+\S.*))*", re.MULTILINE),
    # admonitions: only the mark; their content is prose
    re.compile(rf"^[ \t]*\.\. (?:{_ADMONITIONS})::", re.MULTILINE),
    # other directives, comments and targets, with their options
    re.compile(r"^[ \t]*\.\.(?: .*)?$(?:\n[ \t]+:[\w-]+:.*$)*", re.MULTILINE),
    # literal blocks after two colons
    re.compile(r"(?<=::)[ \t]*\n(?:[ \t]*\n)+(?P<at>[ \t]+)\S.*(?:\n(?:[ \t]*$|(?P=at).*))*", re.MULTILINE),
    # tables: Markdown's without outer bars; Markdown's with outer bars, and grids
    re.compile(r"^[^|\n]*\|.*\n[ \t>]*:?-+:?[ \t]*\|[-:| \t]*$(?:\n.*\|.*$)*", re.MULTILINE),
    re.compile(r"^[ \t>]*(?:\|.*|\+[-=+]+)$", re.MULTILINE),
    # template tags (Hugo, Jinja, Liquid), and attributes: {#anchor}, {.class}, {: target=_blank }
    re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}"),
    re.compile(r"\{[:#.][^{}\n]*\}"),
    # the marks of admonitions: !!! note "Title", ::: tip, /// warning | Title, > [!NOTE]
    re.compile(r"^[ \t]*(?:!!!|\?\?\?|:::|///).*$|^[ \t]*>[ \t]*\[![A-Za-z]+\].*$", re.MULTILINE),
    # link targets, and tags
    re.compile(r"(?<=\])\([^()\s]*(?:\s+\"[^\"\n]*\")?\)"),
    re.compile(r"</?[A-Za-z][^<>]*>"),
)
_NOT_BLANK = re.compile(r"\S")

# The look-behind matches only the first sign of a run. The possessive quantifiers keep a long run of full stops
# from being retried at each of its characters.
_END = re.compile(
    r"(?<![.!?…])(?P<soft>[.!?…]++[\"'’”»)\]}*_]*+)(?=\s)"
    r"|[。！？｡．؟۔।॥։።၊။។][\"'’”»）」』】\])]*+"
    r"|\n(?=[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t])"
)
_LAST_WORD = re.compile(r"[^\s(\[{\"'“‘«]*\Z")
_WORDS = word_lists(__file__)
_ABBREVIATIONS = frozenset(_WORDS["abbreviations"].split())
_BEFORE_NUMBER = frozenset(_WORDS["before_number"].split())
_ENDS_ANYWAY = frozenset("etc usw т.д т.п al inc ltd co jr corp".split())


def prose(text: str) -> str:
    """Return ``text`` with everything but prose blanked out; length and line ends stay the same."""
    if not _ANY.search(text):
        return text
    for stretches in (_fenced, _simple_tables):
        parts, done = [], 0
        for start, end in stretches(text):
            parts += [text[done:start], _NOT_BLANK.sub(" ", text[start:end])]
            done = end
        text = "".join([*parts, text[done:]])
    for pattern in _PATTERNS:
        text = pattern.sub(lambda match: _NOT_BLANK.sub(" ", match.group()), text)
    return text


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of fenced code blocks; a passage may begin or end inside one."""
    fences = list(_FENCE.finditer(text))
    if fences and _closes(text, *fences[:2]):
        yield 0, fences.pop(0).end()
    opened: re.Match[str] | None = None
    for fence in fences:
        if opened is None:
            opened = None if _underlines(text, fence) else fence
        elif not _is_named(fence) and fence["marks"].startswith(opened["marks"]):
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _closes(text: str, first: re.Match[str], second: re.Match[str] | None = None) -> bool:
    """Return whether the first fence closes a code block that began before this passage.

    Such a fence has code right above it, and below it an empty line or an opening fence.
    """
    ends = _EMPTY_LINE.match(text, first.end()) or (second and _is_named(second))
    return bool(ends and _line_above(text, first) and not _is_named(first) and not _underlines(text, first))


def _is_named(fence: re.Match[str]) -> bool:
    """Return whether a fence names its language, as only an opening fence does."""
    return bool(fence["info"].strip())


def _underlines(text: str, fence: re.Match[str]) -> bool:
    """Return whether three tildes underline a short title in reStructuredText instead of fencing code."""
    return fence.group() == "~~~" and 0 < len(_line_above(text, fence)) <= len("~~~")


def _simple_tables(text: str) -> Iterator[tuple[int, int]]:
    """Yield the simple tables of reStructuredText as (start, end); a border before an empty line ends a table."""
    opened: re.Match[str] | None = None
    for border in _BORDER.finditer(text):
        ends = _EMPTY_LINE.match(text, border.end())
        if opened is not None and ends:
            yield opened.start(), border.end()
            opened = None
        elif opened is None and not ends:
            opened = border


def _line_above(text: str, match: re.Match[str]) -> str:
    """Return the line above the start of ``match``, without outer white space."""
    end = max(0, match.start() - 1)
    return text[text.rfind("\n", 0, end) + 1 : end].strip()


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of ``text[start:end]`` in order as (start, end), without white space around them.

    Every character that isn't white space lies in a sentence. A full stop doesn't end a sentence after an abbreviation,
    an initial or a list number, nor before a lower-case letter. A new list item begins a sentence.
    """
    for match in _END.finditer(text, start, end):
        if match["soft"] and not _is_end(text, start, match):
            continue
        if not text[start : match.end()].isspace():
            yield trimmed(text, start, match.end())
        start = match.end()
    if start < end and not text[start:end].isspace():
        yield trimmed(text, start, end)


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Return whether the full stop, question or exclamation mark at ``match`` ends the sentence begun at ``start``."""
    after = text[match.end() : match.end() + 40].lstrip().lstrip("\"'“‘«([*_")[:1]
    if after.islower():
        return False
    if match["soft"][0] != "." or match["soft"].startswith(".."):
        return True
    last_word = _LAST_WORD.search(text, max(start, match.start() - 24), match.start())  # room for a word
    word = last_word[0].casefold() if last_word else ""
    if word.isdigit() and (match.start() - len(word)) == start:
        return False
    if len(word) == 1 and word.isalpha():
        return False
    if word in _BEFORE_NUMBER:
        return not after.isdigit()
    if word in _ABBREVIATIONS:
        return word in _ENDS_ANYWAY and after.isupper()
    return True


def telling_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text that say anything, as (start, end); the whole text if none does."""
    telling = [span for span in sentences(text, 0, len(text)) if any(map(str.isalnum, text[slice(*span)]))]
    return telling or [(0, len(text))]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return ``start`` and ``end`` moved inwards past white space; equal if the stretch is blank."""
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, max(start, end - len(stretch) + len(stretch.rstrip()))


def one_line(text: str, longest: int | None = None) -> str:
    """Return a text on one line; of more than ``longest`` characters the first words, with … in place of the rest.

    A word is cut only if it begins in the first half, as one of a script without spaces does.
    """
    line = " ".join(text.split())
    if longest is None or len(line) <= longest:
        return line
    words = line[:longest].rpartition(" ")[0]
    return f"{words if len(words) >= longest // 2 else line[: longest - 1]}…"


def counted(count: int, thing: str, things: str = "") -> str:
    """Return a number of things: ``1 note``, ``2,000 notes``; ``things`` is a plural that isn't ``thing`` with an s."""
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"


def listed(texts: Sequence[str], most: int, more: str = "and {:,} more") -> list[str]:
    """Return the first ``most`` texts, and a text with the number of the others, if there are any."""
    return [*texts[:most], *([more.format(len(texts) - most)] if len(texts) > most else [])]
