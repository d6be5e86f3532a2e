"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline import knowledge
    from pipeline.domains.memory import api, entities, forget, memory, patterns, records, times
    from pipeline.domains.memory import evaluate as evaluation
    from pipeline.domains.memory import patterns as history
    from pipeline.domains.memory.chats import read as chats
    from pipeline.domains.memory.code import store as repositories
    from pipeline.domains.memory.dedupe import apply, plan
    from pipeline.domains.memory.dedupe import apply as journal
    from pipeline.domains.memory.facts import write
    from pipeline.domains.memory.recall import recall
    from pipeline.domains.memory.recall import recall as hybrid
    from pipeline.domains.memory.recall import records as recalled
    from pipeline.domains.memory.texts import remember
    from pipeline.domains.memory.texts import remember as add
    from pipeline.knowledge import clock
else:
    api = LazyModule("pipeline.domains.memory.api")
    add = LazyModule("pipeline.domains.memory.texts.remember")
    apply = LazyModule("pipeline.domains.memory.dedupe.apply")
    chats = LazyModule("pipeline.domains.memory.chats.read")
    clock = LazyModule("pipeline.knowledge.clock")
    entities = LazyModule("pipeline.domains.memory.entities")
    evaluation = LazyModule("pipeline.domains.memory.evaluate")
    forget = LazyModule("pipeline.domains.memory.forget")
    history = LazyModule("pipeline.domains.memory.patterns")
    hybrid = LazyModule("pipeline.domains.memory.recall.recall")
    journal = LazyModule("pipeline.domains.memory.dedupe.apply")
    knowledge = LazyModule("pipeline.knowledge")
    memory = LazyModule("pipeline.domains.memory.memory")
    patterns = LazyModule("pipeline.domains.memory.patterns")
    plan = LazyModule("pipeline.domains.memory.dedupe.plan")
    recall = LazyModule("pipeline.domains.memory.recall.recall")
    recalled = LazyModule("pipeline.domains.memory.recall.records")
    records = LazyModule("pipeline.domains.memory.records")
    remember = LazyModule("pipeline.domains.memory.texts.remember")
    repositories = LazyModule("pipeline.domains.memory.code.store")
    times = LazyModule("pipeline.domains.memory.times")
    write = LazyModule("pipeline.domains.memory.facts.write")
