"""Hostile files of each format that HopRank reads, made from seeds: for bench_faults.py.

A format's own come first: bombs, loops, and what nests too deep. The rest are a well-formed sample that is damaged:
cut, flipped, in another encoding, with pieces put in that no reader expects, or many times as long.
"""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.files import test_foreign as foreign
from tests.ingest.sources.hostile import (
    HOSTILE,
    LAUGHS,
    PAGE,
    SHAPE,
    book,
    csvs,
    open_document,
    pdf_of,
    slides,
    stream,
    word,
    workbook,
)

DEEP, WIDE = 20_000, 10_000
"""How deep and how long: what has text is embedded, which takes a second for about ten thousand characters."""
Make = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Hostile:
    """A hostile file: what is wrong with it, its name, and its content."""

    kind: str
    name: str
    content: bytes


PIECES: list[bytes] = (
    rb"""9e999 -0 NaN Infinity \ud800 \u0000 ${x} {{x}} !! " ' ` < > & [ ] { } &a *a <![CDATA[ <!-- ]]> | \ %""".split()
)
PIECES += [
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\xaf",
    b"\x1b[2J",
    b"\r",
    b"\x0b\x0c",
    b"\x85",
]
PIECES += [
    b"9" * 400,
    b"0x" + b"f" * 400,
    b"---\n",
    b"...\n",
    b"[[" * 99,
    b"![](" * 99,
    b"\xcc\x81" * 500,
    b"\t",
    b"\x1a",
]
PIECES += ["\N{RIGHT-TO-LEFT OVERRIDE}".encode(), "\N{ZERO WIDTH JOINER}".encode() * 99]
ENCODINGS = ("utf-16", "utf-32", "utf-16-be", "latin-1", "shift-jis", "utf-7", "cp037", "utf-8-sig")
STEMS = [
    f"bad{end}"
    for end in ("", "\nname", "'s", '"', "`", "%00", "..", ";x", "[0]*?", "\x1b[31m", "\ue000", "<b>", "{x}")
]
STEMS += ["-bad", " bad ", "b" * 180 + "bad", "bad\N{RIGHT-TO-LEFT OVERRIDE}", "bad\N{PILE OF POO}", "bad\udcff"]


def deep(opening: str, closing: str = "", inside: str = "", times: int = DEEP) -> Make:
    return lambda: (opening * times + inside + closing * times).encode()


