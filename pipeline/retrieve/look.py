"""A first look at several corpora: the nearest chunks and the known names of each, in one round trip."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.db.client import Client
from pipeline.db.indexes import cosine_of, vector_index_name
from pipeline.db.vectors import packed
from pipeline.grouping import grouped
from pipeline.ids import entity_id
from pipeline.retrieve.question import possible_names

# Chosen by hand; not measured.
_NEAREST = 10  # chunks of each corpus that are looked at
_MOST_NAMES = 400  # that are possible and looked up
_MOST_ENTITIES = 500  # of all corpora: with 50 of them 10 names


class LookedAt(NamedTuple):
    """A corpus to look at: its id, and the fingerprint of its vectors."""

    id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Look:
    """The finds of a question at first sight in corpora, by their ids.

    ``cosines`` are those of the nearest chunks, best first. ``names`` maps each name of the question that any of the
    corpora has, by its key, to the number of chunks that mention it, by corpus.
    """

    cosines: Mapping[str, tuple[float, ...]]
    names: Mapping[str, Mapping[str, int]]


def look(client: Client, corpora: Iterable[LookedAt], question: str, vector: Sequence[float]) -> Look:
    """Look for a checked question, embedded as ``vector``, in corpora whose model embedded it.

    One round trip for each vector index: corpora of one model and precision share theirs.
    """
    corpora = list(corpora)
    by_index = grouped((vector_index_name(corpus.fingerprint), corpus.id) for corpus in corpora)
    # Capitalised names come first.
    possible = sorted(possible_names(question), key=lambda name: not name.capitalised)
    most = min(_MOST_NAMES, _MOST_ENTITIES // max(len(corpora), 1))
    keys = list(dict.fromkeys(name.key for name in possible))[:most]
    cosines: dict[str, tuple[float, ...]] = {}
    names: dict[str, dict[str, int]] = defaultdict(dict)
    for index, ids in by_index.items():
        entities = [entity_id(corpus, key) for corpus in ids for key in keys]
        params = {"corpora": ids, "vector": packed(vector), "limit": _NEAREST, "names": entities}
        (row,) = client.read("look", {"vector_index": index}, **params)
        for near in row["near"]:
            cosines[near["corpus"]] = tuple(sorted(map(cosine_of, near["scores"]), reverse=True))
        for named in row["named"]:
            names[named["name"]][named["corpus"]] = named["mentions"]
    return Look(cosines, dict(names))
