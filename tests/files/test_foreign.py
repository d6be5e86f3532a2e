"""Every reader of foreign files, fed with anything: it reads a file, or refuses it by an error of the package's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.domains.memory.chats.read import read_memories
from pipeline.domains.memory.dedupe.plan import Plan
from pipeline.domains.routing.learn.notes import read_sources
from pipeline.domains.routing.querysets import read_queryset
from pipeline.domains.routing.registry import read_registry
from pipeline.domains.tools.sources.paths import read as read_tools
from pipeline.errors import HopRankError
from pipeline.evaluate.compare import read_evaluated
from pipeline.evaluate.datasets import read_dataset, read_document_ids
from pipeline.evaluate.measures import MEASURES
from pipeline.files import read_json, read_text
from pipeline.files.yaml import read_yaml
from pipeline.ingest.sources import read
from pipeline.knowledge.exchange import read_graph
from pipeline.transfer.lines import read_lines
from tests.files.test_readers import FRAGMENTS

Read = Callable[[Path], object]


def consumed(items: Iterable[object]) -> None:
    for _ in items:
        pass


def graph(path: Path) -> None:
    for items in read_graph(path, None):
        consumed(items)


def qrels(path: Path) -> None:
    (path.parent / "queries.jsonl").write_text('{"id": "a", "query": "b"}\n')
    read_dataset(path.parent)


def queries(path: Path) -> None:
    (path.parent / "qrels.tsv").write_text("q\td\tr\na\tb\t1\n")
    read_dataset(path.parent)


def questions(path: Path) -> None:
    (path.parent / "set_corpus.json").write_text('[{"title": "a", "text": "b"}]')
    read_dataset(path)


def passages(path: Path) -> None:
    (path.parent / "set.json").write_text(QUESTIONS)
    read_dataset(path)


QUESTIONS = json.dumps(
    [
        {"_id": "a", "question": "b", "supporting_facts": [["a", 0]], "context": [["a", ["b"]]]},
        {"question": "b", "paragraphs": [{"title": "a", "paragraph_text": "b", "is_supporting": True}]},
    ]
)
REPORT = json.dumps(
    {"queryset": "a", "per_query": [{"query": "a", "leg": "b", "measures": dict.fromkeys(MEASURES, 0.5)}]}
)
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="k" for="node" attr.name="j.a" attr.type="string"/>'
    '<graph edgedefault="directed"><node id="a"><data key="k">[1]</data></node></graph></graphml>'
)
LINES = """
{"node": {"id": "a", "type": "t", "properties": {"p": [1.5]}}}
{"edge": {"source": "a", "target": "a", "type": "r"}}
"""
GRAPH = '{"format": "hoprank-graph", "version": 1, "nodes": [{"id": "a", "type": "t"}], "edges": []}'
EXPORT = """
{"entity": {"key": "a", "name": "b"}}
{"edge": {"kind": "NEXT", "source": ["a", 0], "target": ["a", 1]}}
"""
CHUNKS = '{"id": "a", "chunks": [{"text": "b", "embedding": [0.5]}]}\n{"_id": 1, "text": "b", "metadata": {"a": [1]}}'
NOTE = "---\ntitle: a\ntags: [b, c]\ndate: 2024-01-01\nup: [[c]]\n---\n# a\n\nb [[c]]\n"

REGISTRY = """
projects:
  a: {path: b, domains: [c], aliases: d, importance: 2.0}
references:
  - {id: e, summary: f}
relations:
  - {from: a, type: USES, to: e, weight: 0.5}
