"""The clauses of a task, each of which may ask for a tool of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.text.sentences import sentences

MOST_CLAUSES = 8
"""Maximum number of clauses, for a bounded number of texts to embed; the tasks seen have three on average."""

_FEWEST_WORDS = 3
"""Clauses of fewer words are joined: a place or a name alone asks for nothing. 2 and 4 rank alike."""

_CONJUNCTION = r"(?:and|then|und|dann|et|puis|y|luego|и|затем)\s+"
_BREAK = re.compile(
    rf"(?:(?<=[；，、])|(?<=[,;])\s+|(?<=\n)|(?<=\s)(?={_CONJUNCTION}))(?:{_CONJUNCTION})*+", re.IGNORECASE
)
"""Between two clauses, with the conjunctions that the second begins with."""

_PATH = re.compile(
    r"(?<![\w:/.\\])(?:~|\.{0,2}|[A-Za-z]:)[/\\](?:[\w.-]+[/\\])*[\w.-]*?\.(?P<kind>\w{1,8})(?!\.?[\w/\\])"
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+")
_IDEOGRAPHS_PER_WORD = 2


def clauses(task: str) -> list[str]:
    """Return the clauses of a task in order, at most ``MOST_CLAUSES``; they hold all of it but outer white space.

    A clause ends with a sentence, a line, a semicolon or a comma, or before a conjunction of the commonest languages. A
    task of more clauses is cut into stretches of about equal length.
    """
    pieces: list[str] = []
    for start, end in sentences(task, 0, len(task)):
        for piece in _pieces(task[start:end]):
            if pieces and (_is_short(piece) or _is_short(pieces[-1])):
                pieces[-1] += f" {piece}"
            else:
                pieces.append(piece)
    stripped = [" ".join(piece.split()) for piece in pieces]
    return _bounded([piece for piece in stripped if piece])


def without_paths(text: str) -> str:
    """Return a text with the kind of file in place of each path of a file: ``md file`` for ``~/notes/a.md``.

    A path asks for a tool that handles files; the names in it say nothing of tools. On 47 tasks for several
    servers, many of which write a file, recall@10 is 4 points higher for it.
    """
    return _PATH.sub(r"\g<kind> file", text)


def _pieces(sentence: str) -> Iterator[str]:
    start = 0
    for match in _BREAK.finditer(sentence):
        yield sentence[start : match.start()]
        start = match.start()
    yield sentence[start:]


def _is_short(piece: str) -> bool:
    ideographs = len(_IDEOGRAPH.findall(piece))
    others = len(_WORD.findall(_IDEOGRAPH.sub(" ", piece)))
    return others + ideographs / _IDEOGRAPHS_PER_WORD < _FEWEST_WORDS


def _bounded(pieces: list[str]) -> list[str]:
    if len(pieces) <= MOST_CLAUSES:
        return pieces
    stretches: list[list[str]] = [[] for _ in range(MOST_CLAUSES)]
    length, before = sum(map(len, pieces)), 0
    for piece in pieces:
        stretches[before * MOST_CLAUSES // length].append(piece)
        before += len(piece)
    return [" ".join(stretch) for stretch in stretches if stretch]
