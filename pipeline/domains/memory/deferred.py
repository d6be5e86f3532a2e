"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline import knowledge
    from pipeline.domains.memory import api, memory, patterns, records, revise, times
    from pipeline.domains.memory import evaluate as evaluation
    from pipeline.domains.memory.dedupe import apply, plan
    from pipeline.domains.memory.recall import recall
else:
    api = LazyModule("pipeline.domains.memory.api")
    apply = LazyModule("pipeline.domains.memory.dedupe.apply")
    evaluation = LazyModule("pipeline.domains.memory.evaluate")
    knowledge = LazyModule("pipeline.knowledge")
    memory = LazyModule("pipeline.domains.memory.memory")
    patterns = LazyModule("pipeline.domains.memory.patterns")
    plan = LazyModule("pipeline.domains.memory.dedupe.plan")
    recall = LazyModule("pipeline.domains.memory.recall.recall")
    records = LazyModule("pipeline.domains.memory.records")
    revise = LazyModule("pipeline.domains.memory.revise")
    times = LazyModule("pipeline.domains.memory.times")
