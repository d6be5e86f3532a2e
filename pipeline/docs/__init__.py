"""The documentation: one Markdown page a topic, which ``hoprank help`` shows and the README links to.

Imports errors alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError, did_you_mean

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
        raise InputError(f"There is no topic {topic!r}.", did_you_mean(topic, TOPICS, f"Topics: {', '.join(TOPICS)}."))
    text = (_HERE / f"{topic}.md").read_text(encoding="utf-8")
    _, _, summary, *_ = text.split("\n", 3)
    return Page(topic, summary, text)