def zipped(name: str, megabytes: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as part:
        for _ in range(megabytes):
            part.write(b" " * 1_000_000)
    return packed.getvalue()


YAML_LAUGHS = "a0: &a0 [ha]\n" + "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 12))
XML_LAUGHS = f'<?xml version="1.0"?><!DOCTYPE graphml [{LAUGHS}]><graphml>&l11;</graphml>'
XML_FILE = (
    '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]><graphml><graph>&x;</graph></graphml>'
)

JSONS: dict[str, Make] = {
    "arrays too deep": deep("[", "]"),
    "arrays that never close": deep("["),
    "objects too deep": deep('{"a":', "}", "1"),
    "a number too long": lambda: b'{"id": ' + b"9" * 100_000 + b"}",
    "a number too large": lambda: b'{"id": "a", "text": "b", "date": 1e999999}',
    "a string without an end": lambda: b'{"id": "' + b"a" * 5_000_000,
    "a key a hundred thousand times": lambda: b"{" + b'"id": "a", ' * 100_000 + b'"text": "b"}',
    "lone surrogates": lambda: b'{"id": "\\ud800", "text": "\\udfff\\ud800"}',
    "nothing but nulls": lambda: b"null\n" * 10_000,
    "nothing but blanks": lambda: b" \n" * 1_000_000,
}
YAMLS: dict[str, Make] = {
    "aliases that multiply": YAML_LAUGHS.encode,
    "an alias of itself": lambda: b"a: &a [*a]\nprojects: *a\n",
    "lists too deep": deep("["),
    "mappings too deep": lambda: "".join(f"{' ' * at}a:\n" for at in range(1_000)).encode(),
    "a tag that runs code": lambda: b"projects: !!python/object/apply:os.system ['true']\n",
    "keys that are lists": lambda: b"? [a, b]\n: c\n",
    "merges that multiply": lambda: b"a: &a {b: 1}\nc:\n" + b"  <<: *a\n" * 10_000,
    "a number too large": lambda: b"projects: " + b"9" * 50_000 + b"\n",
    "two documents": lambda: b"a: 1\n---\nb: 2\n",
    "a date that is none": lambda: b"projects: {a: {path: 2024-13-45}}\n",
}
XMLS: dict[str, Make] = {
    "entities that multiply": XML_LAUGHS.encode,
    "an entity that reads a file": XML_FILE.encode,
    "elements too deep": deep("<graphml>"),
    "a million attributes": lambda: b"<graphml " + b" ".join(b"a%d='1'" % at for at in range(1_000_000)) + b"/>",
    "no graph": lambda: b"<graphml/>",
    "an edge without nodes": lambda: b"<graphml><graph><edge source='a' target='b'/></graph></graphml>",
    "a node that is twice there": lambda: b"<graphml><graph><node id='a'/><node id='a'/></graph></graphml>",
    "an encoding that is none": lambda: b"<?xml version='1.0' encoding='no-such'?><graphml/>",
}
TEXTS: dict[str, Make] = {
    "a long line": lambda: b"a" * 50_000,
    "a million lines": lambda: b"\n" * 1_000_000,
    "a word with a million accents": lambda: b"a" + b"\xcc\x81" * 500_000,
    "a packed file": lambda: gzip.compress(b"\0" * 50_000_000),
    "a bomb of a ZIP": lambda: zipped("a.txt", 200),
    "nothing": lambda: b"",
}
MARKDOWNS: dict[str, Make] = {
    "quotations too deep": deep("> ", inside="text"),
    "brackets too deep": deep("[", inside="text"),
    "links too deep": deep("[a](", ")", "x"),
    "emphasis that never closes": deep("*a **b ", times=WIDE),
    "lists too deep": lambda: "".join(f"{'  ' * at}- a\n" for at in range(300)).encode(),
    "a heading again and again": lambda: b"# a\n" * 500,
    "a table too wide": lambda: b"|" + b"a|" * 20_000,
    "front matter that multiplies": lambda: f"---\n{YAML_LAUGHS}---\ntext".encode(),
    "front matter that never ends": lambda: b"---\na: b\n" * 3_000,
    "backticks without an end": lambda: b"".join(b"`" * at + b"a" for at in range(300)),
    "references that multiply": lambda: b"[a]: x\n" * 5_000 + b"[a]" * 5_000,
}
RSTS: dict[str, Make] = {
    "quotations too deep": lambda: "".join(f"{' ' * at}a\n\n" for at in range(800)).encode(),
    "substitutions of themselves": lambda: b".. |a| replace:: |b|\n.. |b| replace:: |a|\n\n|a|\n",
    "a file that it includes": lambda: b".. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n",
    "a table of itself": lambda: b"+" + b"-+" * 5_000 + b"\n|" + b"a|" * 5_000 + b"\n",
    "roles that never end": deep(":a:`", times=WIDE),
}
ORGS: dict[str, Make] = {
    "headings too deep": lambda: "".join(f"{'*' * at} a\n" for at in range(1, 500)).encode(),
    "footnotes in footnotes": deep("[fn::a", "]", times=WIDE),
    "links too deep": deep("[[a][", "]]", "x", WIDE),
    "drawers that never end": lambda: b":LOGBOOK:\n" * WIDE,
    "code that never ends": lambda: b"#+begin_src\n" * WIDE,
}
ASCIIDOCS: dict[str, Make] = {
    "attributes that multiply": lambda: (
        ":a0: ha\n" + "".join(f":a{at}: {{a{at - 1}}}{{a{at - 1}}}\n" for at in range(1, 40)) + "\n{a39}\n"
    ).encode(),
    "an attribute of itself": lambda: b":a: {a}{a}\n\n{a}\n",
    "a file that it includes": lambda: b"include::/etc/passwd[]\n\nlink:a[" * 100,
    "blocks in blocks": lambda: "".join(f"{'=' * (at % 40 + 4)}\n" for at in range(WIDE)).encode(),
    "a table of a billion columns": lambda: b'[cols="999999999*"]\n|===\n|a |b\n|===\n',
}
LATEXES: dict[str, Make] = {
    "macros that multiply": lambda: (
        "\\def\\aa{ha}\n" + "".join(f"\\def\\a{'a' * at}a{{\\a{'a' * at}\\a{'a' * at}}}\n" for at in range(1, 30))
    ).encode(),
    "a macro of itself": lambda: b"\\def\\x{\\x\\x} \\x\n",
    "groups too deep": deep("{", "}", "x"),
    "footnotes in footnotes": deep("x\\footnote{", "}", "x", WIDE),
    "a file that it reads in": lambda: b"\\input{/etc/passwd} \\include /etc/passwd\n",
    "environments that never end": lambda: b"\\begin{verbatim}\\begin{tabular}{l}" * 500,
}
CODES: dict[str, Make] = {
    "brackets too deep": deep("("),
    "functions too deep": lambda: "".join(f"{' ' * at}def f{at}():\n" for at in range(500)).encode(),
    "a string without an end": lambda: b'"""' + b"a\n" * WIDE,
    "a call too long": deep("f(", ")", "1", 5_000),
    "a thousand functions of one name": lambda: b"def f(): pass\n" * 1_000,
}
SAMPLE = "# Moon\n\nThe moon raises the tides. See [Tide](a.md), `code` and **more**.\n\n- one\n\n| a |\n|---|\n"
NOTE = f"---\ntitle: Bad\ntags: [a, b]\ndate: 2024-01-01\naliases: [c]\n---\n{SAMPLE}\n[[good0]] ![[good1#x^y]] #tag\n"
RST = "Moon\n====\n\nThe moon *raises* the `tides`_.\n\n.. _tides: x\n\n.. code:: python\n\n   a = 1\n"
ORG = "#+title: Moon\n* The *moon*\nIt raises [[file:a.org][tides]].[fn::x]\n#+begin_src\na\n#+end_src\n| a | b |\n"
LATEX = r"""\documentclass{article}\title{Moon}\begin{document}\section{Tides} Moon\footnote{M\"ond} raises $x$ tides.
\begin{tabular}{ll} a & b \\ c & d \end{tabular} \begin{verbatim} a \end{verbatim} \end{document}"""
ASCIIDOC = "= Moon\n:a: tides\n\nThe moon raises the {a}, see xref:a.adoc[A].\n\n----\na\n----\n\n|===\n|a |b\n|===\n"
HTML = f"<!DOCTYPE html><html><head><title>Moon</title></head><body><h1>Moon</h1>{SAMPLE}<table><tr><td>a</table>"
CODE = '"""Moon."""\n\nimport os\n\n\nclass Tide:\n    """A tide."""\n\n    def rise(self) -> int:\n        return 1\n'
COMPOSE = "services:\n  bad:\n    image: a:1\n    depends_on: [db]\n    environment: {A: b}\n  db: {image: 'b:16'}\n"
NOTEBOOK = '{"cells": [{"cell_type": "code", "source": "tide()", "outputs": [{"text": ["high\\n"]}]}], "metadata": {}}'
MAIL = """From: =?utf-8?q?Ad=C3=A1?= <ada@example.org>
Subject: The moon
Date: Thu, 02 May 2024 12:00:00 +0200
Content-Type: multipart/alternative; boundary="b"

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The moon raises the tides of the =DCsse.
--b
Content-Type: text/html

<p>The moon raises the tides.</p>
--b--
"""
QUERIES = '{"id": "a", "query": "Which tide?"}\n{"_id": 1, "text": "What raises the tides?"}\n'
CHATS = "".join(foreign.CHAT.replace('"a"', f'"{at}"') + "\n" for at in range(3))
PDF = pdf_of(
    b"<< /Type /Catalog /Pages 2 0 R >>",
    b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
    stream(b"BT /F 9 Tf 9 9 Td (The moon raises the tides) Tj ET"),
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
)

FORMATS: dict[str, tuple[str, Callable[[], bytes], dict[str, Make]]] = {
    "md": (".md", SAMPLE.encode, TEXTS | MARKDOWNS),
    "txt": (".txt", SAMPLE.encode, TEXTS),
    "rst": (".rst", RST.encode, TEXTS | RSTS),
    "org": (".org", ORG.encode, TEXTS | ORGS),
    "asciidoc": (".adoc", ASCIIDOC.encode, TEXTS | ASCIIDOCS),
    "latex": (".tex", LATEX.encode, TEXTS | LATEXES),
    "html": (".html", HTML.encode, HOSTILE["html"]),
    "pdf": (".pdf", lambda: PDF, HOSTILE["pdf"]),
    "docx": (".docx", lambda: word("<w:p><w:r><w:t>Moon</w:t></w:r></w:p>"), HOSTILE["docx"]),
    "csv": (".csv", lambda: b"harbour,fee\nOldwick,40\n", csvs(WIDE)),
    "xlsx": (".xlsx", lambda: workbook('<row r="1"><c r="A1"><v>1</v></c></row>'), HOSTILE["xlsx"]),
    "pptx": (".pptx", lambda: slides(SHAPE.format("Moon")), HOSTILE["pptx"]),
    "odt": (".odt", lambda: open_document("<text:p>Moon</text:p>"), HOSTILE["odt"]),
    "epub": (".epub", lambda: book(PAGE.format("<p>Moon</p>")), HOSTILE["epub"]),
    "ipynb": (".ipynb", NOTEBOOK.encode, JSONS),
    "mail": (".eml", MAIL.encode, HOSTILE["mail"]),
    "mailbox": (".mbox", lambda: f"From ada Thu May  2 12:00:00 2024\n{MAIL}\n".encode() * 3, HOSTILE["mail"]),
    "jsonl": (".jsonl", foreign.CHUNKS.encode, JSONS),
    "code": (".py", CODE.encode, TEXTS | CODES),
    "notes": (".md", NOTE.encode, MARKDOWNS),
    "chats": (".json", foreign.CHAT.encode, JSONS),
    "chat lines": (".jsonl", CHATS.encode, JSONS),
    "registries": (".yaml", foreign.REGISTRY.encode, YAMLS),
    "compose files": (".yml", COMPOSE.encode, YAMLS),
    "listings": (".json", foreign.LISTING.encode, JSONS),
    "GraphML": (".graphml", foreign.GRAPHML.encode, XMLS),
    "graph lines": (".jsonl", foreign.LINES.encode, JSONS),
    "graph documents": (".json", foreign.GRAPH.encode, JSONS),
    "exports": (".jsonl", bytes, JSONS),
    "querysets": (".jsonl", QUERIES.encode, JSONS),
}
"""The formats: a suffix, a well-formed sample, which exports get of the server, and the format's own attacks."""


def hostile(name: str, number: int, seed: int, given: bytes = b"") -> Iterator[Hostile]:
    """Yield so many hostile files of a format; ``given`` is a well-formed sample to damage instead of the format's."""
    suffix, sample, own = FORMATS[name]
    chance = random.Random(f"{seed} {name}")  # noqa: S311 - chosen, so that a file can be had again
    for at, (kind, make) in enumerate([*own.items()][:number]):
        yield Hostile(kind, f"{STEMS[at % len(STEMS)]}{suffix}", make())
    for at in range(len(own), number):
        kind, content = damaged(given or sample(), chance)
        yield Hostile(kind, f"{STEMS[at % len(STEMS)]}{suffix}", content)


def damaged(content: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Return a sample with something wrong, and what."""
    match chance.randrange(6):
        case 0:
            return "cut off", content[: chance.randrange(len(content))]
        case 1:
            flipped = bytearray(content)
            for _ in range(chance.randint(1, 20)):
                flipped[chance.randrange(len(flipped))] = chance.randrange(256)
            return "flipped bytes", bytes(flipped)
        case 2:
            encoding = chance.choice(ENCODINGS)
            return f"in {encoding}", content.decode("utf-8", "replace").encode(encoding, "replace")
        case 3:
            times = min(chance.choice((2, 50, 5_000)), 1 + 50_000 // len(content))
            return f"{times} times", content * times
        case 4:
            at = chance.randrange(len(content))
            return "a piece moved", content[at:] + content[:at]
    for _ in range(chance.randint(1, 6)):
        at, piece = chance.randrange(len(content)), chance.choice(PIECES)
        content = content[:at] + piece + content[at + chance.choice((0, 0, len(piece))) :]
    return "pieces put in", content
