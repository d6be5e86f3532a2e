"""Read a syntax tree by the query of its language: the marked nodes, with offsets in characters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.code.characters import Characters, encoded
from pipeline.code.languages import Language, grammar_of
from pipeline.code.records import DefinitionKind

if TYPE_CHECKING:
    import tree_sitter

    _Nodes = dict[str, list[tree_sitter.Node]]

_KINDS = {kind.value: kind for kind in DefinitionKind}
_SCOPE = "scope"
_BRACKET = re.compile(r"[(\[{]|([)\]}])")
_DEEPEST = 5000
"""Limit of nested brackets: a query takes time by their square, and no one writes as many."""

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
    them that are no text. ``callees`` are spans and lines.
    """

    root: Span = (0, 0)
    declarations: dict[Span, Declaration] = field(default_factory=dict)
    wrappers: dict[Span, Span] = field(default_factory=dict)
    docstrings: dict[Span, Span] = field(default_factory=dict)
    comments: dict[int, Span] = field(default_factory=dict)
    attributes: set[Span] = field(default_factory=set)
    imports: list[ImportTag] = field(default_factory=list)
    callees: list[tuple[Span, int]] = field(default_factory=list)


def tags_of(text: str, language: Language) -> Tags:
    """Return the marked nodes of ``text``; none if its brackets are nested more than 5,000 deep."""
    import tree_sitter

    if _depth(text) > _DEEPEST:
        return Tags()
    grammar, query = grammar_of(language)
    root = tree_sitter.Parser(grammar).parse(encoded(text)).root_node
    reader = _TagReader(text, root)
    for _, nodes in tree_sitter.QueryCursor(query).matches(root):
        reader.add(nodes)
    return reader.tags


def _depth(text: str) -> int:
    """Return the largest number of brackets that are open in ``text``, whether in strings or not."""
    depth = deepest = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth - 1 if bracket[1] else depth + 1
        deepest = max(deepest, depth)
        depth = max(depth, 0)
    return deepest


class _TagReader:
    """Sorts the matches of a query into the tags of a file."""

    def __init__(self, text: str, root: tree_sitter.Node) -> None:
        self._text = text
        self._characters = Characters(text)
        self.tags = Tags(self._span(root))

    def add(self, nodes: _Nodes) -> None:
        """Add the nodes of a match by the names of their captures."""
        tags = self.tags
        if "callee" in nodes:
            (callee,) = nodes["callee"]
            tags.callees.append((self._span(callee), _line(callee)))
        elif "comment" in nodes or "attribute" in nodes:
            self._add_above(nodes)
        elif "import" in nodes:
            self._add_import(nodes)
        elif "wrapper" in nodes:
            tags.wrappers[self._span(nodes["inner"][0])] = self._span(nodes["wrapper"][0])
        elif "documented" in nodes:
            tags.docstrings[self._span(nodes["documented"][0])] = self._span(nodes["doc"][0])
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

    def _add_import(self, nodes: _Nodes) -> None:
        (statement,) = nodes["import"]
        names = nodes.get("imported")
        for module in nodes.get("module", ()):
            name = self._span(names[0]) if names else (0, 0)
            self.tags.imports.append(ImportTag(self._span(module), name, _line(statement)))

    def _add_declaration(self, nodes: _Nodes) -> None:
        capture = next(name for name in (*_KINDS, _SCOPE) if name in nodes)
        node, name = nodes[capture][0], nodes["name"][0]
        span = self._span(node)
        body = self._span(nodes["body"][0])[0] if "body" in nodes else span[1]
        known = self.tags.declarations.get(span)
        # patterns overlap: any type of Go is a class, and a struct has a body besides
        if known is not None and known.body <= body:
            return
        receiver = self._span(nodes["receiver"][0]) if "receiver" in nodes else (0, 0)
        self.tags.declarations[span] = Declaration(
            _KINDS.get(capture), span, self._span(name), body, _line(name), receiver
        )

    def _span(self, node: tree_sitter.Node) -> Span:
        return self._characters.at(node.start_byte), self._characters.at(node.end_byte)


def _line(node: tree_sitter.Node) -> int:
    return node.start_point.row + 1
