"""Parse source code with tree-sitter, whose parsers read what broken code holds, too."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from pipeline.code.comments import comment_text, docstring_text, is_license
from pipeline.code.languages import Language
from pipeline.code.records import Call, Definition, DefinitionKind, Import, SourceCode
from pipeline.code.tags import Declaration, ImportTag, Span, Tags, tags_of

SMALL = 10_000
"""Bytes or characters up to which no text takes a second: parsers may take time by the square of the size, or worse."""

CPU_SECONDS = 5.0
"""Limit of a larger text, in seconds of the processor, so that a busy machine leaves out no more than an idle one."""

_SEPARATOR = re.compile(r"::|[.#\\]")
_TYPE_NOISE = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|[*&()]|\b(?:mut|dyn|const)\b|'\w+\b|\s")
_OPENING = re.compile(r"\ufeff?(?:#![^\n]*\n)?\s*(?:<\?(?:php)?)?")
_ALIAS = re.compile(r"(?<!\s)\s++as\s+\w+")
_QUOTES = "\"'`<> \t\r\n;"


def parse_code(text: str, language: Language) -> SourceCode:
    """Return the syntax of ``text``. Of broken code it is what the parser recognises; nothing is raised."""
    tags = tags_of(text, language)
    scopes = list(_scopes(text, tags))
    comments = _Comments(text, tags, docstrings=language.docstrings)
    definitions = sorted(map(comments.definition, (scope for scope in scopes if scope.kind)), key=attrgetter("start"))
    doc = comments.file_doc({definition.start for definition in definitions})
    imports, calls = tuple(_imports(text, tags)), tuple(_calls(text, tags, scopes))
    return SourceCode(language.name, doc, tuple(definitions), imports, calls, tags.broken)


@dataclass(frozen=True, slots=True)
class _Scope:
    """A declaration with its qualified name; ``caller`` is that of the innermost definition, itself or around it."""

    declaration: Declaration
    kind: DefinitionKind | None
    qualified: str
    caller: str


def _scopes(text: str, tags: Tags) -> Iterator[_Scope]:
    """Yield the declarations in order, outer ones first."""
    around: list[_Scope] = []
    for declaration in sorted(tags.declarations.values(), key=lambda item: (item.span[0], -item.span[1])):
        names = _names(text, declaration)
        if not names:
            continue
        while around and around[-1].declaration.span[1] < declaration.span[1]:
            around.pop()
        outer = around[-1] if around else None
        qualified = ".".join([outer.qualified, *names] if outer else names)
        owned = len(names) > 1 or (outer and outer.kind in (None, DefinitionKind.CLASS))
        kind = DefinitionKind.METHOD if owned and declaration.kind is DefinitionKind.FUNCTION else declaration.kind
        around.append(_Scope(declaration, kind, qualified, qualified if kind else outer.caller if outer else ""))
        yield around[-1]


def _names(text: str, declaration: Declaration) -> list[str]:
    """Return the parts of a declaration's own name; the type that it is declared for, from outside, comes first."""
    owner, name = text[slice(*declaration.receiver)], text[slice(*declaration.name)]
    if declaration.kind and "(" in name and "operator" not in name:
        return []  # a declarator of C around the name
    no_owner = ("", "prototype", "module", "exports", "this", "self")
    owners = [part for part in _SEPARATOR.split(_bare_type(owner)) if part not in no_owner]
    if declaration.kind is None or ("::" in name and "operator" not in name):
        name = _bare_type(name)
    parts = [part.strip(_QUOTES) for part in _SEPARATOR.split(name) if part.strip(_QUOTES)]
    # namespaces qualify no names
    named = {None: parts[-1:], DefinitionKind.FUNCTION: parts[-2:]}.get(declaration.kind, parts)
    return [*owners[-1:], *named]


def _bare_type(written: str) -> str:
    """Return a type without its parameters and marks: ``*Server[K, V]`` gives ``Server``."""
    bare = _TYPE_NOISE.sub("", written)
    while bare != written:
        written, bare = bare, _TYPE_NOISE.sub("", bare)
    return bare


