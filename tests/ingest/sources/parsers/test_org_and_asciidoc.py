"""Org and AsciiDoc: what is kept, what is left out, and on which lines it stands."""

from __future__ import annotations

import pytest

from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document


def parsed(name: str, text: str) -> Document:
    return parser_of(name)(Source("harbour-fees.x", "/root/harbour-fees.x", text.encode()))


def blocks(found: Document) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, found.text[block.start : block.end]) for block in found.blocks]


def moved(found: Document, source: str) -> list[str]:
    """Return the lines of code and headings that don't stand on their lines of the source."""
    lines = zip(found.text.split("\n"), source.split("\n"), strict=False)
    return [line for line, written in lines if line.split()[:1] and line.split()[0].strip("*,") not in written]


ORG = """#+TITLE: Harbour fees
#+AUTHOR: Ann Roe
#+FILETAGS: :sea:money:
# a comment
* TODO [#A] The /fees/ [1/2] :tag:
:PROPERTIES:
:ID: abc
:END:
The fee[fn:1] is *40
crowns* a night[fn:: In summer.], see [[file:boats.org::*Big][the
boats]], =a*b*c= and [[https://example.org][web]], in /usr/local/bin.

- term :: meaning
- [X] done

#+begin_src python
,* no heading
#+end_src
| Harbour | Fee |
|---------+-----|
| Oldwick | 40  |
: fixed
#+begin_quote
Quoted.
#+end_quote
#+begin_comment
secret
#+end_comment
** COMMENT hidden
secret
*** deeper
secret
** Shown
#+include: "other.org" src
[fn:1] Since 1990.
"""


def test_org_is_read_with_its_structure_and_without_comments() -> None:
    found = parsed("org", ORG)

    assert (found.title, found.metadata) == ("Harbour fees", {"author": "Ann Roe", "filetags": ["sea", "money"]})
    assert blocks(found) == [
        ("heading", 1, "The fees"),
        (
            "paragraph",
            0,
            "The fee is 40\ncrowns a night (In summer.), see the\nboats, a*b*c and web, in /usr/local/bin.",
        ),
        ("paragraph", 0, "- term: meaning\n- [X] done"),
        ("code", 0, "* no heading"),
        ("table", 0, "Harbour | Fee\n\nOldwick | 40"),
        ("code", 0, "fixed"),
        ("paragraph", 0, "Quoted."),
        ("heading", 2, "Shown"),
        ("paragraph", 0, "Since 1990."),
    ]
    assert [(link.target, found.text[link.start : link.end]) for link in found.links] == [("boats.org", "the\nboats")]
    assert not moved(found, ORG)
    assert found.warnings == ("includes other.org, which isn't read",)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("#+begin_src\nnever ends\n* Next\nkept", ["Next", "kept", "never ends"]),
        (":LOGBOOK:\nnever ends\n* Next\nkept", [":LOGBOOK:\nnever ends", "Next", "kept"]),
        ("#+begin_comment\nnever ends\n", ["never ends"]),
        ("* COMMENT hidden\nx\n* Shown", ["Shown"]),
        ("a *b and c* d\n", ["a b and c d"]),
        ("2 * 3 * 4 and a_b_c and +1\n", ["2 * 3 * 4 and a_b_c and +1"]),
        ("#hashtag first\n", ["#hashtag first"]),
    ],
)
def test_org_that_is_unfinished_loses_no_text(text: str, kept: list[str]) -> None:
    assert sorted(words for _, _, words in blocks(parsed("org", text))) == sorted(kept)


