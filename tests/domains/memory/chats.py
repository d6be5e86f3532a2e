"""Chats for tests: files of them, and what is read of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.chats.read import read_memories

T1, T2, T3 = "2024-01-01T10:00:00+00:00", "2024-01-01T10:01:00+00:00", "2024-02-01T10:00:00+00:00"


def read_chat(folder: Path, value: Any, name: str = "chat.json", **options: Any) -> Read:
    """Write a value as a file, or a text, or a list as lines if the name ends with l; return what is read of it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text("\n".join(map(json.dumps, value)) if name.endswith("l") else text, encoding="utf-8")
    return read_memories(path, **options)


def said(found: Read) -> list[tuple[str, str]]:
    """Return the speaker and the text of each memory."""
    return [(memory.speaker, memory.text) for memory in found.memories]


def reasons(found: Read) -> list[str]:
    """Return why each part was left out."""
    return [skipped.reason for skipped in found.skipped]
