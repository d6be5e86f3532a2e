"""LaTeX: what is kept, what is left out, and on which lines it stands."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document


def parsed(text: str | bytes) -> Document:
    data = text if isinstance(text, bytes) else text.encode()
    return parser_of("latex")(Source("harbour-fees.tex", "/root/harbour-fees.tex", data))


def blocks(found: Document) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, found.text[block.start : block.end]) for block in found.blocks]


ARTICLE = r"""\documentclass[a4paper]{article}
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


def test_an_article_is_read_with_its_structure() -> None:
    found = parsed(ARTICLE)

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
        ("paragraph", 0, "- one\n  Two: more"),
        ("paragraph", 0, "Fees by harbour"),
        ("table", 0, "Harbour | Fee\nOldwick | 40\nSkerrow\n50\nBoth"),
        ("code", 0, 'print("{ % no")'),
        ("paragraph", 0, "a = b % c"),
        ("heading", 3, "More"),
        ("paragraph", 0, "See the boats and https://example.org, a%b."),
    ]
    assert [(link.target, found.text[link.start : link.end]) for link in found.links] == [("boats.tex", "the boats")]
    assert found.warnings == ("includes other, which isn't read",)


def test_lines_keep_their_numbers() -> None:
    lines, written = parsed(ARTICLE).text.split("\n"), ARTICLE.split("\n")

    assert len(lines) == len(written)
    for words in ("The fee is", "one", "Fees by harbour", "Oldwick", "print", "a = b", "More", "See"):
        (at,) = (number for number, line in enumerate(lines) if words in line)
        assert words.split()[0] in written[at]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            r"caf\'e, \c{c}a, \v{S}koda, \~nandu, \aa, \L\'od\'z, \o re, \H{o}",
            "café, ça, Škoda, ñandu, å, Łódź, øre, ő",
        ),
        (r"\textbf{\emph{nested} words} and {\itshape more}", "nested words and more"),
        (r"\unknown{kept} \textcolor{red}{red} \includegraphics[width=1cm]{a.png}x", "kept red x"),
        (r"a \footnote{b \footnote{c \footnote{d \footnote{e}}}}", None),
        (r"\section{never closed", "never closed"),
        (r"\begin{verbatim} never closed", "never closed"),
        (r"costs 5\$ and $ 6", "costs 5$ and $ 6"),
        (r"\[ x = y \] and \( z \)", "x = y  and  z"),
        (r"\begin{theorem}[The first law] It holds. \end{theorem}", "The first law: It holds."),
        (r"\textcite{roe} and \eqref{eq:one} and \nocite{*}none", "(roe) and eq:one and none"),
        (r"\texorpdfstring{$n$}{n}-types --- 3--4 \ldots", "n-types — 3–4 …"),
        (r"\def\x{\x\x} \x", None),
        (r"\newcommand{\fee}{40 crowns}It is \fee, \fee{} a night", "It is 40 crowns, 40 crowns a night"),
    ],
)
def test_macros_are_what_they_show(text: str, kept: str | None) -> None:
    found = parsed(text)

    assert kept is None or found.text.strip() == kept


def test_a_file_in_latin_1_is_read() -> None:
    found = parsed(b"\\usepackage[latin1]{inputenc}\\begin{document}\nGeb\xfchr\n\\end{document}")

    assert found.text.strip() == "Gebühr"


def test_macros_cannot_multiply_without_bounds() -> None:
    names = [f"\\a{'b' * at}" for at in range(40)]
    laughs = f"\\def{names[0]}{{ha}}\n" + "".join(
        f"\\def{name}{{{before}{before}}}\n" for before, name in pairwise(names)
    )

    assert len(parsed(laughs + f"{names[-1]} {names[6]} " * 1000).text) < 300_000
