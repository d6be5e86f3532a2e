"""YAML front matter: the metadata between two lines of three dashes at the top of a Markdown file."""

import json
import re
from typing import NamedTuple

from pipeline.files import Guard, Unreadable
from pipeline.files.yaml import parse_yaml

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"\s*[^\W_][\w .-]*:(?:\s|\Z)")
_WIKILINKS = re.compile(r"^([^\s#:][^:\n]*):[ \t]+(\[\[.*\]\])[ \t]*$", re.MULTILINE)
_PLAIN = re.compile(r"([^\s#:][^:\n]*):[ \t]+([^\s'\"{\[|>&*!].*)")
_REPAIRS = 20  # a value each; chosen by hand, to bound the time of a malformed file
_GUARD = Guard(mend=True)


class FrontMatter(NamedTuple):
    """The mapping at the top of a file, the text after it, and the number of lines that it takes."""

    mapping: dict[object, object]
    text: str
    lines: int


def split_front_matter(text: str) -> FrontMatter:
    """Split ``text`` into front matter and the rest; the mapping is empty if there is no front matter.

    Wikilinks stay as written (``up: [[Home]]``), and so do plain values that are invalid YAML
    (``title: Graphs: a primer``). Raises Unreadable, naming the line, for any other mistake.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return FrontMatter({}, text, 0)
    source = text[opening.end() : closing.start()]
    mapping = _mapping(source)
    if mapping is None:
        return FrontMatter({}, text, 0)
    cut = min(len(text), closing.end() + 1)
    return FrontMatter(mapping, text[cut:], text.count("\n", 0, cut))


def _mapping(source: str) -> dict[object, object] | None:
    """Return the mapping in ``source``, or None if it is prose between two rules and not front matter."""
    if source and not source.isspace() and not _KEY.match(source):
        return None
    if len(source) > (longest := _GUARD.limits.characters_of_yaml):
        raise Unreadable(f"has front matter of {len(source):,} characters", f"Keep it under {longest:,}.")
    lines = _WIKILINKS.sub(lambda match: f"{match[1]}: {json.dumps(match[2])}", source).split("\n")
    for _ in range(_REPAIRS):
        try:
            content = parse_yaml("\n".join(lines), _GUARD, unique=False)
        except Unreadable as error:
            _repair(lines, error)
        else:
            return content if isinstance(content, dict) else {} if content is None else None
    raise Unreadable("has malformed front matter", "Quote its values.")


def _repair(lines: list[str], error: Unreadable) -> None:
    """Quote the plain value on the line of the error; raise Unreadable if the line has no such value."""
    at = min(max(error.line, 1), len(lines)) - 1
    match = _PLAIN.fullmatch(lines[at])
    if match is None:
        raise Unreadable(
            f"has malformed front matter (line {at + 2}: {error.problem})", "Quote the value, or close what is open."
        ) from None
    lines[at] = f"{match[1]}: {json.dumps(match[2].rstrip(), ensure_ascii=False)}"
