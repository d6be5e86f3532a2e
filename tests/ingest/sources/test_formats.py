"""reStructuredText, HTML and word processor files, made here."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document


def parse(name: str, data: bytes | str, key: str = "some-page.x") -> Document:
    return parser_of(name)(Source(key, f"/root/{key}", data if isinstance(data, bytes) else data.encode()))


def blocks(found: Document) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, found.text[block.start : block.end]) for block in found.blocks]


def links(found: Document) -> list[tuple[str, str]]:
    return [(link.target, found.text[link.start : link.end]) for link in found.links]


RST = """\
=====
Title
=====

.. comment
   left out

Para with `a link <other.rst#x>`_, `web <https://x.org>`_ and :doc:`The guide <guide/start>`.

Sub
---

Like so::

    code

    more

* item

.. code-block:: python
   :linenos:

   x = 1

.. list-table:: T

   * - A
     - B

=====  =====
A      B
=====  =====
1

2      3
=====  =====

.. _named: up.rst

.. include:: /etc/hostname

.. raw:: html

   <b>kept as words</b>

Deeper
~~~~~~
last
"""


def test_rst_blocks_are_the_source_itself() -> None:
    found = parse("rst", RST)

    assert (found.title, found.text) == ("Title", RST)
    assert blocks(found) == [
        ("heading", 1, "=====\nTitle\n====="),
        (
            "paragraph",
            0,
            "Para with `a link <other.rst#x>`_, `web <https://x.org>`_ and :doc:`The guide <guide/start>`.",
        ),
        ("heading", 2, "Sub\n---"),
        ("paragraph", 0, "Like so::"),
        ("code", 0, "code\n\n    more"),
        ("paragraph", 0, "* item"),
        ("code", 0, ".. code-block:: python\n   :linenos:\n\n   x = 1"),
        ("table", 0, ".. list-table:: T\n\n   * - A\n     - B"),
        ("table", 0, "=====  =====\nA      B\n=====  =====\n1\n\n2      3\n=====  ====="),
        ("paragraph", 0, ".. include:: /etc/hostname"),
        ("paragraph", 0, ".. raw:: html"),
        ("paragraph", 0, "<b>kept as words</b>"),
        ("heading", 3, "Deeper\n~~~~~~"),
        ("paragraph", 0, "last"),
    ]
    assert links(found) == [
        ("other.rst", "`a link <other.rst#x>`_"),
        ("guide/start", ":doc:`The guide <guide/start>`"),
        ("up.rst", ".. _named: up.rst"),
    ]


def test_rst_mistakes_are_neither_errors_nor_noise(capfd: pytest.CaptureFixture[str]) -> None:
    found = parse("rst", "Title\n==\n\n:nope:`x` `open *open\n\n.. nope::\n\n====\nodd\n---\n\f\n| x\u2028y\n")

    assert found.blocks
    assert capfd.readouterr() == ("", "")


HTML = """\
<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html><head><title> A
 page </title><style>x {}</style></head><body><nav>menu</nav>
<h1>Head<em>ing</em></h1><p>Hello <a href="a%20b.html?x#y">linked  words </a>, world<br>new &amp; line <!-- no -->
<a href="i.md"><img alt="icon"></a><a href="none.md"></a></p>
<ul><li>one<li>two <a href="https://x.org">web</a></ul><pre>

 def f():
   pass
</pre><table><tr><th>A<th>B<tr><td><td><a href=z.md>2</a></table>
<div>bare <div>inner</div> tail</div><script>alert(1)</script>
<table><tr><td><h2>Laid out</h2><p>by a table</td></tr></table>end"""


def test_html_gives_its_words_block_by_block() -> None:
    found = parse("html", HTML)

    assert found.title == "A page"
    assert blocks(found) == [
        ("heading", 1, "Heading"),
        ("paragraph", 0, "Hello linked words , world\nnew & line icon"),
        ("paragraph", 0, "one"),
        ("paragraph", 0, "two web"),
        ("code", 0, " def f():\n   pass"),
        ("table", 0, "A | B\n| 2"),
        ("paragraph", 0, "bare"),
        ("paragraph", 0, "inner"),
        ("paragraph", 0, "tail"),
        ("heading", 2, "Laid out"),
        ("paragraph", 0, "by a table"),
        ("paragraph", 0, "end"),
    ]
    assert links(found) == [("a b.html", "linked words"), ("i.md", "icon"), ("z.md", "2")]
    assert found.text == "\n\n".join(text for _, _, text in blocks(found))


@pytest.mark.parametrize(
    ("html", "title"), [("<h1>First</h1>x", "First"), ("just words", "some page"), ("a<title></title>", "some page")]
)
def test_html_without_a_title_takes_the_next_best(html: str, title: str) -> None:
    assert parse("html", html).title == title


def test_html_in_an_encoding_that_it_declares() -> None:
    page = '<meta charset="iso-8859-1"><p>naïve'

    assert parse("html", page.encode("latin-1")).text == "naïve"
    with pytest.raises(Unreadable, match="isn't valid UTF-8"):
        parse("html", "<p>naïve".encode("latin-1"))


@pytest.mark.parametrize("html", ["<script>x</script>", "<p> </p>", "<!-- x -->", "<a " * 30_000, "<!-- x>" * 30_000])
def test_html_without_words_is_unreadable(html: str) -> None:
    with pytest.raises(Unreadable, match="has no text"):
        parse("html", html)


def test_html_nested_deeper_than_calls_may_be() -> None:
    assert parse("html", "<div>" * 20_000 + "deep").text == "deep"


def word_file(title: str = "") -> bytes:
    word = docx.Document()
    word.core_properties.title = title
    word.add_heading("The title", 0)
    word.add_heading("One", 1)
    paragraph = word.add_paragraph("Before ")
    relation = word.part.relate_to("sub/other%20one.docx", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    paragraph._p.append(
        parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{relation}"><w:r><w:t>linked</w:t></w:r></w:hyperlink>')
    )
    paragraph.add_run(" after.")
    word.add_paragraph("an item", style="List Bullet")
    table = word.add_table(2, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "a", "b"
    table.cell(1, 0).merge(table.cell(1, 1)).text = "merged"
    word.add_heading("Two", 2)
    word.add_paragraph("")
    saved = io.BytesIO()
    word.save(saved)
    return saved.getvalue()


def test_docx_gives_headings_paragraphs_tables_and_links() -> None:
    found = parse("docx", word_file())

    assert found.title == "The title"
    assert blocks(found) == [
        ("heading", 1, "The title"),
        ("heading", 1, "One"),
        ("paragraph", 0, "Before linked after."),
        ("paragraph", 0, "an item"),
        ("table", 0, "a | b\nmerged"),
        ("heading", 2, "Two"),
    ]
    assert links(found) == [("sub/other one.docx", "linked")]


def test_docx_title_in_its_properties_comes_first() -> None:
    assert parse("docx", word_file("Properties")).title == "Properties"


@pytest.mark.parametrize("cut", [0, 100, 5_000, -100])
def test_docx_that_is_damaged_is_unreadable(cut: int) -> None:
    with pytest.raises(Unreadable, match="isn't well-formed DOCX"):
        parse("docx", word_file()[:cut])


def test_docx_without_words_is_unreadable(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "empty.docx"))

    with pytest.raises(Unreadable, match="has no text"):
        parse("docx", (tmp_path / "empty.docx").read_bytes())
