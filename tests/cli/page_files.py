"""The files that the commands of the README and the pages name, small ones of each kind."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pygit2

ISLANDS = {
    "guide/setup.md": "# Setup\n\nThe drum of the gauge is changed on Monday.",
    "observatory.md": "---\nyear: 1994\ntags: [tides]\nauthor: Amsel\n---\n# Observatory\n\n"
    "Mary Orme founded the observatory. It stands on [Kelp Island](island.md).",
    "orme.md": "---\nyear: 1880\nauthor: Orme\n---\n# Mary Orme\n\n"
    "Mary Orme, founder of the observatory, is buried on Kelp Island. She built the ship of the second expedition.",
    "island.md": "# Kelp Island\n\nKelp Island lies south of the harbour. Ada Lovelace visited Kelp Island in 1842.",
    "gauge.md": "# Tide gauge\n\nAda Lovelace read the tide gauge of Kelp Island; Mary Orme changed its drum.",
    "ship.md": "# The Long Line\n\nThe Long Line was the ship of the second expedition. Mary Orme paid for the ship.",
}
VAULT = {
    "Session handoff.md": "---\ntype: procedure\n---\n# Session handoff\n\n"
    "End a day with a note: what is done, what is next. See [[Bee dance]] and [[Old]].",
    "Bee dance.md": "---\ntype: claim\ntags: [bees]\n---\n# Bee dance\n\nBees dance to tell where flowers are. [[Old]]",
    "Old.md": "# Old\n\nA note that [[Session handoff]] follows. The Bee dance is told here.",
}
SHOP = {
    "README.md": "# Shop\n\nThe shop sells tide tables.",
    "package.json": '{"name": "shop", "dependencies": {"left-pad": "^1"}}',
    "tide/table.py": "import numpy\n\nfrom tide.gauge import read\n\n\ndef table():\n    return numpy.array(read())\n",
    "tide/gauge.py": "def read():\n    return [1, 2]\n",
}
SKILLS = {
    f"{name}/SKILL.md": f"---\nname: {name}\ndescription: {what}\ntags: [search]\ndependencies: {needs}\n---\n# It\n"
    for name, what, needs in (
        ("chroma", "Store vectors and search them.", "[langchain]"),
        ("langchain", "Chain calls of models and track experiments.", "[]"),
    )
}
REGISTRY = """
    projects:
      patina: {path: patina, domains: [rust]}
      shop: {path: home/code/shop, domains: [tides]}
    references:
      dojo: {path: dojo, domains: [rust], corpus: dojo-docs}
