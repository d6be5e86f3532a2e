"""Traverse the links of a vault from a note, nearest notes first, page by page."""

import base64
from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from pipeline.domains.vault.links import folded
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.requests import LinkStep, Traversal, TraversedNode, TraverseKnowledge
from pipeline.domains.vault.stored import NoteGraph, NoteLink, OpenVault
from pipeline.errors import CorpusError, QuestionError
from pipeline.ids import digest
from pipeline.knowledge import Direction

_MOST_SENTENCES = 3
"""Sentences around the links of a step that are returned: enough to see why a link exists. Chosen by hand."""

_POSITION = TypeAdapter(tuple[int, int, str])
"""Content of a cursor: the notes of the pages before it, the vault's generation, and the identity of the traversal."""

_START_AGAIN = "Start again: leave the cursor out."


def traverse(vault: OpenVault, request: TraverseKnowledge) -> Traversal:
    """Return a page of the notes that links lead to; see :meth:`pipeline.domains.vault.api.Vault.traverse`."""
    note, graph = vault.note(request.start), vault.graph(published=True)
    if note.key not in graph.notes:
        raise CorpusError(f"The note {note.key!r} isn't published.", "Publish it: remove `published: false`.")
    paths = _reached(graph, note.key, request)
    wanted = (note.key, str(request.depth), request.direction, *request.relations)
    identity = digest(graph.corpus.id, *vault.scope, *wanted)[:16]
    first = _offset(request.cursor, identity, graph.corpus.generation, len(paths))
    keys = list(paths)[first : first + request.budget]
    end = first + len(keys)
    position = _POSITION.dump_json((end, graph.corpus.generation, identity))
    cursor = base64.urlsafe_b64encode(position).decode().rstrip("=")
    return Traversal(
        start=_traversed(note, ()),
        nodes=tuple(_traversed(graph.notes[key], paths[key]) for key in keys),
        total=len(paths),
        cursor=cursor if end < len(paths) else None,
    )


def _reached(graph: NoteGraph, start: str, request: TraverseKnowledge) -> Mapping[str, Sequence[NoteLink]]:
    """Return the notes that are reached, in order, each with the links of the first path to it.

    Of the notes that links join with one those with the most links come first, ties by key.
    """
    wanted = {folded(relation) for relation in request.relations}
    paths: dict[str, tuple[NoteLink, ...]] = {start: ()}
    queue = [start]
    for key in queue:  # which grows meanwhile
        if len(paths[key]) == request.depth:
            break
        out = graph.outgoing.get(key, ()) if request.direction is not Direction.IN else ()
        back = graph.incoming.get(key, ()) if request.direction is not Direction.OUT else ()
        pairs = [*((link.target, link) for link in out), *((link.source, link) for link in back)]
        for other, link in sorted(pairs, key=lambda pair: (-pair[1].times, pair[0], pair[1].source)):
            if other not in paths and (not wanted or wanted & {folded(relation) for relation in link.relations}):
                paths[other] = (*paths[key], link)
                queue.append(other)
    del paths[start]
    return paths


def _traversed(note: Note, path: Sequence[NoteLink]) -> TraversedNode:
    steps = [
        LinkStep(
            source=link.source, target=link.target, relations=link.relations, sentences=link.contexts[:_MOST_SENTENCES]
        )
        for link in path
    ]
    about = {"key": note.key, "title": note.title, "description": note.description}
    return TraversedNode(**about, type=note.type, distance=len(path), path=tuple(steps))


def _offset(cursor: str | None, identity: str, generation: int, total: int) -> int:
    """Return how many notes the pages before the cursor hold; raises QuestionError unless the cursor fits."""
    if cursor is None:
        return 0
    malformed = QuestionError(
        f"The cursor {cursor[:40]!r} is malformed.", f"Give it as it was returned. {_START_AGAIN}"
    )
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position = base64.b64decode(padded.encode("ascii"), b"-_", validate=True)
        offset, of_generation, of = _POSITION.validate_json(position, strict=True)
    except ValueError:
        raise malformed from None
    if of != identity:
        raise QuestionError(
            "The cursor is that of another traversal.",
            f"Give the same note, depth, direction, relations and scope as before. {_START_AGAIN}",
        )
    if of_generation != generation:
        raise QuestionError("The vault has changed since the cursor was returned.", _START_AGAIN)
    if not 0 < offset < total:
        raise malformed
    return offset
