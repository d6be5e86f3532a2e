"""Concepts of a memory: the names that its texts share, without those that name nothing, whatever came first."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.domains.memory import entities as steps
from pipeline.domains.memory.extract.facts import ROLES
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.mentions import texts_with
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.schema import MEMORY
from pipeline.grouping import grouped
from pipeline.ingest.entities.lexicon import CountChanges
from pipeline.ingest.update.stored import stored_counts
from pipeline.resources import word_lists
from pipeline.text.names import FUNCTION_WORDS, Casing, name_key

_WORDS = word_lists(__file__)
_OPENERS = frozenset(_WORDS["openers"].split())
_IDLE = frozenset(_WORDS["idle"].split()) | _OPENERS | FUNCTION_WORDS | ROLES
_NUMERIC = re.compile(r"[\W\d_]*")
_CONTRACTED = re.compile(r"\w[’'‘](?:m|re|ve|ll|d|t)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept, and the keys of the memories that have its name, in order."""

    entity: Entity
    memories: tuple[str, ...]


def concepts_from(
    names: Mapping[str, Collection[str]],
    minimum: int,
    *,
    scope: str = "default",
    taken: Iterable[str] = (),
    casing: Casing | None = None,
) -> tuple[Concept, ...]:
    """Return the names that at least ``minimum`` memories have as concepts, the most frequent first, then by name.

    ``names`` has the keys of the memories by name. Spellings of a name (see :func:`~pipeline.text.names.name_key`) are
    one concept, called as most of the memories spell it; the others are its aliases. What :func:`concept_name` refuses
    is no concept, nor are the names of other entities, ``taken``.
    """
    spellings: dict[str, dict[str, set[str]]] = defaultdict(dict)
    keys = {name_key(name) for name in taken}
    for written, memories in names.items():
        name = concept_name(written, casing)
        if name and (key := name_key(name)) not in keys:
            spellings[key].setdefault(name, set()).update(memories)
    made = (_concept(of_key, scope) for of_key in spellings.values())
    shared = [concept for concept in made if len(concept.memories) >= max(1, minimum)]
    return tuple(sorted(shared, key=lambda concept: (-len(concept.memories), concept.entity.name)))


def concept_name(written: str, casing: Casing | None = None) -> str:
    """Return a name in running text as that of a concept, without a greeting before it; "" if it names nothing.

    Single letters, numbers, dates and words of conversation (Thanks, Today, I'll) name nothing. Nor does, by the
    ``casing`` of the texts, a plain word that has its capital at the beginning of sentences only.
    """
    words = written.split()
    while len(words) > 1 and words[0].casefold() in _OPENERS:
        words = words[1:]
    always_opens = len(words) == 1 and _is_plain(words[0]) and casing is not None and not casing.upper[words[0].lower()]
    return "" if always_opens or all(map(_names_nothing, words)) else " ".join(words)


def _is_plain(word: str) -> bool:
    """Return whether a word has no sign of a name but its first capital."""
    return word.isalpha() and word[0].isupper() and word[1:].islower()


def _names_nothing(word: str) -> bool:
    key = name_key(word)
    idle = len(key) < 2 or key in _IDLE or _NUMERIC.fullmatch(key) is not None
    return idle or _CONTRACTED.search(word) is not None


def _concept(spellings: Mapping[str, set[str]], scope: str) -> Concept:
    name, *aliases = sorted(spellings, key=lambda spelling: (-len(spellings[spelling]), spelling))
    memories = tuple(sorted(set().union(*spellings.values())))
    count = len(memories)
    confidence = round(count / (count + 1), 3)  # 0.667 for two memories, 0.9 for nine
    return Concept(Entity(name, "concept", scope, "", tuple(aliases), count, confidence), memories)


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
