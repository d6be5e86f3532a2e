"""Concepts of a memory: the names that its texts share, kept as they are now, whatever came first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.domains.memory import entities as steps
from pipeline.domains.memory.extract.concepts import Concept, concepts_from
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.mentions import texts_with
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.schema import MEMORY
from pipeline.grouping import grouped
from pipeline.ingest.entities.lexicon import CountChanges
from pipeline.ingest.update.stored import stored_counts
from pipeline.text.names import Casing


@dataclass(frozen=True, slots=True)
class Shared:
    """The concepts that texts mention since they share their names, by the ids of the texts' nodes.

    Mentions that are stored already are left out, but for those of texts that may have changed. ``dropped`` are the ids
    of concepts whose names are shared no more.
    """

    mentioned: Mapping[str, Sequence[Entity]]
    dropped: frozenset[str]


def shared_concepts(memory: AgentMemory, texts: Mapping[str, str], known: Iterable[Entity]) -> Shared:
    """Return the concepts by names that texts share, all of which mention them.

    ``texts`` are new or may have changed, and are given by the ids of their nodes, which need not be stored yet. All
    names are looked at again: one that is shared no more, or ``known`` as something else, is a concept no more.
    """
    into, before = steps.survivors(memory), memory.shared_mentions()
    found = _shared(memory, [*memory.text_nodes(), *texts], known)
    shared = [replace(one, entity=steps.surviving(one.entity, into)) for one in found]
    concepts = steps.together(replace(concept.entity, mention_count=0) for concept in shared)
    mentioned: dict[str, dict[str, Entity]] = defaultdict(dict)
    for concept in shared:
        id_ = concept.entity.id
        for text in (EntityKey(concept.entity.scope, MEMORY, key).id for key in concept.memories):
            if text in texts or text not in before.get(id_, ()):
                mentioned[text][id_] = concepts[id_]
    for scope, of_scope in grouped((one.scope, one) for one in concepts.values()).items():
        named = steps.gazetteer_of(of_scope, None)  # also where texts write it as no name: "grafana"
        for text, said in texts.items():
            if EntityKey.of(text).scope == scope:
                mentioned[text] |= {one.entity.id: concepts[one.entity.id] for one in named.mentions(said)}
        for text, found_in in texts_with(memory, [one for one in of_scope if one.id not in before], named).items():
            if EntityKey.of(text).scope == scope:
                mentioned[text] |= {entity.id: concepts[entity.id] for entity in found_in}
    of_texts = {text: list(of_text.values()) for text, of_text in mentioned.items()}
    return Shared(of_texts, frozenset(before.keys() - concepts.keys()))


def _shared(memory: AgentMemory, nodes: Iterable[str], known: Iterable[Entity]) -> list[Concept]:
    """Return the names that texts of a scope share, by the corpus's rules; those of other entities make none."""
    corpus, minimum = open_corpus(memory.hoprank.client, memory.name), memory.settings.concept_mentions
    scopes = {(key := EntityKey.of(id_)).name: key.scope for id_ in nodes}
    names: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in corpus.read("memory_shared_names", minimum=minimum):
        for document in row["documents"]:
            if document in scopes:
                names[scopes[document]][row["name"]].append(document)
    taken = {name for entity in known if entity.type != "concept" for name in (entity.name, *entity.aliases)}
    casing = _casing(corpus, {name for of_scope in names.values() for name in of_scope})
    return [
        concept
        for scope, of_scope in sorted(names.items())
        for concept in concepts_from(of_scope, minimum, scope=scope, taken=taken, casing=casing)
    ]


def _casing(corpus: CorpusHandle, names: Iterable[str]) -> Casing:
    """Return how often the corpus writes the words of names with a capital inside a sentence."""
    counts, words = CountChanges(partial(stored_counts, corpus, "casing")), " ".join(names).lower().split()
    counts.load(words)
    return Casing.of({}, {word: counts.before(word).get("u", 0) for word in words})
