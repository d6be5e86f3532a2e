"""The documentation: one Markdown page a topic, which ``hoprank help`` shows and the README links to.

Imports errors and the registry alone.
"""

from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError, did_you_mean
from pipeline.registry import registry

_HERE = Path(__file__).parent
_TO_KNOWLEDGE = "install ingest scale corpora search ask graph queries evaluate tune measured knowledge"
_FROM_PYTHON = (
    "python frameworks serve mcp settings server cluster upgrades errors security layout contributing decisions"
    " changelog"
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page: ``text`` is Markdown, ``summary`` its first line that is neither blank nor a heading."""

    topic: str
    summary: str
    text: str


def topics() -> dict[str, Path]:
    """Return the file of each page by its topic, in the order in which a newcomer reads them.

    A topic of HopRank is ``TOPIC.md`` in this folder, that of a domain the README of its folder. The domains follow
    knowledge graphs; how to write one comes last.
    """
    first, last = ({name: _HERE / f"{name}.md" for name in names.split()} for names in (_TO_KNOWLEDGE, _FROM_PYTHON))
    domains = {domain.name: domain.folder / "README.md" for domain in registry().domains}
    between = {topic: path for topic, path in domains.items() if path.is_file()}
    last["domains"] = _HERE.parent / "domains" / "README.md"
    # A topic keeps the place of its first mention and takes the page of the last: HopRank's, if a domain has its name.
    return first | between | last | first


def read_pages() -> tuple[Page, ...]:
    """Return every page, in the order of the topics."""
    return tuple(map(read_page, topics()))


def read_page(topic: str) -> Page:
    """Return the page of a topic; raises InputError, naming the nearest topic or all, if there is none."""
    files = topics()
    if topic not in files:
        raise InputError(f"There is no topic {topic!r}.", did_you_mean(topic, files, f"Topics: {', '.join(files)}."))
    text = files[topic].read_text(encoding="utf-8")
    first_line = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return Page(topic, first_line, text)
