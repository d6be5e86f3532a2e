"""A corpus of 250 documents in twenty-five formats, made here, with a sentence in each place where readers lose text.

A template marks a place as ``«table cell»``. In a quarter of the documents of a format the mark becomes a sentence of
four words that stand nowhere else, so that full text tells whether it was found, and where.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pipeline.files.guard import composed, name_in_utf_8
from tests.ingest.sources.hostile import PAGE, SHAPE, book, open_document, slides, workbook
from tests.ingest.sources.parsers.pdfs import Piece, across, column, placed
from tests.ingest.sources.parsers.test_docx import BEGIN, END, SEPARATE, paragraph, run, word

EACH = 10
"""Documents of each format."""

_MARK = re.compile("«([^«»]+)»")
_WRITTEN = MappingProxyType(
    {
        "soft hyphens": ("", "\u00ad"),
        "zero-width spaces": ("", "\u200b"),
        "ligatures": ("fi", "ﬁ"),
        "full width": ("w", "ｗ"),
        "accents apart": ("ö", "o\u0308"),
    }
)
"""What stands within the words of a place: as it is asked for, and as it is written."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its document, its place, and its rare words as they are asked for."""

    key: str
    place: str
    words: tuple[str, ...]

    @property
    def question(self) -> str:
        return " ".join(self.words)


@dataclass
class Author:
    """Writes sentences into templates; its words are drawn from a seed, each of them once."""

    every: int = 4
    sentences: list[Sentence] = field(default_factory=list)
    _chance: random.Random = field(default_factory=lambda: random.Random(39))  # noqa: S311 - the same at each run
    _drawn: set[str] = field(default_factory=set)
    _places: int = 0

    def begin(self, number: int) -> None:
        """Begin a document of a format: the next one has its sentences in other places."""
        self._places = number

    def fill(self, key: str, template: str) -> str:
        """Return a template with a new sentence in each place that this document fills."""
        return _MARK.sub(lambda mark: self._text(key, mark[1]), template)

    def _text(self, key: str, place: str) -> str:
        self._places += 1
        return "Harbour" if self._places % self.every else self._sentence(key, place)

    def _sentence(self, key: str, place: str) -> str:
        asked, written = _WRITTEN.get(place, ("", ""))
        stems = [self._word() for _ in range(4)]
        self.sentences.append(Sentence(key, place, tuple(f"{stem[:4]}{asked}{stem[4:]}" for stem in stems)))
        one, two, three, four = (f"{stem[:4]}{written}{stem[4:]}" for stem in stems)
        return f"{one.capitalize()} keeps {two} and {three} near {four}."

    def _word(self) -> str:
        while True:
            word = "".join(self._chance.choice("bdglmnprtvz") + self._chance.choice("aeiou") for _ in range(3)) + "k"
            if word not in self._drawn:
                self._drawn.add(word)
                return word


MARKDOWN = """\
---
title: «title in front matter»
tags: [harbour, fees]
---
# «heading»

«paragraph» With a note[^1], ![«description of a picture»](boat.png) and [a link](other.md "«title of a link»").
«soft hyphens»  «ligatures» «accents apart» «zero-width spaces» «full width»

- «item»
  - «nested item»

    «paragraph in an item»
      1. «deeply nested item»
- [x] «task»

> «quotation»
> > «nested quotation»

> [!NOTE]
> «alert»

!!! warning "«title of an admonition»"
    «admonition»

| «head of a table» | fee |
|:---|---:|
| «cell» | 1 |

```python
harbour = 1  # «comment in code»
```

<details><summary>«summary»</summary>

«details»

</details>

<table><tr><td>«cell of HTML»</td></tr></table>

Term
: «definition»

«heading that is underlined»
---

[[other|«name of a wikilink»]] ==«marked text»== **«bold text»**

<!-- hidden -->
«paragraph after a comment»

[^1]: «footnote»

    «second paragraph of a footnote»
"""