"""
ROUTED = '{"queries": [{"id": "a", "query": "b", "expected_repos": ["c"], "expected_docs": ["c:d"]}]}'
CHAT = '{"id": "a", "text": "b", "date": "2024-01-31T12:00:00+01:00", "entities": [{"type": "tool", "name": "c"}]}'
SLACK = (
    '[{"ts": "1704103200.1", "user": "U1", "text": "<@U1> a", "thread_ts": "1704103200.1", "subtype": "bot_message",'
    ' "user_profile": {"name": "b"}, "files": [{"name": "c"}], "attachments": [{"title": "d"}], "blocks":'
    ' [{"type": "section", "text": {"text": "e"}}]}]'
)
TELEGRAM = (
    '{"chats": {"list": [{"id": 1, "messages": [{"id": 1, "date": "2024-01-01", "from": "a", "from_id": "b", "text":'
    ' ["c", {"type": "link", "text": "d", "href": "e"}], "poll": {"question": "f", "answers": [{"text": "g"}]}}]}]}}'
)
DISCORD = (
    '{"guild": {}, "channel": {"id": "1"}, "messages": [{"id": "2", "type": "Default", "timestamp": "2024-01-01",'
    ' "content": "<@3> a", "author": {"name": "b"}, "mentions": [{"id": "3", "name": "c"}], "embeds": [{"fields":'
    ' [{"name": "d", "value": "e"}]}], "attachments": [{"url": "f"}]}]}'
)
CHATGPT = (
    '{"id": "a", "create_time": 1, "current_node": "b", "mapping": {"b": {"parent": "c", "children": [], "message":'
    ' {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["d", {"text": "e"}]}, "metadata":'
    ' {"attachments": [{"name": "f"}]}}}, "c": {"parent": null, "children": ["b"], "message": null}}}'
)
TRANSCRIPT = (
    '{"type": "summary", "summary": "a", "leafUuid": "b"}\n'
    '{"type": "user", "sessionId": "c", "uuid": "b", "timestamp": "2024-01-01", "message": {"content":'
    ' [{"type": "text", "text": "d"}, {"type": "tool_use", "name": "e"}]}}\n'
)
WHATSAPP = "[31.12.23, 21:45:10] a: b\nc\n[1.1.24, 9:00 PM] d: e.pdf (file attached)\n"
LISTING = '{"tools": [{"name": "a", "description": "b", "inputSchema": {"properties": {"c": {"type": "string"}}}}]}'

READERS: dict[str, tuple[str, Read, str]] = {
    "json": ("a.json", read_json, REPORT),
    "yaml": ("a.yaml", read_yaml, "a: [b, {c: 1}]\nd: &e 2024-01-01\n"),
    "text": ("a.txt", read_text, "a"),
    "qrels": ("qrels.tsv", qrels, "q\td\tr\na\tb\t1\n\na\tc\t0\n"),
    "queries": ("queries.jsonl", queries, '{"id": "a", "query": "b", "type": "c"}\n{"_id": 1, "text": "b"}\n'),
    "corpus": ("corpus.jsonl", read_document_ids, CHUNKS),
    "questions": ("set.json", questions, QUESTIONS),
    "passages": ("set_corpus.json", passages, '{"a": ["b", "c"]}'),
    "report": ("a.json", read_evaluated, REPORT),
    "export": ("a.jsonl", lambda path: consumed(read_lines(path)), EXPORT),
    "graph lines": ("a.jsonl", graph, LINES),
    "graph document": ("a.json", graph, GRAPH),
    "graph markup": ("a.graphml", graph, GRAPHML),
    "documents": ("a.jsonl", lambda path: consumed(read([str(path)])), CHUNKS),
    "registry": ("a.yaml", read_registry, REGISTRY),
    "notes": ("a.jsonl", lambda path: read_sources([path], []), '{"project": "a", "text": "b"}\n'),
    "note of a session": ("a.md", lambda path: read_sources([path], []), NOTE),
    "routed": ("a.json", read_queryset, ROUTED),
    "plan": ("a.json", Plan.read, '{"id": "a", "graph": "b", "groups": [], "review": [], "entities": [["a", "b"]]}'),
    "chat": ("a.json", read_memories, CHAT),
    "chats": ("a.jsonl", read_memories, f"{CHAT}\n{CHAT.replace('a', 'e')}\n"),
    "slack": ("a.json", read_memories, SLACK),
    "telegram": ("a.json", read_memories, TELEGRAM),
    "discord": ("a.json", read_memories, DISCORD),
    "chatgpt": ("a.json", read_memories, CHATGPT),
    "transcript": ("a.jsonl", read_memories, TRANSCRIPT),
    "whatsapp": ("a.txt", read_memories, WHATSAPP),
    "listing": ("a.json", lambda path: read_tools([path]), LISTING),
    "server": ("server.yaml", lambda path: read_tools([path]), "name: a\nmeta: {category: b, tags: [c]}\n"),
    "note": ("a.md", lambda path: consumed(read([str(path)])), NOTE),
}


@st.composite
def damaged(draw: st.DrawFn, sample: str) -> bytes:
    """Return a well-formed file with pieces of it replaced, or anything else."""
    text = sample
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + draw(FRAGMENTS) + text[end:]
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding, "surrogatepass")


PIECES = st.lists(FRAGMENTS, max_size=12).map(lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("examples", [40, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", READERS)
def test_anything_is_read_or_refused(tmp_path: Path, name: str, examples: int) -> None:
    file, reader, sample = READERS[name]

    @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
    @given(damaged(sample) | PIECES | st.binary(max_size=40))
    def check(content: bytes) -> None:
        (tmp_path / file).write_bytes(content)
        with suppress(HopRankError):
            reader(tmp_path / file)

    check()


OTHERS: tuple[Any, ...] = (None, [], {"text": [5]}, 5)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value within a value."""
    yield above
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from places(item, (*above, name))


def replaced(value: Any, path: tuple[Any, ...], new: object) -> Any:
    """Return a copy of a value with another one at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("sample", [SLACK, TELEGRAM, DISCORD, CHATGPT, TRANSCRIPT])
def test_any_value_in_the_place_of_another_is_read_or_refused(tmp_path: Path, sample: str) -> None:
    lines = sample.splitlines()
    value = [json.loads(line) for line in lines] if len(lines) > 1 else json.loads(sample)
    file = tmp_path / ("a.jsonl" if len(lines) > 1 else "a.json")

    for path in places(value):
        for new in OTHERS:
            changed = replaced(value, path, new)
            written = changed if isinstance(changed, list) and len(lines) > 1 else [changed]
            file.write_text("\n".join(map(json.dumps, written)))
            with suppress(HopRankError):
                read_memories(file)
