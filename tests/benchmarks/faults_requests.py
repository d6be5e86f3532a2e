"""Hostile requests to ``hoprank serve``, counted: a part of bench_faults.py.

The service is a process of its own with two corpora and two graphs that its tokens don't open: one that requests name,
and one that no request names. Each request is bytes of its own on a connection of its own: every route and others, with
odd methods, paths, queries, bodies and headers. A word of the hidden texts, a hidden name that the request didn't hold,
a password or a traceback in an answer is a *leak*, as is the server's address without a token; a status from 500 is a
fault, and so is an answer that doesn't come. At the end the service must answer a search as at the beginning.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import requests
from rich.table import Table

from pipeline import HopRank, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.load import load
from pipeline.progress import Progress
from tests.serve.service import serving

FULL = "full-of-rights-000001"
TOKENS = {
    "none": "",
    "wrong": "wrong-token-00000001",
    "reader": "reads-only-open-0001",
    "writer": "writes-scratch-00001",
}
NAMED, UNNAMED, SECRET = "ledger", "quittance-unsaid", "xylotheque"
THREADS, SECONDS = 4, 40
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")

WORDS = (
    "open scratch ledger none . .. ../ledger ..%2fledger %2e%2e/ledger open/../ledger open%00 %00 %ff%fe %c0%ae%c0%ae"
    " open%0d%0aX-Evil:%201 OPEN open%20 %EF%BC%AFpen ' \" open'OR'1 ` {{7*7}} ${jndi:ldap://x} MATCH(n)RETURN(n)"
    " \N{RIGHT-TO-LEFT OVERRIDE}x -1 0 1e999 99999999999999999999 NaN null true [] file:///etc/passwd //evil.example/"
    " documents graph * ? # ; open;ledger open,ledger open|ledger \N{PILE OF POO} d0 one"
).split()
WORDS += ["", "a" * 3000]
VALUES: tuple[object, ...] = (*WORDS, None, True, -1, 0, 1.5, 10**30, 1e308, [], {}, [[]], "\0", "\ud800", ["x"] * 999)
VALUES += (
    {"$ne": None},
    {"corpus": NAMED},
    ["open", NAMED],
    {"year": {"$gte": 1, "$lte": "x"}},
    {"year": [1, "a", None]},
)
VALUES += ({"a.b": 1}, {"`": 1}, {"corpus": "x' OR true"}, {"$or": [{}]}, {"year": {"$in": [1] * 999}})
FIELDS = (
    "query corpus corpora graph top_k leg filters explain cursor limit paths documents id text title metadata key"
    " memory vault as_of budget node source target folder prefix after state hops depth direction scope projects name q"
).split()
NAMES = ("open", "open", "scratch", "scratch", "open graph", "open graph", NAMED, f"{NAMED} graph")
DOCUMENTS: Sequence[object] = (
    [{"id": "d", "text": "moon"}],
    [{"id": "../d", "text": "a", "metadata": {"a": [1]}}],
    [{}],
    [{"id": 1}],
)
LIKELY: dict[str, Sequence[object]] = {
    **dict.fromkeys(("corpus", "graph", "memory", "vault", "name"), NAMES),
    **dict.fromkeys(("query", "text", "task", "message", "topic", "q"), ("moon", "Which tide does the moon raise?")),
    **dict.fromkeys(("node", "source", "target"), ("one0", "one1", "d0")),
    "documents": DOCUMENTS,
    "paths": (["/etc/passwd"], ["../x"], ["*"], ["http://127.0.0.1/x"]),
}
"""What a field holds most of the time: else nearly all bodies are refused as malformed, at once."""

METHODS = [*"GET POST PUT DELETE PATCH HEAD OPTIONS TRACE CONNECT get BREW".split(), "A" * 300]
HEADERS = f"""\
Host: evil.example|Host:|X-Forwarded-For: 127.0.0.1|X-Forwarded-Host: evil|X-Original-URL: /v1/corpora
X-HTTP-Method-Override: DELETE|Origin: https://evil.example|Content-Length: -1|Content-Length: 99999999999
Transfer-Encoding: chunked|Transfer-Encoding: chunked, identity|Transfer-Encoding:\tchunked|Expect: 100-continue
Content-Encoding: gzip|Content-Type: text/xml|Content-Type: application/json; charset=utf-7|Accept: ??
Range: bytes=0-99999999999|Connection: upgrade\r\nUpgrade: websocket|X-Request-ID: a\x0bb|X: a\r\n folded|X : blank
: nameless|no colon|X: \xff\xfe|Authorization: Basic YTpi|If-Match: *|Authorization: Bearer {FULL[:-1]}
Authorization: Bearer|Last-Event-ID: 1\x00|Accept-Language: {"x" * 70_000}|Cookie: {"a=b;" * 2000}"""
HEADER_LINES = re.split(r"\||(?<!\r)\n", HEADERS)


Operation = tuple[str, str, Sequence[str]]
"""A path, a method, and the fields that it takes."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as bytes, the route that it is about, and whose token it has."""

    route: str
    token: str
    sent: bytes


