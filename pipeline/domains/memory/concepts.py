"""Concepts of a memory: the names that its texts share, kept as they are now, whatever came first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.domains.memory import entities as steps
from pipeline.domains.memory.extract.concepts import Concept, concepts_from
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.schema import MEMORY
from pipeline.ingest.entities.lexicon import CountChanges
from pipeline.ingest.update.stored import stored_counts
from pipeline.text.names import Casing


def share_concepts(memory: AgentMemory, texts: Mapping[str, str]) -> int:
    """Make the names that texts share concepts, which all of them mention; return how many ``texts`` have.

    ``texts`` are new or may have changed, and are given by the ids of their nodes. All names are looked at again: one
    that is shared no more, or is known as something else by now, is a concept no more.
    """
    memory = memory.opened()  # the texts were written since the last look
    into, before = steps.survivors(memory), memory.shared_mentions()
    shared = [replace(one, entity=steps.surviving(one.entity, into)) for one in _shared(memory)]
    concepts = steps.together(replace(concept.entity, mention_count=0) for concept in shared)
    mentioned: dict[str, dict[str, Entity]] = defaultdict(dict)
    for concept in shared:
        id_ = concept.entity.id
        for text in (EntityKey(concept.entity.scope, MEMORY, key).id for key in concept.memories):
            if text in texts or text not in before.get(id_, ()):
                mentioned[text][id_] = concepts[id_]
    for scope, of_scope in _by_scope(concepts.values()).items():  # also where texts write it as no name: "grafana"
        known = steps.gazetteer_of(of_scope, None)
        for text, said in texts.items():
            if EntityKey.of(text).scope == scope:
                mentioned[text] |= {found.entity.id: concepts[found.entity.id] for found in known.mentions(said)}
        for text, named in steps.texts_with(memory, [one for one in of_scope if one.id not in before], known).items():
            if EntityKey.of(text).scope == scope:
                mentioned[text] |= {entity.id: concepts[entity.id] for entity in named}
    dropped = before.keys() - concepts.keys()
    if dropped or any(mentioned.values()) or not texts.keys().isdisjoint(set().union(*before.values())):
        of_texts = {text: list(named.values()) for text, named in mentioned.items()}
        steps.write_mentions(memory, (), of_texts, texts, shared=True, dropped=dropped)
    return len({id_ for text in texts for id_ in mentioned.get(text, ())})


def _shared(memory: AgentMemory) -> list[Concept]:
    """Return the names that texts of a scope share, by the corpus's rules; those of other entities make none."""
    corpus, minimum = open_corpus(memory.hoprank.client, memory.name), memory.settings.concept_mentions
    scopes = {(key := EntityKey.of(id_)).name: key.scope for id_ in memory.texts_after("")}
    names: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in corpus.read("memory_shared_names", minimum=minimum):
        for document in row["documents"]:
            if document in scopes:
                names[scopes[document]][row["name"]].append(document)
    known = steps.known_entities(memory)
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


def _by_scope(entities: Iterable[Entity]) -> dict[str, list[Entity]]:
    by_scope: dict[str, list[Entity]] = defaultdict(list)
    for entity in entities:
        by_scope[entity.scope].append(entity)
    return by_scope
