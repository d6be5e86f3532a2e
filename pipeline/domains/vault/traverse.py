"""Traverse the links of a vault from a note, nearest notes first, page by page."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence

from pipeline.domains.vault.links import folded
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.requests import LinkStep, Traversal, TraversedNode, TraverseKnowledge
from pipeline.domains.vault.stored import NoteGraph, NoteLink, OpenVault
from pipeline.errors import CorpusError, QuestionError
from pipeline.ids import digest
from pipeline.knowledge import Direction

_MOST_SENTENCES = 3
"""Sentences around the links of a step that are returned: enough to see why a link exists. Chosen by hand."""

_START_AGAIN = "Start again: leave the cursor out."

Paths = Mapping[str, tuple[NoteLink, ...]]


def traverse(vault: OpenVault, request: TraverseKnowledge) -> Traversal:
    """Return a page of the notes that links lead to; see :meth:`pipeline.domains.vault.api.Vault.traverse`."""
    note, graph = vault.note(request.start), vault.graph(published=True)
    if note.key not in graph.notes:
        raise CorpusError(f"The note {note.key!r} isn't published.", "Publish it: remove `published: false`.")
    paths = _reached(graph, note.key, request)
    identity = digest(
        graph.corpus.id, *vault.scope, note.key, str(request.depth), request.direction, *request.relations
    )[:16]
    first = _offset(request.cursor, identity, graph.corpus.generation, len(paths))
    keys = list(paths)[first : first + request.budget]
    end = first + len(keys)
    return Traversal(
        start=_traversed(note, ()),
        nodes=tuple(_traversed(graph.notes[key], paths[key]) for key in keys),
        total=len(paths),
        cursor=_cursor(end, graph.corpus.generation, identity) if end < len(paths) else None,
    )


def _reached(graph: NoteGraph, start: str, request: TraverseKnowledge) -> Paths:
    """Return the notes that are reached, in order, each with the links of the first path to it."""
    paths: dict[str, tuple[NoteLink, ...]] = {start: ()}
    frontier = [start]
    for _ in range(request.depth):
        following: list[str] = []
        for key in frontier:
            for other, link in _followed(graph, key, request):
                if other not in paths:
                    paths[other] = (*paths[key], link)
                    following.append(other)
        frontier = following
    del paths[start]
    return paths


def _followed(graph: NoteGraph, key: str, request: TraverseKnowledge) -> Iterator[tuple[str, NoteLink]]:
    """Yield the notes that links join with a note: those with the most links first, ties by key."""
    out = graph.outgoing.get(key, ()) if request.direction is not Direction.IN else ()
    back = graph.incoming.get(key, ()) if request.direction is not Direction.OUT else ()
    wanted = {folded(relation) for relation in request.relations}
    pairs = [*((link.target, link) for link in out), *((link.source, link) for link in back)]
    for other, link in sorted(pairs, key=lambda pair: (-pair[1].times, pair[0], pair[1].source)):
        if not wanted or wanted & {folded(relation) for relation in link.relations}:
            yield other, link


def _traversed(note: Note, path: Sequence[NoteLink]) -> TraversedNode:
    steps = (
        LinkStep(
            source=link.source,
            target=link.target,
            relations=link.relations,
            sentences=link.contexts[:_MOST_SENTENCES],
        )
        for link in path
    )
    return TraversedNode(
        key=note.key,
        title=note.title,
        description=note.description,
        type=note.type,
        distance=len(path),
        path=tuple(steps),
    )


def _cursor(offset: int, generation: int, identity: str) -> str:
    text = json.dumps([offset, generation, identity], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _offset(cursor: str | None, identity: str, generation: int, total: int) -> int:
    """Return how many notes the pages before the cursor hold; raises QuestionError unless the cursor fits."""
    if cursor is None:
        return 0
    offset, of_generation, of = _parsed(cursor)
    if of != identity:
        raise QuestionError(
            "The cursor is that of another traversal.",
            f"Give the same note, depth, direction, relations and scope as before. {_START_AGAIN}",
        )
    if of_generation != generation:
        raise QuestionError("The vault has changed since the cursor was returned.", _START_AGAIN)
    if not 0 < offset < total:
        raise _malformed(cursor)
    return offset


def _parsed(cursor: str) -> tuple[int, int, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        offset, generation, identity = json.loads(base64.b64decode(padded.encode("ascii"), b"-_", validate=True))
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError):
        raise _malformed(cursor) from None
    if not (type(offset) is type(generation) is int and isinstance(identity, str)):
        raise _malformed(cursor)
    return offset, generation, identity


def _malformed(cursor: str) -> QuestionError:
    return QuestionError(f"The cursor {cursor[:40]!r} is malformed.", f"Give it as it was returned. {_START_AGAIN}")
