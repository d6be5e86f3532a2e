"""Relinking: the edges and entities of a corpus brought to what a fresh ingest would make, by the work that it takes.

What was prepared is linked as a whole; of the other chunks only those in which other names are found than before, or
whose links mean other documents. A new corpus is the same with nothing before it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.ids import entity_id
from pipeline.ingest.entities.counts import Tallies
from pipeline.ingest.entities.extract import Spelled, usual
from pipeline.ingest.entities.extractors import make_extractor
from pipeline.ingest.entities.gazetteer import Titled
from pipeline.ingest.entities.lexicon import Decisions
from pipeline.ingest.links.edges import hyperlinks, name_edges, structure
from pipeline.ingest.links.hyperlinks import LinkResolver, names_of_document, paths_of_link
from pipeline.ingest.update.background_writer import Behind
from pipeline.ingest.update.diff import Piece, Settled
from pipeline.ingest.update.load import Loader
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import stored_edges, visible_chunks
from pipeline.records import Chunk, EdgeKind, Entity
from pipeline.settings import LinkSettings
from pipeline.text.names import name_key

_BY_NAME = (EdgeKind.MENTIONS, EdgeKind.REFERS_TO, EdgeKind.LINKS_TO)
_BY_TEXT = (EdgeKind.PART_OF, EdgeKind.NEXT, *_BY_NAME)
_AT_ONCE = 500

Linked = tuple[Chunk, tuple[str, ...]]
"""A chunk and its links as written."""

Done = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Titles:
    """The titles of a corpus's documents by key, before an update and after it, and the keys that it replaces."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    replaced: Collection[str]