class Making:
    """Makes requests from a seed."""

    def __init__(self, operations: Sequence[Operation], verbs: Sequence[str], seed: int) -> None:
        self._operations, self._verbs = operations, verbs
        self._chance = random.Random(seed)  # noqa: S311 - chosen, so that a fault can be had again

    def request(self, at: int) -> Request:
        """Return the next one: each route and token comes in turn."""
        chance = self._chance
        route, method, fields = self._operations[at % len(self._operations)]
        token = list(TOKENS)[at // len(self._operations) % len(TOKENS)]
        if chance.random() < 0.15:
            method = chance.choice(METHODS)
        body = self._body(fields) if method in {"POST", "PUT", "PATCH"} or chance.random() < 0.1 else b""
        headers = self._headers(token, body)
        line = f"{method} {self._target(route, fields)} HTTP/{chance.choice(('1.1',) * 20 + ('1.0', '9.9', '2'))}"
        return Request(route, token, line.encode("utf-8", "replace") + b"\r\n" + headers + b"\r\n\r\n" + body)

    def _word(self) -> str:
        word = self._chance.choice(WORDS)
        # As it is, or with all that a client's library would quote.
        return quote(word, safe="") if self._chance.random() < 0.5 else word.replace(" ", "%20")

    def _target(self, route: str, fields: Sequence[str]) -> str:
        chance = self._chance
        names = (*(quote(name) for name in NAMES), self._word(), self._word())
        path = re.sub(r"\{\w+\}", lambda _: chance.choice(names), route)
        if route.endswith("{domain}/{verb}") and chance.random() < 0.9:
            path = f"/v1/domains/{chance.choice(self._verbs)}"
        if chance.random() < 0.1:
            odd = (f"/{path}", f"{path}/", path.upper(), f"/.{path}", f"http://evil.example{path}", self._word())
            path = chance.choice(odd)
        queried = {name: quote(str(chance.choice(LIKELY[name]))) for name in fields if name in LIKELY}
        extra = chance.choices([*fields, *chance.sample(FIELDS, 3)], k=chance.choice((0, 0, 1, 1, 3)))
        queried |= {name: self._word() for name in extra}
        return path + "?" * bool(queried) + "&".join(f"{name}={value}" for name, value in queried.items())

    def _body(self, fields: Sequence[str]) -> bytes:
        chance = self._chance
        raw = (b"", b"{", b"[" * 50_000, b'{"a":' * 5_000, b"\xff\xfe{", b"\0" * 100, b'{"query": NaN}', b"null")
        if (kind := chance.random()) < 0.1:
            return chance.choice(raw)
        if kind < 0.12:
            return b'{"query": "' + b"x" * 2_500_000 + b'"}'
        # Bodies with unknown fields are refused at once, so that most have known ones, of which most are likely.
        unknown = chance.sample(FIELDS, 2) if not fields or chance.random() < 0.1 else ()
        odd = chance.sample(fields, min(len(fields), chance.choice((0, 1, 1, 2))))
        chosen = {name: chance.choice(LIKELY[name]) for name in fields or LIKELY if name in LIKELY}
        chosen |= {name: chance.choice(VALUES) for name in (*unknown, *odd)}
        return json.dumps(chosen).encode()

    def _headers(self, token: str, body: bytes) -> bytes:
        chance = self._chance
        lines = ["Host: 127.0.0.1", "Connection: close"]
        if TOKENS[token]:
            scheme = chance.choice(("Bearer",) * 8 + ("bearer", "BEARER "))
            lines.append(f"Authorization: {scheme} {TOKENS[token]}")
        if body:
            length = len(body) if chance.random() < 0.97 else chance.choice((0, 1, len(body) + 10))
            lines += [f"Content-Length: {length}", "Content-Type: application/json"]
        lines += chance.sample(HEADER_LINES, chance.choice((0, 0, 0, 1, 1, 2)))
        return "\r\n".join(lines).encode("latin-1", "replace")


def answered(host: str, port: int, sent: bytes) -> bytes | None:
    """Send bytes, and return all that comes back; None if it never ends."""
    received = b""
    try:
        with socket.create_connection((host, port), timeout=SECONDS) as connection:
            with suppress(OSError):  # it may be refused before all is sent: the answer is there
                connection.sendall(sent)
            while part := connection.recv(65_536):
                received += part
    except TimeoutError:
        return None
    except OSError:
        return received
    return received


def leaks(request: Request, answer: bytes, words: Sequence[str], address: str) -> list[str]:
    """Return what an answer tells that its request didn't hold. Who has a token may know the server's address."""
    found = [word for word in words if word.encode() in answer]
    if request.token not in {"reader", "writer"} and address.encode() in answer:
        found.append("the address")
    return found + [NAMED] * (NAMED.encode() in answer and NAMED.encode() not in request.sent)


def judged(request: Request, answer: bytes | None, words: Sequence[str], address: str) -> tuple[str, list[str]]:
    """Return the status of an answer, and what is wrong with it."""
    if answer is None:
        return "none", ["no answer"]
    found = STATUS.match(answer)
    status = found[1].decode() if found else "closed"
    return status, [f"leak of {word}" for word in leaks(request, answer, words, address)] + ["5xx"] * status.startswith(
        "5"
    )


def fill(hoprank: HopRank) -> None:
    """Make the corpora and the graphs: what tokens open, and what they don't."""
    opened = [{"id": f"d{at}", "text": f"The moon raises tide {at}.", "metadata": {"year": at}} for at in range(9)]
    hoprank.add(opened, "open")
    hoprank.add(opened, "scratch")
    for name in (NAMED, UNNAMED):
        hoprank.add([{"id": f"{SECRET}-key", "title": SECRET, "text": f"The moon shines on the {SECRET}."}], name)
    for name, word in (("open graph", "one"), (f"{NAMED} graph", SECRET), (f"{UNNAMED} graph", SECRET)):
        nodes = [KnowledgeNode(f"{word}{at}", "moon", properties={"text": word}) for at in range(3)]
        load(hoprank.client, name, (iter(nodes), iter([KnowledgeEdge(f"{word}0", f"{word}1", "met")])), Progress())


def operations_of(url: str) -> list[Operation]:
    """Return the service's operations, each with its parameters, and paths that lead to none."""
    described = requests.get(f"{url}/openapi.json", headers={"Authorization": f"Bearer {FULL}"}, timeout=30).json()
    schemas = described["components"]["schemas"]
    found: list[Operation] = []
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            names = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
            for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(operation.get("requestBody", {}))):
                names += schemas[name].get("properties", {})
            found.append((path, method.upper(), names))
    others = ("/", "/none", "/openapi.json", "/static/../../etc/passwd", "/v1/../metrics", "*")
    return found + [(path, "GET", []) for path in others]