class _Comments:
    """Finds the comments above definitions, and the docstrings."""

    def __init__(self, text: str, tags: Tags, *, docstrings: bool) -> None:
        self._text, self._tags, self._docstrings = text, tags, docstrings
        opening = _OPENING.match(text)
        self._first = self._next(opening.end() if opening else 0)

    def definition(self, scope: _Scope) -> Definition:
        """Return a definition with its wrappers, decorators and comments."""
        declaration = scope.declaration
        span = declaration.span
        while (wrapper := self._tags.wrappers.get(span, span)) != span:
            span = wrapper
        above = self._above(span[0])
        end = span[0] + len(self._text[span[0] : span[1]].rstrip())
        body = declaration.body + (self._text[declaration.body : declaration.body + 1] == "{")
        return Definition(
            kind=scope.kind or DefinitionKind.FUNCTION,
            name=scope.qualified.rpartition(".")[2],
            qualified=scope.qualified,
            start=above[0][0] if above else span[0],
            end=end,
            body=min(body, end),
            line=declaration.line,
            doc=self._doc(declaration.span, above),
        )

    def file_doc(self, starts: set[int]) -> str:
        """Return the docstring of the file, else its first comment that is no licence and above no definition."""
        if self._docstrings:
            return self._doc(self._tags.root, [])
        at = self._first
        begins = {start: (start, end) for start, end in self._tags.comments.values()}
        while (start := self._next(at)) in begins and start not in starts:
            block = [begins[start]]
            while self._is_line(block[-1]) and (following := self._next(block[-1][1])) in begins:
                if not (self._adjoins(block[-1][1], following) and self._is_line(begins[following])):
                    break
                block.append(begins[following])
            if (doc := self._joined(block)) and not is_license(doc):
                return doc
            at = block[-1][1]
        return ""

    def _doc(self, span: Span, above: Sequence[Span]) -> str:
        if not self._docstrings:
            return self._joined([comment for comment in above if comment not in self._tags.attributes])
        return docstring_text(self._text[slice(*self._tags.docstrings.get(span, (0, 0)))])

    def _joined(self, comments: Sequence[Span]) -> str:
        return "\n".join(filter(None, (comment_text(self._text[start:end]) for start, end in comments)))

    def _above(self, start: int) -> list[Span]:
        """Return the comments and attributes right above ``start``, in order."""
        found: list[Span] = []
        while True:
            end = start
            while end > 0 and self._text[end - 1].isspace():
                end -= 1
            comment = self._tags.comments.get(end, (0, 0))
            # JSDoc is often set off by a blank line; the first comment is the file's then
            blank = not found and comment[0] != self._first and self._text.startswith("/**", comment[0])
            # nothing but other attributes stands before a comment on its line
            line = self._text[self._text.rfind("\n", 0, comment[0]) + 1 : comment[0]]
            begins = not line.strip("\ufeff \t") or comment in self._tags.attributes
            if not comment[1] or not begins or not self._adjoins(end, start, 2 if blank else 1):
                return found[::-1]
            found.append(comment)
            start = comment[0]

    def _is_line(self, comment: Span) -> bool:
        return not self._text.startswith("/*", comment[0])

    def _adjoins(self, end: int, start: int, lines: int = 1) -> bool:
        """Return whether nothing lies between two offsets but white space with at most so many line ends."""
        between = self._text[end:start]
        return not between.strip() and between.count("\n") <= lines

    def _next(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at


def _imports(text: str, tags: Tags) -> Iterator[Import]:
    ordered = sorted(tags.imports, key=lambda item: (item.module, item.name))
    for span, group in groupby(ordered, key=lambda item: item.module):
        items: list[ImportTag] = list(group)
        module, _, braced = text[slice(*span)].partition("{")
        names = [text[slice(*item.name)] for item in items if item.name[1]] or braced.rstrip("}").split(",")
        cleaned = (_ALIAS.sub("", name).strip(f"{_QUOTES}{{}}") for name in names)
        yield Import(
            _ALIAS.sub("", module).strip(_QUOTES).removesuffix("::").rstrip("\\"),
            tuple(dict.fromkeys(filter(None, cleaned))),
            items[0].line,
        )


def _calls(text: str, tags: Tags, scopes: Sequence[_Scope]) -> Iterator[Call]:
    around: list[_Scope] = []
    pending = iter([*scopes, None])
    upcoming = next(pending)
    for (start, end), line in sorted(tags.callees):
        while upcoming is not None and upcoming.declaration.span[0] <= start:
            around.append(upcoming)
            upcoming = next(pending)
        while around and around[-1].declaration.span[1] <= start:
            around.pop()
        yield Call(around[-1].caller if around else "", text[start:end].lstrip("#"), line)
