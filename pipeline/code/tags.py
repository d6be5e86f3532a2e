"""Read a syntax tree by the query of its language: the marked nodes, with offsets in characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from pipeline.code.languages import Language, grammar_of
from pipeline.code.records import DefinitionKind

if TYPE_CHECKING:
    import tree_sitter

    _Nodes = dict[str, list[tree_sitter.Node]]

_KINDS = {kind.value: kind for kind in DefinitionKind}
_BRACKET = re.compile(r"[(\[{]|([)\]}])")
_DEEPEST = 5000  # limit of nested brackets: a query takes time by their square, and no one writes as many

Span = tuple[int, int]
"""A stretch of a text in characters, end exclusive."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A marked definition, or a scope, whose ``kind`` is None; ``receiver`` is the span of the type that it is for."""

    kind: DefinitionKind | None
    span: Span
    name: Span
    body: int
    line: int
    receiver: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class ImportTag:
    """An import of the text ``module``; ``name`` is the span of a name that it takes, empty for none."""

    module: Span
    name: Span
    line: int


@dataclass(slots=True)
class Tags:
    """The marked nodes of a file, in no order.

    ``wrappers`` leads from the span of a node to that of its wrapper, ``docstrings`` from the span of a definition, or
    of the whole tree, to that of its docstring. ``comments`` holds spans by their ends, ``attributes`` the spans among
    them that are no text. ``callees`` are spans and lines. ``broken``: the tree has errors, or wasn't read.
    """

    root: Span = (0, 0)
    declarations: dict[Span, Declaration] = field(default_factory=dict)
    wrappers: dict[Span, Span] = field(default_factory=dict)
    docstrings: dict[Span, Span] = field(default_factory=dict)
    comments: dict[int, Span] = field(default_factory=dict)
    attributes: set[Span] = field(default_factory=set)
    imports: list[ImportTag] = field(default_factory=list)
    callees: list[tuple[Span, int]] = field(default_factory=list)
    broken: bool = False


def encoded(text: str) -> bytes:
    """Return ``text`` as UTF-8. A lone surrogate, which UTF-8 excludes, becomes three bytes, so that nothing raises."""
    return text.encode("utf-8", "surrogatepass")


class Characters:
    """Converts offsets in the UTF-8 of a text to characters."""

    def __init__(self, text: str) -> None:
        beyond = () if text.isascii() else re.finditer(r"[^\x00-\x7f]", text)
        wide = [(match.start(), len(encoded(match[0]))) for match in beyond]
        self._surplus = [0, *accumulate(size - 1 for _, size in wide)]
        self._starts = [character + surplus for (character, _), surplus in zip(wide, self._surplus, strict=False)]
        self._ends = [start + size for start, (_, size) in zip(self._starts, wide, strict=True)]

    def at(self, offset: int) -> int:
        """Return the number of characters before the byte ``offset``; within a character, that character's."""
        if not self._starts:
            return offset
        passed = bisect_right(self._ends, offset)
        within = passed < len(self._starts) and self._starts[passed] < offset
        return (self._starts[passed] if within else offset) - self._surplus[passed]


def tags_of(text: str, language: Language) -> Tags:
    """Return the marked nodes of ``text``; none if its brackets are nested more than 5,000 deep."""
    import tree_sitter

    if _is_deep(text):
        return Tags(broken=True)
    grammar, query = grammar_of(language)
    root = tree_sitter.Parser(grammar).parse(encoded(text)).root_node
    reader = _TagReader(text, root)
    for _, nodes in tree_sitter.QueryCursor(query).matches(root):
        reader.add(nodes)
    return reader.tags


def _is_deep(text: str) -> bool:
    """Return whether brackets, in strings or not, are nested deeper than anyone writes."""
    if sum(map(text.count, "([{")) <= _DEEPEST:
        return False
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = max(depth - 1, 0) if bracket[1] else depth + 1
        if depth > _DEEPEST:
            return True
    return False


class _TagReader:
    """Sorts the matches of a query into the tags of a file."""

    def __init__(self, text: str, root: tree_sitter.Node) -> None:
        self._text = text
        self._characters = None if text.isascii() else Characters(text)
        self.tags = Tags(self._span(root), broken=root.has_error)

    def add(self, nodes: _Nodes) -> None:
        """Add the nodes of a match by the names of their captures."""
        tags = self.tags
        if "callee" in nodes:
            (callee,) = nodes["callee"]
            tags.callees.append((self._span(callee), _line(callee)))
        elif "comment" in nodes or "attribute" in nodes:
            self._add_above(nodes)
        elif "import" in nodes:
            (statement,) = nodes["import"]
            name = self._first(nodes, "imported")
            tags.imports += [ImportTag(self._span(node), name, _line(statement)) for node in nodes.get("module", ())]
        elif "wrapper" in nodes:
            tags.wrappers[self._first(nodes, "inner")] = self._first(nodes, "wrapper")
        elif "documented" in nodes:
            tags.docstrings[self._first(nodes, "documented")] = self._first(nodes, "doc")
        else:
            self._add_declaration(nodes)

    def _add_above(self, nodes: _Nodes) -> None:
        for capture in ("comment", "attribute"):
            for node in nodes.get(capture, ()):
                start, end = self._span(node)
                # some grammars count the line end to a comment
                span = (start, start + len(self._text[start:end].rstrip()))
                self.tags.comments[span[1]] = span
                if capture == "attribute":
                    self.tags.attributes.add(span)

    def _add_declaration(self, nodes: _Nodes) -> None:
        capture = next(name for name in (*_KINDS, "scope") if name in nodes)
        span, name, line = self._first(nodes, capture), self._first(nodes, "name"), _line(nodes["name"][0])
        body = self._first(nodes, "body")[0] if "body" in nodes else span[1]
        known = self.tags.declarations.get(span)
        # patterns overlap: any type of Go is a class, and a struct has a body besides
        if known is None or known.body > body:
            receiver = self._first(nodes, "receiver")
            self.tags.declarations[span] = Declaration(_KINDS.get(capture), span, name, body, line, receiver)

    def _first(self, nodes: _Nodes, capture: str) -> Span:
        return self._span(nodes[capture][0]) if capture in nodes else (0, 0)

    def _span(self, node: tree_sitter.Node) -> Span:
        start, end = node.byte_range
        return (self._characters.at(start), self._characters.at(end)) if self._characters else (start, end)


def _line(node: tree_sitter.Node) -> int:
    return node.start_point.row + 1
