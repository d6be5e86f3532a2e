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
from tests.ingest.sources.documents import blocks, links


def parse(name: str, data: bytes | str, key: str = "some-page.x") -> Document:
    return parser_of(name)(Source(key, f"/root/{key}", data if isinstance(data, bytes) else data.encode()))


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


def test_html_has_front_matter_where_generators_of_pages_read_it() -> None:
    found = parse("html", "---\ntitle: Tides\nlayout: post\nd: 2024-13-45\n---\n<h1>Ebb</h1><p>The moon pulls.</p>")

    assert (found.title, found.text) == ("Tides", "Ebb\n\nThe moon pulls.")
    assert found.metadata == {"layout": "post", "d": "2024-13-45"}
    assert "line 4" in found.warnings[0]


def test_rst_keeps_notes_and_leaves_out_comments() -> None:
    text = (
        ".. [#f1] By the verger.\n.. [OAK1903] Oak: Bells.\n   Second edition.\n.. [1] One.\n.. |v| replace:: 4.1\n\n"
        "..  note::  Mind the\n    steps.\n\n.. py:function:: ring(bell)\n\n   Rings.\n\n"
        ".. secret remark\n   in lines\n\n   and more\n\nShown::\n\n   .. shown remark\n\n"
        "..\n   secret too\n\n..\n\n   quoted\n\n..  secret again\n"
        ".. _target: https://example.org\n.. |logo| image:: x.png\nend"
    )

    found = parse("rst", text)

    shown = "\n".join(found.text[block.start : block.end] for block in found.blocks)
    assert [line.strip() for line in shown.split("\n") if line.strip()] == [
        ".. [#f1] By the verger.",
        ".. [OAK1903] Oak: Bells.",
        "Second edition.",
        ".. [1] One.",
        ".. |v| replace:: 4.1",
        "..  note::  Mind the",
        "steps.",
        ".. py:function:: ring(bell)",
        "Rings.",
        "Shown::",
        ".. shown remark",
        "quoted",
        "end",
    ]
    assert "secret" not in found.text
    assert found.text.count("\n") == text.count("\n")


def test_rst_blocks_are_the_source_itself() -> None:
    found = parse("rst", RST)

    assert (found.title, found.text) == ("Title", RST.replace(".. comment\n   left out\n", "\n\n"))
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


RUSSIAN = "Маяк стоит на краю мыса и светит ночью кораблям."
JAPANESE = "灯台は岬の端に立ち、夜に船を照らします。港の北にあります。"


@pytest.mark.parametrize(
    ("encoding", "page"),
    [
        ("cp1252", '<meta charset="iso-8859-1"><p>“naïve” – 40 €'),
        ("cp1252", "<meta http-equiv=content-type content='text/html; charset=us-ascii'><p>“naïve” – 40 €"),
        ("cp1252", "<p>“naïve” – 40 €"),
        ("cp1252", "<p>L’été, les élèves vont à la plage près du château."),
        ("cp1252", '<!-- <meta charset="koi8-r"> --><p>Kühlung fällt aus'),
        ("cp1252", '<meta charset="no-such-label"><p>Kühlung fällt aus'),
        ("utf-8", '<meta charset="iso-8859-1"><p>“naïve” – 40 €'),
        ("utf-8-sig", '<meta charset="iso-8859-1"><p>“naïve” – 40 €'),
        ("utf-8", '<meta charset="utf-16"><p>“naïve” – 40 €'),
        ("utf-16-le", "<p>“naïve” – 40 €"),
        ("koi8-r", f'<?xml version="1.0" encoding="koi8-r"?><p>{RUSSIAN}'),
        ("cp1251", f"<p>{RUSSIAN}"),
        ("cp932", f'<meta charset="Shift_JIS"><p>{JAPANESE}①'),
        ("cp932", f"<p>{JAPANESE}"),
        ("iso2022_jp", f'<meta charset="iso-2022-jp"><p>{JAPANESE}'),
        ("gb18030", '<meta charset="gb2312"><p>灯塔矗立在海角的边缘，朱镕基。'),
    ],
)
def test_html_in_the_encoding_that_a_browser_takes(encoding: str, page: str) -> None:
    found = parse("html", page.encode(encoding))

    assert found.text == page.rpartition("<p>")[2]


def test_html_with_a_wrong_byte_keeps_the_rest() -> None:
    assert parse("html", "<p>naïve é è “x” ".encode() + b"\xff").text == "naïve é è “x” \ufffd"


@pytest.mark.parametrize(
    "html",
    [
        "<div hidden>no</div>",
        '<p style="color: red; DISPLAY : none !important">no</p>',
        "<div style='display:none'><div>no <p>no</div></div>",
        '<p style="visibility:hidden">no <img alt=no></p>',
        "<dialog>no</dialog>",
        "<template><p>no</p></template>",
        "<noscript>no</noscript>",
        "<button>no</button>",
        "<select><option>no</select>",
        "<input type=hidden value=no><input type=password value=no>",
        "<iframe src=other.html>no</iframe>",
        "<video>no</video>",
        "<p hidden style='color:red'>no</p>",
    ],
)
def test_html_that_does_not_show_is_left_out(html: str) -> None:
    assert parse("html", f"<p>before</p>{html}<p>after</p>").text == "before\n\nafter"


