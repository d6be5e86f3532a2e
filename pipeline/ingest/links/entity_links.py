"""Entity links of an update: the entities, and the edges by document structure, names, titles and hyperlinks.

All new chunks are linked. Other chunks are linked again only if their extracted names or the targets of their
hyperlinks may have changed. The result equals that of a fresh ingest.
"""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from pathlib import PurePosixPath

from pipeline.db.background_writer import BackgroundWriter
from pipeline.db.client import batches
from pipeline.edges import EdgeKind
from pipeline.files.guard import composed
from pipeline.ids import digest, document_id, entity_id
from pipeline.ingest.embed import Done, PreparedChunk, stored_sentences
from pipeline.ingest.entities.extract import ChunkNames, SpellingCounts, make_extractor
from pipeline.ingest.entities.lexicon import CountChanges, LexiconUpdate
from pipeline.ingest.update.stored import ChunkDiff, Spool, stored_counts, stored_edges, visible_chunks
from pipeline.ingest.update.write_session import WriteSession
from pipeline.records import Chunk, Edge, Entity, Vector, WrittenLink
from pipeline.settings import LinkSettings
from pipeline.text.inflection import language_of
from pipeline.text.names import most_frequent, name_key

_BY_NAME = (EdgeKind.MENTIONS, EdgeKind.REFERS_TO, EdgeKind.LINKS_TO)
_BY_TEXT = (EdgeKind.PART_OF, EdgeKind.NEXT, *_BY_NAME)
_BATCH = 500  # chunks linked together; chosen by hand, as the next, not measured

LinkedChunk = tuple[Chunk, tuple[WrittenLink, ...]]
"""A chunk, and its hyperlinks as written."""


EmbedTexts = Callable[[Mapping[str, str]], Mapping[str, Vector]]
"""Maps texts, by hash, to their vectors of the corpus's fingerprint, by hash."""


class LinkResolver:
    """Resolves hyperlinks and wikilinks among a corpus's documents.

    A hyperlink is a path relative to its document. A wikilink is a document's path, its file name without suffix, or
    its title. Of several documents with the same name, the nearest in the folder tree is chosen, then the first by key.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        """``titles`` maps each document's key to its title."""
        self._titles = titles

    @cached_property
    def _keys(self) -> Mapping[str, str]:
        # At the first link: a corpus without any spares the memory, of which the names take the most.
        return {composed(key): key for key in sorted(self._titles)} | {key: key for key in self._titles}

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        by_name: dict[str, list[str]] = defaultdict(list)
        for key, title in sorted(self._titles.items()):
            for name in names_of_document(key, title):
                by_name[name].append(key)
        return by_name

    def resolve(self, target: str, source_key: str) -> str | None:
        """Return the key of the document that ``target`` means in ``source_key``; None if the corpus has none."""
        for candidate in paths_of_link(target, source_key):
            if key := self._keys.get(candidate):
                return key if key != source_key else None
        named = [key for key in self._by_name.get(name_key(target), ()) if key != source_key]
        folders = source_key.split("/")[:-1]
        shared = {key: len(posixpath.commonprefix([key.split("/")[:-1], folders])) for key in named}
        return min(named, key=lambda key: (-shared[key], key), default=None)

    def resolve_all(self, links: Sequence[WrittenLink], source_key: str) -> Iterable[tuple[str, list[WrittenLink]]]:
        """Return the keys of the documents that ``links`` lead to, each with its links, ordered by key."""
        resolved: dict[str, list[WrittenLink]] = defaultdict(list)
        for link in links:
            if (key := self.resolve(link.target, source_key)) is not None:
                resolved[key].append(link)
        return sorted(resolved.items())


