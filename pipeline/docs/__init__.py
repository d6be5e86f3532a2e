"""The documentation: one Markdown page a topic, which ``hoprank help`` shows and the README links to.

Imports errors alone.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError

TOPICS = (
    "install",
    "ingest",
    "corpora",
    "search",
    "graph",
    "evaluate",
    "tune",
    "measured",
    "knowledge",
    "skills",
    "python",
    "settings",
    "server",
    "errors",
    "layout",
)
"""The topics, in the order in which a newcomer reads them; each has a page ``TOPIC.md`` in this folder."""

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Page:
    """One page: ``text`` is Markdown, ``summary`` its first line below the title."""

    topic: str
    summary: str
    text: str


def read_pages() -> tuple[Page, ...]:
    """Return every page, in the order of the topics."""
    return tuple(map(read_page, TOPICS))


def read_page(topic: str) -> Page:
    """Return the page of a topic; raises InputError, naming the nearest topic or all, if there is none."""
    if topic not in TOPICS:
        near = difflib.get_close_matches(topic, TOPICS, n=1, cutoff=0.5)
        fix = f"Did you mean {near[0]!r}?" if near else f"Topics: {', '.join(TOPICS)}."
        raise InputError(f"There is no topic {topic!r}.", fix)
    text = (_HERE / f"{topic}.md").read_text(encoding="utf-8")
    _, _, summary, *_ = text.split("\n", 3)
    return Page(topic, summary, text)