def test_what_is_typed_into_a_form_stands_beside_its_label() -> None:
    page = "<p>Port:<select><option selected>Hull</select>of<input value=Selby>, <input type=checkbox value=x>paid</p>"

    assert parse("html", page).text == "Port: Hull of Selby, paid"


@pytest.mark.parametrize(
    "html",
    [
        "<div style='display:none; display: block'>shown</div>",
        "<div hidden style='display:block'>shown</div>",
        "<div hidden=until-found>shown</div>",
        "<dialog open>shown</dialog>",
        "<template shadowrootmode=open>shown</template>",
        "<div style='visibility:hidden'>no<p style='visibility:visible'>shown</p></div>",
        "<span aria-hidden=true>shown</span>",
        "<div style='background:url(display:none)'>shown</div>",
        "<h2><button>shown</button></h2>",
        "<table><tr><th scope=col><button>shown</button></table>",
        "<select><option>no<option selected>shown</select>",
        "<label for=a></label><input id=a value=shown>",
        "<iframe srcdoc='&lt;title>no&lt;/title>&lt;p>shown&lt;iframe srcdoc=no>&lt;/iframe>'>no</iframe>",
    ],
)
def test_html_that_shows_is_kept(html: str) -> None:
    assert parse("html", html).text == "shown"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>Tides<a class=headerlink href=#tides title='Permalink to this heading'>¶</a></h2>", "Tides"),
        ("<h2>Tides<a href=#tides>#</a></h2>", "Tides"),
        ("<h2><a href=#tides><span aria-hidden=true>🔗</span></a> Tides</h2>", "Tides"),
        ("<h2><a href=#tides>Tides</a></h2>", "Tides"),
        ("<h2>C#<a href=#c aria-hidden=true>§</a></h2>", "C#"),
        ("<h2>Tides<span class=mw-editsection>[<a href=/edit>edit</a>]</span></h2>", "Tides"),
        ("<p>A note.<a href=#back>↩</a></p>", "A note."),
        ("<p>An operator <a href=#plus>+</a></p>", "An operator +"),
    ],
)
def test_html_without_links_of_a_place_to_itself(html: str, text: str) -> None:
    assert parse("html", html).text == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("The harbour<sup>3</sup> is", "The harbour³ is"),
        ("harbour<sup><a href=#n3>[3]</a></sup>.", "harbour [3]."),
        ("10<sup>-6</sup>m", "10⁻⁶m"),
        ("CO<sub>2</sub> and H<sub>2</sub>O", "CO₂ and H₂O"),
        ("x<sub>max</sub>y, z<sub>max</sub>, end", "x max y, z max, end"),
        ("the 1<sup>st</sup> and the harbour<sup>a</sup> of", "the 1st and the harbour a of"),
        ("<sup>1</sup> A note", "1 A note"),
        ("<pre>x<sup>2</sup></pre>", "x2"),
    ],
)
def test_html_keeps_what_is_raised_or_lowered_apart(html: str, text: str) -> None:
    assert parse("html", html).text == text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<dl><dt>Tide<dd>The sea's rise.<dt>Ebb<dt>Low<dd><p>Its fall.<p>Twice a day.</dl>x", None),
        ("<dl><dt>What is it?<dd>A tide.</dl>", ["What is it? A tide."]),
        ("one<br>two<br><br>three", ["one\ntwo", "three"]),
        ("<pre>a<br>  b<br><br>c</pre>", ["a\n  b\n\nc"]),
        ("<details><summary>More</summary>inside</details>", ["More", "inside"]),
        ("<table><caption>Fees</caption><tr><th>a<th>b<tr><td>x<br>y<td><ul><li>1<li>2</ul></table>", None),
        ("<table role=presentation><tr><td>a<td>b</table>", ["a", "b"]),
        ("<table><tr><td class=linenos><pre>1\n2</pre><td><pre>x\ny</pre></table>", ["x\ny"]),
    ],
)
def test_html_blocks(html: str, expected: list[str] | None) -> None:
    longer = {
        "<dl>": ["Tide: The sea's rise.", "Ebb\nLow: Its fall.", "Twice a day.", "x"],
        "<table>": ["Fees\na | b\nx y | 1 2"],
    }
    expected = expected or longer[html[: html.index(">") + 1]]

    assert [text for _, _, text in blocks(parse("html", html))] == expected


@pytest.mark.parametrize(
    ("base", "href", "target"),
    [
        ("../", "x.html", "../x.html"),
        ("guide/", "x.html#a", "guide/x.html"),
        ("https://example.org/", "x.html", None),
        ("guide/", "#here", None),
        ("guide/", "https://[", None),
        ("/", "a%20b.md", "/a b.md"),
    ],
)
def test_html_links_count_from_the_base(base: str, href: str, target: str | None) -> None:
    found = parse("html", f'<base target=_top><base href="{base}"><base href="other/"><p><a href="{href}">x</a>')

    assert [target for target, _ in links(found)] == ([target] if target else [])


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