def structure_edges(corpus_id: str, chunks: Iterable[Chunk]) -> Iterator[Edge]:
    """Yield the edges from chunks to their documents and to the next chunk; ``chunks`` are those of whole documents."""
    chunks = list(chunks)
    for chunk in chunks:
        yield Edge(EdgeKind.PART_OF, chunk.id, document_id(corpus_id, chunk.document_key))
    in_order = sorted(chunks, key=lambda chunk: (chunk.document_key, chunk.ordinal))
    for before, after in pairwise(in_order):
        if before.document_key == after.document_key:
            yield Edge(EdgeKind.NEXT, before.id, after.id)


def name_edges(corpus_id: str, named: Iterable[ChunkNames]) -> Iterator[Edge]:
    """Yield the edges from chunks to the entities and documents that they name."""
    for names in named:
        for mention in names.mentions:
            evidence = {"count": mention.count, "position": mention.position, "about": mention.about}
            yield Edge(EdgeKind.MENTIONS, names.chunk_id, entity_id(corpus_id, mention.key), evidence)
        for title in names.titles:
            evidence = {"count": title.count, "position": title.position}
            yield Edge(EdgeKind.REFERS_TO, names.chunk_id, document_id(corpus_id, title.document_key), evidence)


def hyperlink_edges(
    corpus_id: str, chunk: Chunk, links: Sequence[WrittenLink], resolver: LinkResolver
) -> Iterator[Edge]:
    """Yield the edges from a chunk to the targets of its ``links``, which are as written.

    An edge has the types of its links and the sentences around them, each once, in order, if there are any.
    """
    for key, resolved in resolver.resolve_all(links, chunk.document_key):
        relations = list(dict.fromkeys(link.relation for link in resolved if link.relation))
        context = "\n".join(dict.fromkeys(link.context for link in resolved if link.context))
        words = {name: value for name, value in (("relations", relations), ("context", context)) if value}
        yield Edge(EdgeKind.LINKS_TO, chunk.id, document_id(corpus_id, key), {"count": len(resolved), **words})


def names_of_document(key: str, title: str) -> set[str]:
    """Return the folded names by which a wikilink may refer to a document."""
    path = PurePosixPath(key)
    # A key from a .jsonl file may be "/" or ".", which names no file.
    without_suffix = path.with_suffix("").as_posix() if path.name else key
    return {name_key(name) for name in (path.stem, without_suffix, title)} - {""}


def paths_of_link(target: str, source_key: str) -> Iterator[str]:
    """Yield the keys that a link may mean as a path, first choice first, composed (NFC)."""
    target = composed(target)
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(composed(source_key)), target))
    for path in (relative, target.lstrip("/")):
        yield path
        yield f"{path}.md"


