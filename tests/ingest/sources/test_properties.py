"""What holds for whatever a file contains: it is read or refused, and every offset lies where it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document

PIECES = st.sampled_from(
    "¦".join(
        (
            "# ¦## ¦---\n¦===\n¦- ¦> ¦1. ¦| a | b |\n¦|---|---|\n¦```\n¦    ¦\t¦\n¦\n\n",
            "[a](b.md)¦[[a|b]]¦[[¦]]¦](¦`¦``¦*¦\\¦<!--¦-->¦<p>¦</p>¦<a href=x>¦</a>",
            "<table>¦<tr>¦<td>¦</table>¦<pre>¦<h1>¦</h1>¦&amp;¦<script>¦word¦Two words. ¦漢字。",
            "::\n\n¦.. note::¦.. code::\n\n¦.. _a: b\n¦=== ===\n¦+-+\n¦:doc:`a`¦`a <b>`_¦\x0c¦\u2028¦\r\n",
            "* ¦#+begin_src\n¦#+end_src\n¦:LOGBOOK:\n¦:END:\n¦[fn:: a]¦[[a.org][b]]",
            "|===\n¦----\n¦////\n¦footnote:[a]¦:a: b\n¦{a}¦xref:a.adoc[b]",
            "\\section{¦\\footnote{¦\\def\\a{¦\\a¦{¦}¦\\begin{tabular}{l}¦\\end{tabular}",
            "\\begin{verbatim}¦\\end{verbatim}¦\\begin{document}¦\\item[¦\\\\¦\\'¦\\[¦\\href{a.tex}¦&¦$¦%",
            "From a\nSubject: b\n\n¦Content-Type: text/html\n\n¦=?utf-8?q?a?=",
            "---\na: b\n---\n¦a: [¦key: value\n¦\x00¦\u0301¦\U0001f600",
        )
    ).split("¦")
)
"""What the readers of formats look at, and words between."""

TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))


def read_or_refused(name: str, data: bytes) -> Document | Unreadable:
    try:
        return parser_of(name)(Source("a/b.x", "/a/b.x", data))
    except Unreadable as error:
        return error


@pytest.mark.parametrize("name", ["text", "markdown", "rst", "html", "org", "asciidoc", "latex", "mail", "data"])
@settings(max_examples=200)
@given(content=TEXTS)
def test_any_text_is_read_or_refused(name: str, content: str) -> None:
    found = read_or_refused(name, content.encode("utf-8", "surrogatepass"))
    if isinstance(found, Unreadable):
        assert found.message
        assert found.fix
        return

    end = 0
    for block in found.blocks:
        assert end <= block.start < block.end <= len(found.text)
        assert found.text[block.start : block.end].strip()
        end = block.end
    for link in found.links:
        assert link.target
        assert 0 <= link.start <= link.end <= len(found.text)
    assert found.title
    assert found.text.encode().decode() == found.text


@pytest.mark.parametrize("name", ["markdown", "rst", "html", "pdf", "docx", "csv", "ipynb", "latex", "mail"])
@settings(max_examples=60)
@given(data=st.one_of(st.binary(max_size=300), st.binary(max_size=200).map(lambda data: b"%PDF-1.4\n" + data)))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    assert read_or_refused(name, data)