"""


def _object(**fields: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string", "title": name} for name in fields}}


TOOLS = {
    "tools": [
        {
            "name": name,
            "description": what,
            "inputSchema": {**_object(**dict.fromkeys(takes, "")), "required": takes},
            "outputSchema": _object(**dict.fromkeys(gives, "")),
        }
        for name, what, takes, gives in (
            ("find_city", "Find a city by the name of a person.", ["person"], ["city"]),
            ("get_weather", "Tell the weather forecast of a city.", ["city"], ["forecast"]),
            ("send_mail", "Mail a forecast to somebody.", ["forecast"], ["mail_id"]),
        )
    ]
}


BELL = {"name": "ring_bell", "description": "Ring the bell of the church.", "inputSchema": {"type": "object"}}


def _fact(target: str, source_name: str = "api-server") -> dict[str, Any]:
    source, to = ({"type": "library", "name": name} for name in (source_name, target))
    return {"source": source, "type": "depends_on", "target": to}


CHAT = {
    "conversation": "harbour",
    "sessions": [
        {
            "session": "migration",
            "date": "2026-01-20T10:00:00Z",
            "turns": [
                {
                    "speaker": "Ada Amsel",
                    "text": "The api-server runs on express and koa; tide/gauge.py broke the gauge.",
                    "facts": [
                        _fact("koa"),
                        *(_fact(name, "tide-service") for name in ("express", "hono")),
                    ],
                },
                {"speaker": "Bo", "text": "Then the gauge of the harbour is read by tide/gauge.py again."},
            ],
        }
    ],
}
SINCE = {"created_at": "2020-01-01T00:00:00Z", "valid_at": "2020-01-01T00:00:00Z"}
GRAPH = [
    {"node": {"id": "account-locked", "type": "concept", **SINCE}},
    {"node": {"id": "password-reset", "type": "concept", **SINCE}},
    {"edge": {"source": "account-locked", "target": "password-reset", "type": "RESOLVED_BY", **SINCE}},
]


def write_all(root: Path) -> None:
    """Write every file below ``root``, where the commands run; ``root/home`` is the user's home."""
    home = root / "home"
    for name in ("docs", "handbook"):
        _write(root / name, ISLANDS)
    for folder, files in (("notes", VAULT), ("code/shop", SHOP), ("skills", SKILLS)):
        _write(home / folder, files)
    _commit(home / "code" / "shop")
    _write(root / "src", {"app.py": 'def main():\n    """Run the app."""\n    return 1\n'})
    for name in ("patina", "dojo"):
        _write(root / name, {"README.md": f"# {name}\n\n{name} says how hooks are called, by name.\n"})
    _write(root / "servers", {"mail/tools.json": json.dumps(TOOLS["tools"]), "mail/server.yaml": "name: mail\n"})
    question = {"id": "1", "query": "how are hooks called", "source_project": "patina", "expected_repos": ["dojo"]}
    texts = {
        "notes.txt": "A note on tides.",
        "facts.jsonl": '{"id": "f", "text": "The gauge stands in the harbour."}\n',
        "papers.jsonl": '{"id": "p", "text": "The gauge of Vind.", "metadata": {"year": 1990, "lang": "en"}}\n',
        "answers.jsonl": '{"id": "a", "text": "A password reset opens a locked account."}\n',
        "registry.yaml": textwrap.dedent(REGISTRY),
        "queryset.json": json.dumps({"queries": [{**question, "expected_docs": ["README.md"]}]}),
        "tools.json": json.dumps({"tools": [BELL]}),
        "chat.json": json.dumps(CHAT),
        "big.jsonl": "".join(f"{json.dumps(line)}\n" for line in GRAPH),
    }
    _write(root, texts)
    (root / "tables").mkdir()
    for name in ("table.parquet", "tables/part-0.parquet"):
        pq.write_table(pa.table({"id": ["t"], "text": ["The gauge of Vind was mended."]}), root / name)
    for name in ("my-queryset", "other-queryset", "my-questions"):
        _queryset(root / name, documents=name != "my-questions")
    _tasks(root / "tasks")
    _projects(root / "joined")


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _commit(folder: Path) -> None:
    repository = pygit2.init_repository(folder)
    repository.index.add_all()
    repository.index.write()
    by = pygit2.Signature("Bo Orme", "bo@example.org", 1_770_000_000)
    repository.create_commit("HEAD", by, by, "Begin the shop", repository.index.write_tree(), [])


def _lines(*rows: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _queryset(folder: Path, *, documents: bool) -> None:
    asked = {
        "Where is Mary Orme buried?": "orme.md",
        "Who read the tide gauge?": "gauge.md",
        "Which ship?": "ship.md",
        "When is the drum changed?": "guide/setup.md",
        "Who founded the observatory?": "observatory.md",
        "Where does the observatory stand?": "observatory.md",
        "What lies south of the harbour?": "island.md",
        "Who visited Kelp Island?": "island.md",
        "Who paid for the ship?": "ship.md",
        "Who built the ship of the second expedition?": "orme.md",
    }
    corpus = _lines(*({"id": key, "title": key, "text": text} for key, text in ISLANDS.items()))
    judged = "".join(f"{number}\t{key}\t1\n" for number, key in enumerate(asked.values()))
    questions = [*asked, *([] if documents else ["Who mended the gauge?"])]  # of which the last isn't judged yet
    _write(
        folder,
        {
            **({"corpus.jsonl": corpus} if documents else {}),
            "queries.jsonl": _lines(
                *(
                    {"id": str(number), "text": text, "answer": "Kelp Island" if text.startswith("Where") else "yes"}
                    for number, text in enumerate(questions)
                )
            ),
            "qrels.tsv": f"query_id\tdoc_id\trelevance\n{judged}",
        },
    )


def _tasks(folder: Path) -> None:
    rows = (
        {"id": tool["name"], "title": tool["name"], "text": tool["description"], "server": "mail"}
        for tool in TOOLS["tools"]
    )
    files = {
        "corpus.jsonl": _lines(*rows),
        "queries.jsonl": _lines({"id": "1", "text": "mail me the weather"}),
        "qrels.tsv": "query_id\tdoc_id\trelevance\n1\tsend_mail\t1\n",
    }
    _write(folder, files)


def _projects(folder: Path) -> None:
    rows = (
        {"id": f"{repo}/{key}", "title": key, "text": text, "repo": repo}
        for repo in ("north", "south")
        for key, text in ISLANDS.items()
    )
    files = {
        "corpus.jsonl": _lines(*rows),
        "queries.jsonl": _lines({"id": "1", "text": "Who read the tide gauge?"}),
        "qrels.tsv": "query_id\tdoc_id\trelevance\n1\tnorth/gauge.md\t1\n",
    }
    _write(folder, files)