RST = """\
«title»
=======================================================================================================

:Author: «field»

«paragraph» [1]_ [CIT]_ |fee|

* «item»

  - «nested item»

    «paragraph in an item»

term : kind
  «definition»

  «quotation»

    -- «attribution»

| «line of a block»
|   «next line of a block»

.. note:: «admonition on its line»

..  warning::

    «admonition»

.. admonition:: «title of an admonition»
   :class: tip

   «admonition with options»

+------------------------------------------------------------------------+-----+
| «head of a grid»                                                       | fee |
+========================================================================+=====+
| «cell of a grid»                                                       | 1   |
+------------------------------------------------------------------------+-----+

====================================================================== ===
name                                                                   fee
====================================================================== ===
«cell of a simple table»                                               1
====================================================================== ===

.. list-table:: «caption of a table»
   :header-rows: 1

   * - «head of a list table»
     - fee
   * - «cell of a list table»
     - 1

.. csv-table::
   :header: name, fee

   "«cell of a CSV table»", 1

.. figure:: boat.png
   :alt: «description of a picture»

   «caption»

   «legend»

.. code-block:: python
   :caption: «caption of code»

   harbour = 1  # «comment in code»

Such as::

   «literal block»

.. topic:: «title of a topic»

   «topic»

.. |fee| replace:: «replacement»

.. hidden

.. [1] «footnote»

       «second paragraph of a footnote»
.. [CIT] «citation»

.. versionadded:: 1.2
   «version»

Fee
---

`«name of a link» <other.rst>`_ **«bold text»** «soft hyphens»
"""

TEXT = """\
«paragraph»

  * «item»
      - «nested item»

Fee:    «text after a tab»
\t«indented line»

«soft hyphens» «ligatures» «accents apart» «zero-width spaces»
\f
«paragraph after a form feed»
--
«paragraph after a signature»
"""

HTML = """\
<!doctype html><html><head><meta charset="{encoding}"><title>«title»</title><style>p {{}}</style></head><body>
<nav>Menu</nav><h1>«heading»<a class="headerlink" href="#x">¶</a></h1>
<p>«paragraph»<sup><a href="#fn1">1</a></sup> <img alt="«description of a picture»" src="boat.png"></p>
<ul><li>«item»<ul><li>«nested item»<p>«paragraph in an item»</p></li></ul></li></ul>
<dl><dt>«term»</dt><dd>«definition»</dd><dd>«second definition»</dd></dl>
<blockquote>«quotation»<footer>«source of a quotation»</footer></blockquote>
<table><caption>«caption of a table»</caption><thead><tr><th>«head of a table»</th><th>fee</th></tr></thead>
<tr><td>«cell»<ul><li>«item in a cell»</li></ul></td><td>1</td></tr>
<tfoot><tr><td>«foot of a table»</td></tr></tfoot></table>
<figure><img src="a.png"><figcaption>«caption»</figcaption></figure>
<pre><code><span>harbour</span> = 1  # «comment in code»</code></pre>
<details><summary>«summary»</summary><p>«details that are closed»</p></details>
<aside>«aside»</aside> <p hidden>hidden</p> <div role="note">«note»</div>
<form><fieldset><legend>«legend»</legend><label>«label» <input value="«value of a field»"></label>
<textarea>«text of a field»</textarea></fieldset></form>
<iframe srcdoc="&lt;p&gt;«page within the page»&lt;/p&gt;"></iframe>
<p>«soft hyphens» «ligatures» «accents apart» <ins>«insertion»</ins> <del>gone</del> <mark>«marked text»</mark>
<p>«paragraph without an end»
<ol><li id="fn1">«footnote» <a href="#r1">↩</a></li></ol></body></html>
"""

CODE = '''\
"""«docstring of a module»"""

LIMIT = "«text in code»"  # «comment at the end of a line»


class Harbour:
    """«docstring of a class»"""

    def fee(self):
        """Return the fee.

        «second paragraph of a docstring»
        """
        # «comment in a method»
        return f"«text in a method» {LIMIT}"
'''

JSONL = (
    "# «heading of a line»\n\n«paragraph of a line»\n\n- «item of a line»\n\n# Fee\n\n«soft hyphens» «accents apart»\n"
)