ASCIIDOC = """// a licence
= Harbour fees: a primer
Ann Roe <ann@example.org>
v1.2, 2024-05-01
:version: 1.2
:description: What a harbour costs

The fee of release {version} is *40 crowns*
a night, see xref:boats.adoc#big[the big boats], <<fees,The fees>>
and https://example.org[the web].footnote:[Since 1990.]
It {rises}.

////
hidden
////

[[fees]]
== The _fees_

[source,python]
----
print("= no heading")
----

.Fees by harbour
[cols="1,1"]
|===
|Harbour |Fee

|Oldwick
|40

2+|Skerrow |50
more
|===

[NOTE]
====
Pay by day.
====

term:: its meaning
* one
+
continued

include::other.adoc[]

Old title
~~~~~~~~~
`a_b*c` and __un__constrained and a_b_c.
"""


def test_asciidoc_is_read_with_its_structure_and_without_comments() -> None:
    found = parsed("asciidoc", ASCIIDOC)

    assert found.title == "Harbour fees: a primer"
    assert found.metadata == {
        "author": "Ann Roe <ann@example.org>",
        "revision": "v1.2, 2024-05-01",
        "version": "1.2",
        "description": "What a harbour costs",
    }
    assert blocks(found) == [
        ("heading", 1, "Harbour fees: a primer"),
        (
            "paragraph",
            0,
            (
                "The fee of release 1.2 is 40 crowns\na night, see the big boats, The fees\n"
                "and the web. (Since 1990.)\nIt {rises}."
            ),
        ),
        ("heading", 2, "The fees"),
        ("code", 0, 'print("= no heading")'),
        ("paragraph", 0, "Fees by harbour"),
        ("table", 0, "Harbour | Fee\n\nOldwick\n40\n\nSkerrow | 50\nmore"),
        ("paragraph", 0, "Pay by day."),
        ("paragraph", 0, "term: its meaning\n* one"),
        ("paragraph", 0, "continued"),
        ("heading", 3, "Old title"),
        ("paragraph", 0, "`a_b*c` and unconstrained and a_b_c."),
    ]
    assert [(link.target, found.text[link.start : link.end]) for link in found.links] == [
        ("boats.adoc", "the big boats")
    ]
    assert not moved(found, ASCIIDOC)
    assert found.warnings == ("includes other.adoc, which isn't read",)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("----\nnever ends\n", ["never ends"]),
        ("////\nnever ends\n", ["never ends"]),
        ("Title\n=====\n\ntext\n", ["Title", "text"]),
        ("[comment]\nhidden\n\nshown", ["shown"]),
        ("[TIP]\n====\nPay.\n====\n\n.Code\n----\na = 1\n----\n", ["Pay.", "Code", "a = 1"]),
        (":a: {a}{a}\n:b: {a}{a}\n\n{b}", ["{a}{a}"]),
        ("|===\n|a\n|b\n|===", ["a\nb"]),
        ("image::a.png[A chart,200]\n\nimage:b.png[alt=x] and kbd:[Ctrl]", ["A chart", "and Ctrl"]),
        ("2 * 3 * 4 and ((term))(((hidden))) at C:\\a", ["2 * 3 * 4 and term at C:\\a"]),
    ],
)
def test_asciidoc_that_is_unusual_loses_no_text(text: str, kept: list[str]) -> None:
    assert [words for _, _, words in blocks(parsed("asciidoc", text))] == kept


def test_attributes_of_asciidoc_cannot_multiply_without_bounds() -> None:
    laughs = ":a0: ha\n" + "".join(f":a{at}: {{a{at - 1}}}{{a{at - 1}}}\n" for at in range(1, 40))

    assert len(parsed("asciidoc", f"{laughs}\n{'{a39} ' * 1000}").text) < 300_000


@pytest.mark.parametrize("name", ["org", "asciidoc"])
def test_front_matter_of_site_generators_is_no_text(name: str) -> None:
    found = parsed(name, "---\ntitle: The fees\ntags: [sea]\n---\n\nIt is 40.\n")

    assert (found.title, found.metadata, found.line_offset) == ("The fees", {"tags": ["sea"]}, 4)
    assert [words for _, _, words in blocks(found)] == ["It is 40."]
