"""Org, AsciiDoc and LaTeX: what is kept, what is left out, and on which lines it stands."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.documents import blocks, links


def parsed(name: str, text: str | bytes) -> Document:
    data = text if isinstance(text, bytes) else text.encode()
    return parser_of(name)(Source("harbour-fees.x", "/root/harbour-fees.x", data))


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
        ("heading", 1, "The /fees/"),
        (
            "paragraph",
            0,
            (
                "The fee[fn:1] is *40\ncrowns* a night[fn:: In summer.], see the\n"
                "boats, =a*b*c= and web, in /usr/local/bin."
            ),
        ),
        ("paragraph", 0, "- term :: meaning\n- [X] done"),
        ("code", 0, ",* no heading"),
        ("table", 0, "| Harbour | Fee |\n|---------+-----|\n| Oldwick | 40  |"),
        ("code", 0, ": fixed"),
        ("paragraph", 0, "Quoted."),
        ("heading", 2, "Shown"),
        ("paragraph", 0, "[fn:1] Since 1990."),
    ]
    assert links(found) == [("boats.org", "the\nboats")]
    assert found.warnings == ("includes other.org, which isn't read",)


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
    assert found.metadata == {"version": "1.2", "description": "What a harbour costs"}
    assert blocks(found) == [
        ("heading", 1, "Harbour fees: a primer"),
        ("paragraph", 0, "Ann Roe <ann@example.org>\nv1.2, 2024-05-01"),
        (
            "paragraph",
            0,
            (
                "The fee of release 1.2 is *40 crowns*\na night, see the big boats, <<fees,The fees>>\n"
                "and https://example.org[the web].footnote:[Since 1990.]\nIt {rises}."
            ),
        ),
        ("heading", 2, "The _fees_"),
        ("code", 0, 'print("= no heading")'),
        ("paragraph", 0, "Fees by harbour"),
        ("table", 0, "|Harbour |Fee\n\n|Oldwick\n|40\n\n2+|Skerrow |50\nmore"),
        ("paragraph", 0, "Pay by day."),
        ("paragraph", 0, "term:: its meaning\n* one"),
        ("paragraph", 0, "continued"),
        ("heading", 3, "Old title"),
        ("paragraph", 0, "`a_b*c` and __un__constrained and a_b_c."),
    ]
    assert links(found) == [("boats.adoc", "the big boats")]
    assert found.warnings == ("includes other.adoc, which isn't read",)


LATEX = r"""\documentclass[a4paper]{article}
% \title{no}
\newcommand{\sys}{HopRank\xspace}
\newcommand{\foo}[1]{\textbf{#1}}
\title{Harbour \emph{fees}:\\ a primer\thanks{Funded}}
\author{Ann R\"oe \and Bob \'{E}ve}
\begin{document}
\maketitle
\section{The \emph{fees}} \label{sec:fees}
The fee is 40\,crowns\footnote{In
summer.} a night~--- see \cite[p.~5]{roe,eve} and Section~\ref{sec:fees}.
\sys{} is ``good'' na\"{\i}ve. % a comment
Stra\ss e costs 50\% of \$5.%
00 and $x^2 \% y$ more, \foo{bold}.

\begin{itemize}
  \item one
  \item[Two] more
\end{itemize}
\begin{table}[ht]
\centering
\caption{Fees by harbour}
\begin{tabular}{l|r}
\hline
Harbour & Fee \\ \hline
Oldwick & 40 \\
Skerrow &
  50 \\
\multicolumn{2}{c}{Both} \\
\end{tabular}
\end{table}
\begin{lstlisting}[language=Python]
print("{ % no")
\end{lstlisting}
\begin{comment}
hidden {
\end{comment}
\begin{equation}
a = b % c
\end{equation}
\begin{tikzpicture}
\draw (0,0);
\end{tikzpicture}
\subsection*{More}
See \href{boats.tex}{the boats} and \url{https://example.org}, \verb|a%b|.
\input{other}
\end{document}
after
"""


def test_latex_is_read_with_its_structure_and_without_comments() -> None:
    found = parsed("latex", LATEX)

    assert (found.title, found.metadata) == ("Harbour fees: a primer", {"author": "Ann Röe, Bob Éve"})
    assert blocks(found) == [
        ("heading", 2, "The fees"),
        (
            "paragraph",
            0,
            (
                "The fee is 40 crowns (In\nsummer.) a night — see (roe,eve) and Section sec:fees.\n"
                "HopRank is “good” naïve. \nStraße costs 50% of $5.\n00 and $x^2 \\% y$ more, bold."
            ),
        ),
        ("paragraph", 0, "- one\n  Two more"),
        ("paragraph", 0, "Fees by harbour"),
        ("table", 0, "Harbour | Fee   \nOldwick | 40  \nSkerrow |\n  50  \nBoth"),
        ("code", 0, 'print("{ % no")'),
        ("paragraph", 0, "a = b % c"),
        ("heading", 3, "More"),
        ("paragraph", 0, "See the boats and https://example.org, a%b."),
    ]
    assert links(found) == [("boats.tex", "the boats")]
    assert found.warnings == ("includes other, which isn't read",)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("org", ORG, ["The fee[", "* no heading", "Oldwick", "Quoted", "Shown"]),
        ("asciidoc", ASCIIDOC, ["The fee of", "print", "Skerrow", "Pay by day", "Old title"]),
        ("latex", LATEX, ["The fee is", "Oldwick", "print", "a = b", "More", "See"]),
    ],
)
def test_lines_keep_their_numbers(name: str, text: str, words: list[str]) -> None:
    lines, written = parsed(name, text).text.split("\n"), text.split("\n")

    assert len(lines) == len(written)
    for word in words:
        (at,) = (number for number, line in enumerate(lines) if word in line)
        assert word in written[at]


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("org", "#+begin_src\nnever ends\n* Next\nkept", ["never ends", "Next", "kept"]),
        ("org", ":LOGBOOK:\nnever ends\n* Next\nkept", [":LOGBOOK:\nnever ends", "Next", "kept"]),
        ("org", "#+begin_comment\nnever ends\n", ["never ends"]),
        ("org", "* COMMENT hidden\nx\n* Shown", ["Shown"]),
        ("org", "2 * 3 * 4 and a_b_c and +1\n", ["2 * 3 * 4 and a_b_c and +1"]),
        ("org", "#hashtag first\n", ["#hashtag first"]),
        ("asciidoc", "----\nnever ends\n", ["never ends"]),
        ("asciidoc", "////\nnever ends\n", ["never ends"]),
        ("asciidoc", "Title\n=====\n\ntext\n", ["Title", "text"]),
        ("asciidoc", "A line above code\n----\na = 1\n----\n", ["A line above code", "a = 1"]),
        ("asciidoc", "[comment]\nhidden\n\nshown", ["shown"]),
        ("asciidoc", "[TIP]\n====\nPay.\n====\n\n.Code\n----\na = 1\n----\n", ["Pay.", "Code", "a = 1"]),
        ("latex", r"\section{never closed", ["never closed"]),
        ("latex", r"\begin{verbatim} never closed", ["never closed"]),
    ],
)
def test_what_is_unfinished_or_unusual_loses_no_text(name: str, text: str, kept: list[str]) -> None:
    assert [words for _, _, words in blocks(parsed(name, text))] == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            r"caf\'e, \c{c}a, \v{S}koda, \~nandu, \aa, \L\'od\'z, \o re, \H{o}",
            "café, ça, Škoda, ñandu, å, Łódź, øre, ő",
        ),
        (r"\textbf{\emph{nested} words} and {\itshape more}", "nested words and more"),
        (r"\unknown{kept} \textcolor{red}{red} \includegraphics[width=1cm]{a.png}x", "kept red x"),
        (r"costs 5\$ and $ 6", "costs 5$ and $ 6"),
        (r"\[ x = y \] and \( z \)", "x = y  and  z"),
        (r"\begin{theorem}[The first law] It holds. \end{theorem}", "The first law It holds."),
        (r"\textcite{roe} and \eqref{eq:one} and \nocite{*}none", "(roe) and eq:one and none"),
        (r"\texorpdfstring{$n$}{n}-types --- 3--4 \ldots", "n-types — 3–4 …"),
        (r"\newcommand{\fee}{40 crowns}It is \fee, \fee{} a night", "It is 40 crowns, 40 crowns a night"),
    ],
)
def test_macros_of_latex_are_what_they_show(text: str, kept: str) -> None:
    assert parsed("latex", text).text.strip() == kept


def test_a_latex_file_in_latin_1_is_read() -> None:
    found = parsed("latex", b"\\usepackage[latin1]{inputenc}\\begin{document}\nGeb\xfchr\n\\end{document}")

    assert found.text.strip() == "Gebühr"


def test_what_stands_for_a_text_cannot_multiply_without_bounds() -> None:
    attributes = ":a0: ha\n" + "".join(f":a{at}: {{a{at - 1}}}{{a{at - 1}}}\n" for at in range(1, 40))
    names = [f"\\a{'b' * at}" for at in range(40)]
    macros = f"\\def{names[0]}{{ha}}\n" + "".join(
        f"\\def{name}{{{before}{before}}}\n" for before, name in pairwise(names)
    )

    assert len(parsed("asciidoc", f"{attributes}\n{'{a39} ' * 1000}").text) < 300_000
    assert len(parsed("latex", macros + f"{names[-1]} {names[6]} " * 1000).text) < 300_000


@pytest.mark.parametrize("name", ["org", "asciidoc"])
def test_front_matter_of_site_generators_is_no_text(name: str) -> None:
    found = parsed(name, "---\ntitle: The fees\ntags: [sea]\n---\n\nIt is 40.\n")

    assert (found.title, found.metadata, found.line_offset) == ("The fees", {"tags": ["sea"]}, 4)
    assert [words for _, _, words in blocks(found)] == ["It is 40."]