def _sheet(separator: str) -> str:
    rows = ["«head of a column»", "fee"], ["«cell»", "1"], ['"«cell of two lines»\nMore"', "2"], ['"«quoted cell»"', ""]
    return "".join(
        f"{separator.join(row)}\n" for row in [*rows, ["«soft hyphens» «accents apart»", "3", "«ragged cell»"]]
    )


def _subtitles(head: str, comma: str) -> str:
    cue = "{}\n00:00:{:02}{comma}000 --> 00:00:{:02}{comma}900\n{}\n\n"
    said = [
        "«cue»",
        "<i>«cue in italics»</i>\n- «second line of a cue»",
        "«soft hyphens» «accents apart»",
        "«last cue»",
    ]
    return head + "".join(cue.format(at, 9 * at, 9 * at + 1, line, comma=comma) for at, line in enumerate(said, 1))


def _cell(*blocks: str) -> str:
    return f"<w:tc>{''.join(paragraph(run(block)) for block in blocks)}</w:tc>"


def _word(fill: Callable[[str], str]) -> bytes:
    review = 'w:id="1" w:author="Ada"'
    head = f"<w:tr>{_cell('«head of a table»')}{_cell('fee')}</w:tr>"
    inner = f"<w:tc><w:tbl><w:tr>{_cell('«cell of a table in a table»')}</w:tr></w:tbl>{paragraph('')}</w:tc>"
    table = f"<w:tbl>{head}<w:tr>{_cell('«cell»', '«second paragraph of a cell»')}{inner}</w:tr></w:tbl>"
    text = f"<w:txbxContent>{paragraph(run('«text box»'))}</w:txbxContent>"
    box = f"<w:r><w:pict><v:textbox>{text}</v:textbox></w:pict></w:r>"
    deleted = f"<w:del {review}><w:r><w:delText>gone</w:delText></w:r></w:del>"
    marks = '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r>'
    body = (
        paragraph(run("«title»"), '<w:pStyle w:val="Title"/>')
        + paragraph(run("«heading»"), '<w:outlineLvl w:val="0"/>')
        + paragraph(run("«paragraph»") + marks + box)
        + paragraph(f"<w:ins {review}>{run('«insertion»')}</w:ins>{deleted}")
        + paragraph(f"<w:moveTo {review}>{run('«moved text»')}</w:moveTo>")
        + f"<w:sdt><w:sdtContent>{paragraph(run('«content control»'))}</w:sdtContent></w:sdt>"
        + paragraph(f"<w:smartTag>{run('«smart tag»')}</w:smartTag>")
        + paragraph(BEGIN + "<w:r><w:instrText>REF x</w:instrText></w:r>" + SEPARATE + run("«result of a field»") + END)
        + paragraph(f'<w:fldSimple w:instr="REF x">{run("«simple field»")}</w:fldSimple>')
        + paragraph(f'<w:hyperlink r:id="r1">{run("«name of a link»")}</w:hyperlink>')
        + paragraph(run("«item»"), '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
        + paragraph(run("«nested item»"), '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>')
        + table
        + paragraph('<w:r><w:drawing><wp:docPr xmlns:wp="wp" descr="«description of a picture»"/></w:drawing></w:r>')
        + paragraph("<m:oMath><m:r><m:t>«words of a formula»</m:t></m:r></m:oMath>")
        + paragraph(run("«soft hyphens» «ligatures» «accents apart»"))
    )
    notes = f'<w:{{0}} w:id="2">{paragraph(run("«{0}»"))}{paragraph(run("«second paragraph of a {0}»"))}</w:{{0}}>'
    title = '<w:style w:styleId="Title"><w:name w:val="Title"/></w:style>'
    footnotes, endnotes = (fill(notes.format(kind)) for kind in ("footnote", "endnote"))
    return word(fill(body), styles=title, footnotes=footnotes, endnotes=endnotes)


def _presentation(fill: Callable[[str], str]) -> bytes:
    titled = SHAPE.replace("<p:txBody>", '<p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody>')
    notes = SHAPE.replace("<p:txBody>", '<p:nvSpPr><p:nvPr><p:ph type="body"/></p:nvPr></p:nvSpPr><p:txBody>')
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    head = f"<a:tr>{cell.format('«head of a table»')}{cell.format('fee')}</a:tr>"
    table = f"<a:tbl>{head}<a:tr>{cell.format('«cell»')}</a:tr></a:tbl>"
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="1" name="a" descr="«description of a picture»"/></p:nvPicPr></p:pic>'
    shapes = (
        titled.format("«title of a slide»")
        + SHAPE.format("«text»</a:t></a:r><a:br/><a:r><a:t>«text after a break»")
        + f"<p:grpSp><p:grpSp>{SHAPE.format('«text in a group»')}</p:grpSp></p:grpSp>"
        + table
        + picture
        + SHAPE.format("«soft hyphens» «accents apart»")
        + '<d:relIds r:dm="r3"/>'
    )
    point = "<d:pt><d:t><a:p><a:r><a:t>«diagram»</a:t></a:r></a:p></d:t></d:pt>"
    diagram = f"<d:dataModel {{names}}><d:ptLst>{point}</d:ptLst></d:dataModel>"
    return slides(fill(shapes), notes=fill(notes.format("«speaker notes»")), extra={"ppt/extra.xml": fill(diagram)})


def _excel(fill: Callable[[str], str]) -> bytes:
    cell = '<c r="{}" t="{}">{}</c>'
    rows = [
        cell.format("A1", "inlineStr", "<is><t>«head of a column»</t></is>") + cell.format("B1", "str", "<v>fee</v>"),
        cell.format("A2", "s", "<v>0</v>") + cell.format("B2", "n", "<v>1</v>"),
        cell.format("A3", "str", "<f>A1</f><v>«value of a formula»</v>") + cell.format("B3", "n", "<v>2</v>"),
        cell.format("A4", "inlineStr", "<is><r><t>«rich text»</t></r></is>") + cell.format("B4", "n", "<v>3</v>"),
        cell.format("A6", "inlineStr", "<is><t>«cell after an empty row»</t></is>")
        + cell.format("B6", "n", "<v>4</v>"),
    ]
    placed_rows = "".join(f'<row r="{at}">{row}</row>' for at, row in zip((1, 2, 3, 4, 6), rows, strict=True))
    return workbook(fill(placed_rows), strings=fill("<si><t>«shared text» «soft hyphens»</t></si>"))


def _ods(fill: Callable[[str], str]) -> bytes:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = [
        "«head of a column»",
        "«cell»",
        "«cell of two lines»</text:p><text:p>More",
        "«soft hyphens» «accents apart»",
    ]
    lines = "".join(f"<table:table-row>{cell.format(row)}{cell.format('fee')}</table:table-row>" for row in rows)
    body = f'<office:spreadsheet><table:table table:name="«name of a sheet»">{lines}</table:table></office:spreadsheet>'
    manifest = '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    mimetype = "application/vnd.oasis.opendocument.spreadsheet"
    return open_document(fill(body), parts={"mimetype": mimetype, "META-INF/manifest.xml": manifest})


def _odt(fill: Callable[[str], str]) -> bytes:
    row = "<table:table-row>" + "<table:table-cell><text:p>{}</text:p></table:table-cell>" * 2 + "</table:table-row>"
    note = (
        '<text:note text:note-class="{0}"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>«{0}»</text:p></text:note-body></text:note>"
    )
    head = f"<table:table-header-rows>{row.format('«head of a table»', 'fee')}</table:table-header-rows>"
    body = (
        '<office:text><text:h text:outline-level="1">«heading»</text:h>'
        f"<text:p>«paragraph»{note.format('footnote')}{note.format('endnote')}<text:change-start/>«insertion»<text:change-end/></text:p>"
        "<text:list><text:list-item><text:p>«item»</text:p><text:list><text:list-item><text:p>«nested item»</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        f"<table:table>{head}{row.format('«cell»', 1)}"
        "</table:table><text:section><text:p>«paragraph of a section»</text:p></text:section>"
        "<text:p><draw:frame><draw:text-box><text:p>«text box»</text:p></draw:text-box></draw:frame>"
        "«paragraph beside a box»</text:p>"
        "<text:p><text:span>«span»</text:span><text:tab/><text:a xlink:href='a.odt'>«name of a link»</text:a></text:p>"
        "<text:p>«soft hyphens» «accents apart»</text:p></office:text>"
    )
    return open_document(fill(body))


def _odp(fill: Callable[[str], str]) -> bytes:
    frame = "<draw:frame {}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    page = (
        "<office:presentation><draw:page>"
        + frame.format('presentation:class="title"', "«title of a slide»")
        + frame.format("", "«text»</text:p><text:p>«soft hyphens»")
        + f"<draw:g>{frame.format('', '«text in a group»')}</draw:g>"
        + "<draw:custom-shape><text:p>«text of a shape»</text:p></draw:custom-shape>"
        + f"<presentation:notes>{frame.format('', '«speaker notes»')}</presentation:notes>"
        + "</draw:page></office:presentation>"
    )
    return open_document(fill(page))


