"""A small collection of skills, and its graph."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from pipeline import HopRank, KnowledgeGraph
from pipeline.domains.skills.build import build
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import Built

Write = Callable[[Mapping[str, str]], Path]

COLLECTION = {
    "rag/chroma": "---\nname: chroma\ndescription: Vector database for semantic search.\nversion: 1.0.0\n"
    "tags: [RAG, Vector Database, Common]\ndependencies: [chromadb, embeddings]\n---\n# Chroma\n\n"
    "```bash\npip install chromadb\n```\n\nUse **Pinecone** instead when you need a managed service.\n",
    "rag/pinecone": "---\nname: pinecone\ndescription: Managed vector database for semantic search.\n"
    "tags: [RAG, Vector Database, Common]\ndependencies: ['pinecone-client>=3.0']\n---\n# Pinecone\n\nManaged.\n",
    "rag/embeddings": "---\nname: embeddings\ndescription: Turn sentences into vectors.\n"
    "tags: [RAG, Common]\ndependencies: [embeddings, torch, numpy]\n---\n# Embeddings\n\n```\nimport torch\n```\n",
    "design": "---\nname: api-design\ndescription: How to design interfaces.\ntags: [Common]\n"
    "dependencies: [code-review, security, './review']\n---\n# API design\n\nSee the code-review skill.\n",
    "design/review": "---\nname: code-review\ndescription: How to review changes.\ntags: Common, Review\n---\n"
    "# Review\n\n**REQUIRED SUB-SKILL:** Use ours:security\n\nExample: `REQUIRED: use ours:chroma`\n",
    "security": "---\nname: security\ndescription: Threats and mitigations.\n---\n# Security\n",
    "lonely": "---\nname: lonely-skill\ndescription: Baking bread in a cold oven.\n---\n# Lonely\n",
}


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Write skills, given by folder, below a new folder, and return that."""

    def make(skills: Mapping[str, str]) -> Path:
        folder = tmp_path_factory.mktemp("skills")
        for path, text in skills.items():
            (folder / path).mkdir(parents=True, exist_ok=True)
            (folder / path / "SKILL.md").write_text(text, encoding="utf-8")
        return folder

    return make


@pytest.fixture
def built(hoprank: HopRank, write: Write) -> Iterator[Callable[[Mapping[str, str]], tuple[KnowledgeGraph, Built]]]:
    """Build graphs of skills, which are dropped afterwards."""
    name = f"test-{uuid.uuid4().hex[:12]}"

    def make(skills: Mapping[str, str]) -> tuple[KnowledgeGraph, Built]:
        made = build(partial(hoprank.graph, name), write(skills), hoprank.settings.section(SkillSettings))
        return KnowledgeGraph(name, client=hoprank.client, embedder=hoprank.embedder), made

    yield make
    KnowledgeGraph(name, client=hoprank.client).drop()


@pytest.fixture(scope="module")
def collection(hoprank: HopRank, write: Write) -> Iterator[KnowledgeGraph]:
    """The graph of the small collection, to read."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    build(partial(hoprank.graph, name), write(COLLECTION), hoprank.settings.section(SkillSettings))
    graph = KnowledgeGraph(name, client=hoprank.client, embedder=hoprank.embedder)
    yield graph
    graph.drop()
