"""reStructuredText: headings, paragraphs, literal blocks, tables and links; no file is included, no code run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Parser
from docutils.parsers.rst.states import Inliner

from pipeline.files import decode
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.rst_blocks import Heading, rst_blocks
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import Document, Link
from pipeline.text.outline import first_heading

_SETTINGS = {
    "_disable_config": True,
    "docinfo_xform": False,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "line_length_limit": 10**9,
    "raw_enabled": False,
    "report_level": 5,
    "syntax_highlight": "none",
    "warning_stream": False,
}
# docutils ends a line at each of these characters, which aren't line ends of the file
_LINE_ENDS = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
_LINK = re.compile(
    r":doc:`(?:[^`<>]*<)?(?P<doc>[^`<>]+)>?`"
    r"|`[^`<>]*<(?P<embedded>[^`<>]*[^`<>_\s])>`_"
    r"|^[ \t]*(?:\.\. _[^:\n]*:|__)[ \t]+(?P<named>\S*[^\s_])[ \t]*$",
    re.MULTILINE,
)


def parse(source: Source) -> Document:
    """Return a reStructuredText file as a document with the file's own text. Raises Unreadable."""
    document = structure(Document(source.key, "", decode(source.data), path=source.path))
    return replace(document, title=document.title or source.stem)


def structure(document: Document) -> Document:
    """Return a document of reStructuredText with its blocks, its links and, if it has any, a title.

    Raises Unreadable.
    """
    text = document.text
    lines = text.split("\n")
    with parser_errors("reStructuredText"):
        parser = Parser(inliner=_PlainInliner())
        tree = publish_doctree(text.translate(_LINE_ENDS), parser=parser, settings_overrides=_SETTINGS)
        headings = dict(_headings(tree, lines))
    blocks = tuple(rst_blocks(text, lines, headings))
    title = document.title or first_heading(text, blocks)
    return replace(document, title=title, blocks=blocks, links=tuple(_links(text)))


def _headings(tree: nodes.document, lines: Sequence[str]) -> Iterator[tuple[int, Heading]]:
    """Yield (index of its first line, heading) for each section; docutils reports the line below the title."""
    for title in tree.findall(nodes.title):
        if title.line is None or not isinstance(title.parent, nodes.section):
            continue
        level = sum(1 for _ in _sections(title))
        under = title.line - 1
        overlined = under >= 2 and lines[under - 2].strip() == lines[under].strip() != ""
        yield under - 1 - overlined, Heading(min(level, 6), under + 1)


def _sections(node: nodes.Node) -> Iterator[nodes.section]:
    """Yield the sections around ``node``, innermost first."""
    above = node.parent
    while isinstance(above, nodes.section):
        yield above
        above = above.parent


def _links(text: str) -> Iterator[Link]:
    """Yield embedded references, targets of named references, and Sphinx's ``:doc:`` roles that lead to files."""
    for match in _LINK.finditer(text):
        target = match["doc"] or document_target(match["embedded"] or match["named"])
        if target:
            yield Link(" ".join(target.split()), *match.span())


class _PlainInliner(Inliner):
    """Leaves inline markup unparsed: only blocks are needed, and docutils is slow at unknown roles."""

    def init_customizations(self, settings: object) -> None:
        """Prepare no patterns."""

    def adjust_uri(self, uri: str) -> str:
        """Return ``uri`` unchanged; the patterns for mail addresses aren't prepared."""
        return uri

    def parse(
        self,
        text: str,
        lineno: int,  # noqa: ARG002 - the library passes these four
        memo: object,  # noqa: ARG002
        parent: object,  # noqa: ARG002
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return ``text`` unchanged, and no messages."""
        return [nodes.Text(text)], []