def _epub(fill: Callable[[str], str]) -> bytes:
    chapter = "<h1>«heading»</h1><p>«paragraph»</p><ul><li>«item»</li></ul><aside>«footnote»</aside>"
    table = "<table><tr><td>«cell»</td><td>1</td></tr></table><p>«soft hyphens» «last paragraph»</p>"
    return book(*(PAGE.format(fill(part)) for part in (chapter, table)), title=fill("«title»"))


def _notebook(fill: Callable[[str], str]) -> bytes:
    def printed(**output: Any) -> dict[str, Any]:
        return {"cell_type": "code", "source": "fee()", "outputs": [output]}

    cells = [
        {"cell_type": "markdown", "source": ["# «heading»\n", "\n", "«paragraph»\n", "\n", "- «item»\n"]},
        {"cell_type": "code", "source": "harbour = 1  # «comment in code»", "outputs": []},
        printed(output_type="stream", text=["«printed text»\n"]),
        printed(output_type="execute_result", data={"text/plain": "'«result»'"}),
        printed(
            output_type="display_data", data={"text/html": "<b>x</b>", "text/markdown": "«Markdown that code made»"}
        ),
        printed(output_type="error", ename="Error", evalue="«error»", traceback=[]),
        {"cell_type": "raw", "source": "«raw cell»"},
        {
            "cell_type": "markdown",
            "source": "| a | b |\n|---|---|\n| «cell of a table» | 1 |\n\n«soft hyphens» «accents apart»",
        },
    ]
    return fill(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}, ensure_ascii=False)).encode()