@dataclass(frozen=True, slots=True)
class TitleChanges:
    """Titles of a corpus's documents by key, before and after an update; ``replaced``: changed and removed keys."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    replaced: Collection[str]


@dataclass(frozen=True, slots=True)
class EntityChanges:
    """The number of entities after an update, and the new names of existing entities, by id."""

    entities: int
    spellings: Mapping[str, str]


def update_lexicon(
    session: WriteSession, new: Spool[PreparedChunk], diff: ChunkDiff, titles: TitleChanges, settings: LinkSettings
) -> LexiconUpdate:
    """Return the lexicon of an update, made from the counts of added and removed texts; stage the changed counts."""
    casing = CountChanges(partial(stored_counts, session.corpus, "casing"))
    aliases = CountChanges(partial(stored_counts, session.corpus, "aliases"))
    language = language_of(session.corpus.record.analyzer)
    extractor = make_extractor(settings, language)
    lexicon = LexiconUpdate(casing, aliases, settings.title_shared_by, extractor, language)
    for chunks in new.batches():
        lexicon.count((chunk.chunk.text for chunk in chunks), 1)
    for replaced in diff.replaced.batches():
        lexicon.count((chunk.chunk.text for chunk in replaced), -1)
    rows = session.corpus.stream("visible_titles") if session.corpus.generation else ()
    before = [(row["document"], row["title"], row["heading"]) for row in rows]
    remaining = (heading for heading in before if heading[0] not in titles.replaced)
    added = {(chunk.document_key, chunk.title, chunk.heading) for chunk in (prepared.chunk for prepared in new)}
    lexicon.decide(before, chain(remaining, added), new=not session.corpus.generation)
    session.stage_counts("casing", casing.changed_shards())
    session.stage_counts("aliases", aliases.changed_shards())
    return lexicon


def link_entities(
    session: WriteSession,
    new: Spool[PreparedChunk],
    diff: ChunkDiff,
    titles: TitleChanges,
    settings: LinkSettings,
    done: Done,
) -> EntityChanges:
    """Bring the entities of a corpus, and all its edges but similarity links, to those of a fresh ingest."""
    # Nothing keeps the lexicon afterwards: it is the largest of what an ingest has in memory.
    links = _EntityLinks(session, titles, update_lexicon(session, new, diff, titles, settings))
    links.link(new, diff, done)
    return links.update_entities()


class _EntityLinks:
    def __init__(self, session: WriteSession, titles: TitleChanges, lexicon: LexiconUpdate) -> None:
        self._session = session
        self._corpus = session.corpus
        self._titles = titles
        self._lexicon = lexicon
        self._spellings = CountChanges(partial(stored_counts, session.corpus, "spellings"))
        self._resolver = LinkResolver(titles.after)
        self._provisional: dict[str, str] = {}

    def link(self, new: Spool[PreparedChunk], diff: ChunkDiff, done: Done) -> None:
        """Write the edges of new and affected chunks, and retire those of removed chunks."""
        with Spool[LinkedChunk]() as affected, BackgroundWriter() as background:
            for part in batches(self._affected(), _BATCH):
                affected.append(part)
            for chunks in new.batches():
                linked = [(chunk.chunk, chunk.links) for chunk in chunks]
                self._link(linked, diff.kept, _BY_TEXT, background, done)
            for part in affected.batches():
                self._link(part, {chunk.id for chunk, _ in part}, _BY_NAME, background, done)
                self._names([chunk for chunk, _ in part], after=False)
            for replaced in diff.replaced.batches():
                self._names([stored.chunk for stored in replaced], after=False)
            outdated = stored_edges(self._corpus, diff.removed_visible, _BY_TEXT)
            background.submit(self._session.retire_edges, list(outdated))

    def update_entities(self) -> EntityChanges:
        """Stage new entities under their most frequent spelling, and retire entities without mentions."""
        changed = list(self._spellings.changed())
        self._spellings.load(changed)
        renamed: dict[str, str] = {}
        added: list[Entity] = []
        removed: list[str] = []
        entities = self._corpus.record.entities
        for key in changed:
            before, after = self._spellings.before(key), self._spellings.after(key)
            if not after:
                removed.append(entity_id(self._corpus.id, key))
            elif not before and most_frequent(after) != self._provisional[key]:
                added.append(self._entity(key, most_frequent(after)))
            elif before and most_frequent(after) != most_frequent(before):
                renamed[entity_id(self._corpus.id, key)] = most_frequent(after)
            entities += bool(after) - bool(before)
        self._session.stage_entities(added)
        self._session.retire_entities(removed)
        self._session.stage_counts("spellings", self._spellings.changed_shards())
        return EntityChanges(entities, renamed)

    def _affected(self) -> Iterator[LinkedChunk]:
        """Yield the chunks of unchanged documents that have to be linked again."""
        texts, targets = self._lexicon.affected, _ChangedTargets(self._titles)
        if not self._corpus.generation or not (texts or targets):
            return
        for stored in visible_chunks(self._corpus):
            chunk = stored.chunk
            if chunk.document_key in self._titles.replaced:
                continue
            if targets.affect((link.target for link in stored.links), chunk.document_key) or chunk in texts:
                yield chunk, stored.links

    def _link(
        self,
        linked: Sequence[LinkedChunk],
        stored_ids: Collection[str],
        kinds: Sequence[EdgeKind],
        background: BackgroundWriter,
        done: Done,
    ) -> None:
        """Stage the missing edges of chunks and retire the outdated ones; only ``stored_ids`` have stored edges."""
        chunks = [chunk for chunk, _ in linked]
        named, spellings = self._names(chunks, after=True)
        background.submit(self._session.stage_entities, self._provisional_entities(spellings))
        structure = structure_edges(self._corpus.id, chunks) if EdgeKind.PART_OF in kinds else ()
        links = (hyperlink_edges(self._corpus.id, chunk, written, self._resolver) for chunk, written in linked)
        wanted = {edge.key: edge for edge in chain(structure, name_edges(self._corpus.id, named), *links)}
        ids = [chunk.id for chunk in chunks if chunk.id in stored_ids]
        stored = stored_edges(self._corpus, ids, kinds)
        background.submit(self._session.retire_edges, [key for key, edge in stored.items() if wanted.get(key) != edge])
        missing = [edge for key, edge in wanted.items() if stored.get(key) != edge]
        background.submit(self._session.stage_edges, missing, done)

    def _names(self, chunks: Sequence[Chunk], *, after: bool) -> tuple[list[ChunkNames], SpellingCounts]:
        """Return the names in chunks and their spellings; count these, or subtract those from before the update."""
        named, spellings = self._lexicon.names(chunks, after=after)
        for key, counts in spellings.items():
            self._spellings.add(key, counts, 1 if after else -1)
        return named, spellings

    def _provisional_entities(self, spellings: SpellingCounts) -> list[Entity]:
        """Return the entities that are new to the corpus, under a spelling that may not prove the most frequent."""
        self._spellings.load(spellings)
        new = [key for key in spellings if key not in self._provisional and not self._spellings.before(key)]
        self._provisional.update((key, most_frequent(spellings[key])) for key in new)
        return [self._entity(key, self._provisional[key]) for key in new]

    def _entity(self, key: str, name: str) -> Entity:
        return Entity(entity_id(self._corpus.id, key), key, name)


class _ChangedTargets:
    def __init__(self, titles: TitleChanges) -> None:
        self._keys = {composed(key) for key in titles.before.keys() ^ titles.after.keys()}
        changed = titles.before.items() ^ titles.after.items()
        self._names = {name for document in changed for name in names_of_document(*document)}

    def __bool__(self) -> bool:
        return bool(self._names or self._keys)

    def affect(self, targets: Iterable[str], source_key: str) -> bool:
        return bool(self) and any(
            name_key(target) in self._names or not self._keys.isdisjoint(paths_of_link(target, source_key))
            for target in targets
        )


def no_vectors(_: Mapping[str, str]) -> Mapping[str, Vector]:
    """Embed nothing: for an update that brings no new sentence."""
    return {}


def embed_contexts(session: WriteSession, embed: EmbedTexts) -> None:
    """Give each staged link with a sentence the vector of that sentence.

    A sentence that any link has a vector for, in a corpus of the same fingerprint, isn't embedded again. A link stays
    without a vector if ``embed`` doesn't return one: the walk then follows it as it follows other links.
    """
    if not session.stages_contexts:
        return
    corpus = session.corpus
    missing = {row["id"]: row["context"] for row in corpus.stream("links_without_vector")}
    contexts = {digest(context): context for context in missing.values()}
    vectors = stored_sentences(corpus.client, corpus.record.fingerprint, contexts)
    new = {key: context for key, context in contexts.items() if key not in vectors}
    if new:
        vectors = {**vectors, **embed(new)}
    keyed = ((id_, digest(context)) for id_, context in missing.items())
    session.set_link_vectors(
        {"id": id_, "hash": key, "vector": vectors[key].tolist()} for id_, key in keyed if key in vectors
    )
