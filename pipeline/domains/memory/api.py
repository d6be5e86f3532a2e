"""The face of a memory: remember texts, chats and code, ask what holds when, state facts, and forget."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, overload

from pipeline.domains.memory import patterns, revise
from pipeline.domains.memory.chats.read import read_files
from pipeline.domains.memory.code.store import scan_repository
from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.forget import Forgotten, Selection, forget
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import Related
from pipeline.domains.memory.recall import recall as retrieval
from pipeline.domains.memory.recall.recall import Recall
from pipeline.domains.memory.records import Entity, Fact
from pipeline.domains.memory.remember import Remembered, add_text, remember
from pipeline.domains.memory.times import read_time, when
from pipeline.domains.memory.traces import add_trace
from pipeline.domains.memory.versions import Revision, Triple
from pipeline.errors import InputError
from pipeline.knowledge.clock import now
from pipeline.progress import Progress


class Memory(AgentMemory):
    """A memory of agents, by name; the first write makes it. Thread-safe.

    Entities are named by name, alias or id. Times are ISO 8601; one without an offset is of the setting
    ``memory.timezone``. A scope, such as a repository, keeps things of one name apart. Raises GraphError for an unknown
    entity, relation or memory, InputError for a malformed value.

    Example::

        from hoprank import HopRank, Memory

        with HopRank.connect() as hoprank:
            memory = Memory(hoprank, "team")
            memory.add("We moved the API server to Hono.", date="2026-02-10")
            memory.fact("api-server", "depends_on", "hono", since="2026-02-10", create=["library"])
            print(memory.search("What is the API server built on?").items)
            memory.end("api-server", "depends_on", "hono", at="2026-09-01", evidence="back to Express")
    """

    add = add_text
    trace = add_trace
    scan = scan_repository

    def import_chats(
        self,
        *paths: str | Path,
        scope: str | None = None,
        undated: str | None = None,
        strict: bool = False,
        progress: Progress | None = None,
    ) -> list[Remembered]:
        """Remember the messages of chats, with the entities and facts given there, in one run; return its outcome.

        Paths are files, folders or zips of exports.

        All files are read before anything is written; of messages of one key the last counts. ``undated`` is the time
        of messages that have none. What can't be read is skipped, and named in the outcome. Raises SourceError if a
        file isn't there or nothing can be read, and with ``strict`` for the first malformed file, message, entity or
        fact.
        """
        if not paths:
            return []
        read = read_files(
            [Path(path) for path in paths],
            scope=scope or self.settings.scope,
            timezone=self.settings.timezone,
            limits=self.hoprank.settings.sources.limits,
            undated=undated,
            strict=strict,
        )
        return [remember(self, read, progress, strict=strict)]

    def search(
        self,
        question: str,
        top_k: int = 10,
        *,
        as_of: str | None = None,
        known_at: str | None = None,
        now: str | None = None,
        scope: str | None = None,
        filters: Mapping[str, Any] | None = None,
        levels: Sequence[str] | None = None,
    ) -> Recall:
        """Return the texts and entities that answer a question best, and its themes; nothing if nothing fits it.

        What held ``as_of`` a time counts, as it was known at ``known_at``. ``now`` is what "last May" is relative to;
        ``levels`` are of ``texts``, ``low`` and ``high``, all by default. Raises what
        :func:`pipeline.domains.memory.recall.recall.recall` does.
        """
        times = when(as_of, known_at, self.zone)
        present = datetime.fromisoformat(read_time(now, self.zone, "now")).astimezone(self.zone) if now else None
        asked = retrieval.levels_named(levels)
        return retrieval.recall(self, question, top_k, times, scope=scope, filters=filters, now=present, levels=asked)

    def fact(
        self,
        source: str,
        relation: str,
        target: str,
        *,
        since: str | None = None,
        until: str | None = None,
        evidence: str = "",
        weight: float = 0.5,
        confidence: float = 0.9,  # as of what is given; the weight, too, is chosen by hand
        create: Sequence[str] = (),
        scope: str | None = None,
    ) -> Revision:
        """Add a fact between two entities; others stay, also those that contradict it.

        It holds ``since`` a time (by default now; "ever" for always) ``until`` another. ``create`` has the type of a
        missing source and that of a missing target, or one for both: they are made. ``evidence`` says why it is
        believed.
        """
        own_scope = scope or self.settings.scope
        if create:
            ends = ((source, create[0]), (target, create[-1]))
            upsert(self, [Entity(name, type_, own_scope, mention_count=0) for name, type_ in ends])
        memory = self.opened()
        triple = memory.triple(source, relation, target, scope)
        period = None if since == "ever" else self.time(since), self.time(until) if until else None
        because = (evidence,) if evidence else ()
        return revise.add_facts(memory, [Fact(*triple, *period, weight, confidence, own_scope, because)])

    def end(
        self, source: str, relation: str, target: str, *, evidence: str, at: str | None = None, scope: str | None = None
    ) -> Revision:
        """End a fact in the world, by default now, and say why; what was believed before can still be asked for."""
        memory = self.opened()
        return revise.invalidate(memory, memory.triple(source, relation, target, scope), self.time(at), evidence)

    def history(
        self,
        entity: str,
        relation: str | None = None,
        other: str | None = None,
        *,
        type_: str | None = None,
        scope: str | None = None,
    ) -> list[Fact]:
        """Return every version of the facts of an entity: of one relation, and with one ``other`` entity, if given."""

        def read(memory: AgentMemory) -> list[Fact]:
            start = memory.resolve(entity, type_=type_, scope=scope)
            return patterns.history(memory, start, relation, memory.resolve(other, scope=scope) if other else None)

        return self.read_whole(read)

    def related(
        self,
        entity: str,
        relations: Sequence[str] | None = None,
        *,
        reverse: bool = False,
        as_of: str | None = None,
        known_at: str | None = None,
        scope: str | None = None,
        limit: int = 100,
    ) -> list[Related]:
        """Return what an entity relates to, or with ``reverse`` what relates to it: heaviest facts first."""
        times = when(as_of, known_at, self.zone)

        def read(memory: AgentMemory) -> list[Related]:
            start = memory.resolve(entity, scope=scope, when=times)
            return patterns.related(memory, start, relations, times, limit, reverse=reverse)

        return self.read_whole(read)

    @overload
    def mentions(
        self, entity: str, *, as_of: str | None = None, known_at: str | None = None, scope: str | None = None
    ) -> list[str]: ...

    @overload
    def mentions(self, *, text: str, as_of: str | None = None, known_at: str | None = None) -> list[Entity]: ...

    def mentions(
        self,
        entity: str | None = None,
        *,
        text: str | None = None,
        as_of: str | None = None,
        known_at: str | None = None,
        scope: str | None = None,
    ) -> list[str] | list[Entity]:
        """Return the keys of the texts that mention an entity, sorted; or the entities that a ``text`` mentions.

        A text is given by its key; the entities with the most mentions come first. Raises InputError unless one of both
        is given.
        """
        times = when(as_of, known_at, self.zone)
        if (entity is None) == (text is None):
            raise InputError("Either an entity or a text is asked for.", "Give the name of an entity or text=KEY.")
        if text is not None:
            return self.read_whole(lambda memory: patterns.mentioned(memory, text, times))
        name = str(entity)
        return self.read_whole(lambda memory: memory.texts_of(memory.resolve(name, scope=scope, when=times).id, times))

    def forget(
        self,
        entity: str | None = None,
        *,
        topic: str | None = None,
        since: str | None = None,
        until: str | None = None,
        session: str | None = None,
        scope: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Delete the texts that meet all conditions, and what is known from them alone; ``dry_run`` only says what.

        ``entity`` itself is forgotten, too. ``topic`` are words that a text has, ``since`` and ``until`` when it was
        said. Raises InputError without a condition.
        """
        known = self.opened().resolve(entity, scope=scope) if entity else None
        begin = read_time(since, self.zone, "--since") if since else None
        end = read_time(until, self.zone, "--until") if until else None
        return forget(self, Selection(known, topic, begin, end, session, scope), dry_run=dry_run)

    def triple(self, source: str, relation: str, target: str, scope: str | None) -> Triple:
        """Return a fact's ids by the names of its ends; raises GraphError if there is no such relation or entity."""
        self.check_relations([relation])
        return self.resolve(source, scope=scope).id, relation, self.resolve(target, scope=scope).id

    def time(self, text: str | None) -> str:
        """Return a time in ISO 8601 as UTC, the present for None; raises InputError if it is malformed."""
        return read_time(text, self.zone, "The time") if text is not None else now()