def verbs_of(url: str) -> list[str]:
    """Return the verbs of the domains, each as the end of its path."""
    domains = requests.get(f"{url}/v1/domains", headers={"Authorization": f"Bearer {FULL}"}, timeout=30).json()
    return [f"{one['name']}/{verb['name']}" for one in domains for verb in one["verbs"]]


def run(hoprank: HopRank, wanted: int, seed: int, only: Sequence[str]) -> tuple[Table, int]:
    """Send the requests; return the table of answers, and how many were wrong."""
    fill(hoprank)
    tokens = [
        {"token": TOKENS["reader"], "corpora": ["open", "open graph"]},
        {"token": TOKENS["writer"], "corpora": ["scratch"], "write": True},
    ]
    given = {"TOKEN": FULL, "TOKENS": json.dumps(tokens), "RATE": "0", "MAX_MEGABYTES": "2", "RECEIVE_TIMEOUT": "3"}
    # As on a server that has its own password: the word is in the settings, and must be in no answer.
    words = (SECRET, UNNAMED, FULL, os.environ["NEO4J_PASSWORD"], "Traceback (most")
    counts, wrong = Counter[tuple[str, str, str]](), Counter[str]()
    with serving({f"HOPRANK_SERVE__{name}": value for name, value in given.items()}) as service:
        operations = [one for one in operations_of(service.url) if not only or one[0] in only]
        making, first = Making(operations, verbs_of(service.url), seed), search(service.url)
        where = urlsplit(service.url)
        with ThreadPoolExecutor(THREADS) as pool:
            made = [making.request(at) for at in range(wanted)]
            sent = pool.map(lambda one: answered(where.hostname or "", where.port or 0, one.sent), made)
            for request, answer in zip(made, sent, strict=True):
                status, faults = judged(request, answer, words, hoprank.client.address.uri)
                counts[request.route, request.token, status] += 1
                wrong.update(faults)
                if faults:
                    print(f"{', '.join(faults)}: {request.sent[:400]!r}\n  {(answer or b'')[:600]!r}", file=sys.stderr)
        if service.process.poll() is not None or search(service.url) != first:
            wrong["no answer at the end"] += 1
        if traced := [line for line in service.lines if "Traceback" in line]:
            wrong["traceback in the log"] += len(traced)
            print("".join(service.lines)[-3000:], file=sys.stderr)
    return tabled(counts, wrong, wanted), wrong.total()


def tabled(counts: Counter[tuple[str, str, str]], wrong: Counter[str], wanted: int) -> Table:
    """Return the counts of answers by route and token."""
    faults = ", ".join(f"{kind} {count:,}" for kind, count in sorted(wrong.items()))
    table = Table("route", *TOKENS, title=f"{wanted:,} hostile requests", caption=f"wrong: {faults or 'none'}")
    for route in [*dict.fromkeys(route for route, _, _ in counts), "all"]:
        cells = []
        for token in TOKENS:
            of = Counter[str]()
            for (at, by, status), count in counts.items():
                of[status] += count * (by == token and route in (at, "all"))
            cells.append(" ".join(f"{status}:{count:,}" for status, count in sorted((+of).items())))
        table.add_row(route, *cells)
    return table


def search(url: str) -> object:
    """Return what a search over the open corpus finds."""
    body = {"query": "Which tide does the moon raise?", "corpus": "open"}
    headers = {"Authorization": f"Bearer {TOKENS['reader']}"}
    answer = requests.post(f"{url}/v1/search", json=body, headers=headers, timeout=60)
    return answer.status_code, [one["content"] for one in answer.json().get("items", ())] or answer.text