class Relink:
    """Relinks what names and links decide, for one update of a corpus."""

    def __init__(self, client: Client, corpus: Corpus, loader: Loader, titles: Titles, settings: LinkSettings) -> None:
        self._client = client
        self._corpus = corpus
        self._loader = loader
        self._titles = titles
        self._casing = Tallies(client, corpus, "casing")
        self._spellings = Tallies(client, corpus, "spellings")
        self._aliases = Tallies(client, corpus, "aliases")
        extractor = make_extractor(settings)
        self._decisions = Decisions(self._casing, self._aliases, settings.title_shared_by, extractor)
        self._resolver = LinkResolver(titles.after)
        self._provisional: dict[str, str] = {}
        self.spellings: dict[str, str] = {}
        """The new names of entities that were there before, by id."""
        self.entities = corpus.entities
        """How many entities the corpus will have."""

    def run(self, new: Spool[Piece], settled: Settled, done: Done) -> None:
        """Stage the edges and entities that are missing, and retire those that are too many."""
        self._decide(new, settled)
        with Spool[Linked]() as affected, Behind() as behind:
            for part in batches(self._affected(), _AT_ONCE):
                affected.append(part)
            for pieces in new.batches():
                linked = [(piece.linked.chunk, piece.linked.links) for piece in pieces]
                self._link(linked, settled.kept, _BY_TEXT, behind, done)
            for part in affected.batches():
                self._link(part, {chunk.id for chunk, _ in part}, _BY_NAME, behind, done)
                self._uncount([chunk for chunk, _ in part])
            for stored in settled.old.batches():
                self._uncount([one.chunk for one in stored])
            gone = stored_edges(self._client, self._corpus, settled.vanished, _BY_TEXT)
            behind.do(self._loader.retire_edges, list(gone))
        self._settle_entities()
        for tallies in (self._casing, self._aliases, self._spellings):
            tallies.stage(self._loader.writes)

    def _decide(self, new: Spool[Piece], settled: Settled) -> None:
        for pieces in new.batches():
            self._decisions.count((piece.linked.chunk.text for piece in pieces), 1)
        for stored in settled.old.batches():
            self._decisions.count((one.chunk.text for one in stored), -1)
        before: list[Titled] = []
        if self._corpus.generation:
            label, generation = self._corpus.label, self._corpus.generation
            rows = self._client.stream("visible_titles", label=label, generation=generation)
            before = [(row["document"], row["title"], row["heading"]) for row in rows]
        stay = (titled for titled in before if titled[0] not in self._titles.replaced)
        come = {(chunk.document_key, chunk.title, chunk.heading) for chunk in (piece.linked.chunk for piece in new)}
        self._decisions.settle(before, chain(stay, come), whole=not self._corpus.generation)

    def _affected(self) -> Iterator[Linked]:
        """Yield the chunks of other documents that have to be looked at again."""
        texts, links = self._decisions.affected(), _Retargeted(self._titles)
        if not self._corpus.generation or not (texts or links):
            return
        for stored in visible_chunks(self._client, self._corpus):
            chunk = stored.chunk
            if chunk.document_key in self._titles.replaced:
                continue
            if links.any(stored.links, chunk.document_key) or chunk in texts:
                yield chunk, stored.links

    def _link(
        self, linked: Sequence[Linked], there: Collection[str], kinds: Sequence[EdgeKind], behind: Behind, done: Done
    ) -> None:
        """Write the difference between the edges that chunks are to have and those of the chunks that are ``there``."""
        chunks = [chunk for chunk, _ in linked]
        spelled: Spelled = defaultdict(Counter)
        named = self._decisions.names(chunks, spelled, after=True)
        for key, counts in spelled.items():
            self._spellings.add(key, counts)
        behind.do(self._loader.stage_entities, self._provisional_entities(spelled))
        structural = structure(self._corpus.id, chunks) if EdgeKind.PART_OF in kinds else ()
        links = (hyperlinks(self._corpus.id, chunk, targets, self._resolver) for chunk, targets in linked)
        wanted = {edge.key: edge for edge in chain(structural, name_edges(self._corpus.id, named), *links)}
        stored = stored_edges(self._client, self._corpus, [one.id for one in chunks if one.id in there], kinds)
        behind.do(self._loader.retire_edges, [key for key, edge in stored.items() if wanted.get(key) != edge])
        missing = [edge for key, edge in wanted.items() if stored.get(key) != edge]
        behind.do(self._loader.stage_edges, missing, done)

    def _uncount(self, chunks: Sequence[Chunk]) -> None:
        """Take the spellings away that were counted in chunks before."""
        spelled: Spelled = defaultdict(Counter)
        self._decisions.names(chunks, spelled, after=False)
        for key, counts in spelled.items():
            self._spellings.add(key, counts, -1)

    def _provisional_entities(self, spelled: Spelled) -> list[Entity]:
        """Return the entities that no generation has yet, by a spelling that may not prove to be the usual one."""
        self._spellings.load(spelled)
        new = [key for key in spelled if key not in self._provisional and not self._spellings.before(key)]
        self._provisional.update((key, usual(spelled[key])) for key in new)
        return [self._entity(key, self._provisional[key]) for key in new]

    def _settle_entities(self) -> None:
        touched = list(self._spellings.changed())
        self._spellings.load(touched)
        born: list[Entity] = []
        died: list[str] = []
        for key in touched:
            before, after = self._spellings.before(key), self._spellings.after(key)
            if not after:
                died.append(entity_id(self._corpus.id, key))
            elif not before and usual(after) != self._provisional[key]:
                born.append(self._entity(key, usual(after)))
            elif before and usual(after) != usual(before):
                self.spellings[entity_id(self._corpus.id, key)] = usual(after)
            self.entities += bool(after) - bool(before)
        self._loader.stage_entities(born)
        self._loader.retire_entities(died)

    def _entity(self, key: str, name: str) -> Entity:
        return Entity(entity_id(self._corpus.id, key), key, name)


class _Retargeted:
    """Tells links that may mean another document than before."""

    def __init__(self, titles: Titles) -> None:
        changed = dict(titles.before.items() ^ titles.after.items())
        self._keys = titles.before.keys() ^ titles.after.keys()
        self._names = {
            name
            for key in changed
            for documents in (titles.before, titles.after)
            if key in documents
            for name in names_of_document(key, documents[key])
        }

    def __bool__(self) -> bool:
        return bool(self._names or self._keys)

    def any(self, targets: Iterable[str], source_key: str) -> bool:
        """Whether one of the links, as written in a document, does."""
        return bool(self) and any(
            name_key(target) in self._names or not self._keys.isdisjoint(paths_of_link(target, source_key))
            for target in targets
        )