def _broken(sentence: str, width: int = 30) -> list[str]:
    """Return a sentence in lines, its words broken at their ends."""
    lines, line = [], ""
    for word_ in sentence.split():
        if len(line) + len(word_) + 1 > width and len(line) + 5 <= width:
            lines.append(f"{line} {word_[:4]}-".strip())
            line = word_[4:]
        elif len(line) + len(word_) + 1 > width:
            lines.append(line)
            line = word_
        else:
            line = f"{line} {word_}".strip()
    return [*lines, line]


def _pdf(fill: Callable[[str], str]) -> bytes:
    prose = "The harbour was built of stone before the railway came. Ships paid by their length at the old gate."

    def lines(*places: str) -> list[str]:
        return [line for text in (prose, *(f"«{place}»" for place in places)) for line in _broken(fill(text))]

    left = column([*lines("left column", "end of the left column")], 30, 120)
    right = column([*lines("right column", "end of the right column")], 215, 120)
    title = [Piece(line, 30, 40 + 22 * at, 18) for at, line in enumerate(_broken(fill("«title»"), 34))]
    whole = column([fill("«line over all columns»")], 30, 310)
    rows = [
        (30, fill("«head of a table»")),
        (330, "Fee"),
        (30, fill("«cell»")),
        (330, "10"),
        (30, fill("«cell below»")),
        (330, "20"),
    ]
    table = [Piece(text, left_, 340 + 14 * (at // 2), 9) for at, (left_, text) in enumerate(rows)]
    note = [Piece("1 " + fill("«footnote»"), 30, 560, 7)]
    glyphs = [Piece(text, 30 + 60 * at, 400) for at, text in enumerate(("Bees", "ﬁ"))]
    value = (
        b"<< /Type /Annot /Subtype /Widget /Rect [120 120 380 135] /FT /Tx /T (a) /V (%s) >>"
        % fill("«value of a field»").encode()
    )
    typed = (
        b"<< /Type /Annot /Subtype /FreeText /Rect [30 80 380 95] /DA (/F1 9 Tf) /Contents (%s) >>"
        % fill("«typed onto a page»").encode()
    )
    second = [
        *column([fill("«second page»")], 30, 60),
        Piece("Berth", 30, 478),
        Piece(fill("«line that runs upwards»"), 390, 400, 10, 90),
    ]
    entries = b"/Annots [12 0 R 13 0 R]"
    return placed(
        [*title, *across(left, right), *whole, *table, *glyphs, *note],
        second,
        characters="ﬁ",
        page_entries=entries,
        catalog=b"/AcroForm << /Fields [12 0 R] >>",
        more=[value, typed],
    )


def _names(suffix: str) -> Iterable[str]:
    """Yield names of files: plain, in folders, with blanks and marks, composed and decomposed, and not in UTF-8."""
    special = ["harbour fees.", "Gebühren für Köln.", "a+b #1 100%.", "tief/im/Ordner/Zölle.", "it's (1) [final]."]
    special = [*special[:1], unicodedata.normalize("NFD", special[1]), *special[2:]]
    if sys.platform == "linux":
        special.append(os.fsdecode("Löhne.".encode("latin-1")))
    plain = (f"notes-{number}." for number in range(EACH - len(special)))
    return (f"{name}{suffix}" for name in (*special, *plain))


def _encoded(template: str, *encodings: str) -> Callable[[Callable[[str], str], int], bytes]:
    """Return a maker of files of text, in these encodings in turn."""

    def made(fill: Callable[[str], str], number: int) -> bytes:
        encoding = encodings[number % len(encodings)]
        text = fill(template.replace("{encoding}", encoding) if encoding != "utf-8-sig" else template)
        return text.encode(encoding, "xmlcharrefreplace" if "<html" in template else "replace")

    return made


ORG = """\
#+TITLE: «title»
#+AUTHOR: Ann
# hidden
* TODO [#A] «heading» :sea:
:PROPERTIES:
:ID: hidden
:END:
«paragraph» With a note[fn:: «note within a sentence»], another[fn:1] and [[file:other.org][«text of a link»]].
*«bold text»* and /«slanted text»/ and =code=. «soft hyphens» «ligatures» «accents apart»

- «item»
  - «nested item»
- [X] «task»
- «term» :: «definition»

#+CAPTION: «caption»
| Harbour | Fee |
|---------+-----|
| «cell» | «last cell» |

#+begin_quote
«quotation»
#+end_quote
#+begin_src python
# «comment in code»
#+end_src
: «fixed width»
** «second heading»
[fn:1] «footnote»
"""

ASCIIDOC = """\
// hidden
= «title»
Ann Roe <ann@example.org>
:harbour: «value of an attribute»

«paragraph» With a footnote:[«footnote»], xref:other.adoc[«text of a link»] and <<a,«text of a reference»>>.
*«bold text»* and _«slanted text»_. {harbour} «soft hyphens» «ligatures» «accents apart»

== «heading»

* «item»
** «nested item»
«term»:: «definition»

.«title of a table»
|===
|Harbour |«head of a table»

|«cell»
|«cell below»
|===

NOTE: «note»

.«title of a block»
====
«example»
====

[source,python]
----
# «comment in code»
----

====== «deepest heading»

image::boat.png[«description of a picture»]

«heading with a line below it of words»
~~~~~~~~~
last
"""

LATEX = r"""\documentclass{article}
% hidden
\newcommand{\harbour}{«text of a macro»}
\title{«title»}
\begin{document}
\maketitle
\begin{abstract}
«abstract»
\end{abstract}
\section{«heading»}\label{sec:a}
«paragraph» With a note\footnote{«footnote»} and \href{other.tex}{«text of a link»}. % hidden
\textbf{«bold text»} and {\itshape «slanted text»}. \harbour{} «soft hyphens» «ligatures» «accents apart»

\begin{itemize}
\item «item»
  \begin{enumerate}
  \item «nested item»
  \end{enumerate}
\item[«term»] «definition»
\end{itemize}
\begin{table}[ht]
\caption{«caption»}
\begin{tabular}{l|r}
\hline Harbour & «head of a table» \\ \hline
«cell» & 40 \\
\multicolumn{2}{c}{«wide cell»} \\
\end{tabular}
\end{table}
\begin{quote}
«quotation»
\end{quote}
\begin{lstlisting}[language=Python]
# «comment in code»
\end{lstlisting}
\begin{theorem}[«name of a theorem»] «theorem» \end{theorem}
\subsection*{«second heading»}
\unknown{«argument of a macro»}
\end{document}
"""

MAIL = """\
Subject: «subject»
From: Ann <ann@example.org>
To: Bob <bob@example.org>
Date: Thu, 02 May 2024 12:00:00 +0200
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/plain; charset={encoding}
Content-Transfer-Encoding: 8bit

«paragraph» «soft hyphens» «ligatures» «accents apart»

> «quoted reply»

--inner
Content-Type: text/html; charset={encoding}

<p>hidden</p>
--inner--
--outer
Content-Type: text/html; charset={encoding}

<h1>«heading of a page»</h1><p>«paragraph of a page»</p><table><tr><td>«cell»</td><td>«last cell»</td></tr></table>
--outer
Content-Type: message/rfc822

Subject: «subject of a message within»
Content-Type: text/plain; charset={encoding}

«message within»
--outer
Content-Type: application/pdf
Content-Disposition: attachment; filename="«name of a file»"

hidden
--outer--
"""

BOX = "".join(f"From ann@example.org Thu May  2 12:00:00 2024\n{MAIL}\n" for _ in range(3))

UNICODE = ("utf-8", "utf-8-sig", "utf-16")
MAKERS: dict[str, Callable[[Callable[[str], str], int], bytes]] = {
    "md": _encoded(MARKDOWN, *UNICODE),
    "mdx": _encoded(MARKDOWN.replace("<!-- hidden -->", "{/* hidden */}"), *UNICODE),
    "txt": _encoded(TEXT, *UNICODE),
    "rst": _encoded(RST, *UNICODE),
    "org": _encoded(ORG, *UNICODE),
    "adoc": _encoded(ASCIIDOC, *UNICODE),
    "tex": _encoded(LATEX, *UNICODE),
    "eml": _encoded(MAIL, "utf-8"),
    "mbox": _encoded(BOX, "utf-8"),
    "html": _encoded(HTML, *UNICODE, "windows-1252"),
    "csv": _encoded(_sheet(","), *UNICODE),
    "tsv": _encoded(_sheet("\t"), *UNICODE),
    "srt": _encoded(_subtitles("", ","), *UNICODE),
    "vtt": _encoded(_subtitles("WEBVTT\n\n", "."), *UNICODE),
    "py": _encoded(CODE, "utf-8", "utf-8-sig"),
    "docx": lambda fill, _: _word(fill),
    "pptx": lambda fill, _: _presentation(fill),
    "xlsx": lambda fill, _: _excel(fill),
    "ods": lambda fill, _: _ods(fill),
    "odt": lambda fill, _: _odt(fill),
    "odp": lambda fill, _: _odp(fill),
    "epub": lambda fill, _: _epub(fill),
    "ipynb": lambda fill, _: _notebook(fill),
    "pdf": lambda fill, _: _pdf(fill),
}


def generate(folder: Path, every: int = 4) -> list[Sentence]:
    """Write the corpus into a folder, each format into one of its own, and return its sentences.

    A document has one in each of ``every`` places; the next document of its format has them in the next places.
    """
    author = Author(every)
    for suffix, make in MAKERS.items():
        for number, name in enumerate(_names(suffix)):
            path = folder / suffix / name
            path.parent.mkdir(parents=True, exist_ok=True)
            key = composed(name_in_utf_8(f"{suffix}/{name}"))
            author.begin(number)
            path.write_bytes(make(partial(author.fill, key), number))
    with (folder / "lines.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(EACH):
            author.begin(number)
            lines.write(json.dumps({"id": f"line-{number}", "text": author.fill(f"line-{number}", JSONL)}) + "\n")
    return author.sentences
