"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.routing import graph, index, records, registry, schema, settings, sync
    from pipeline.domains.routing.evaluate import evaluate as evaluation
    from pipeline.domains.routing.learn import notes, proposals, usage, weights
    from pipeline.domains.routing.learn import records as learning
else:
    evaluation = LazyModule("pipeline.domains.routing.evaluate.evaluate")
    graph = LazyModule("pipeline.domains.routing.graph")
    index = LazyModule("pipeline.domains.routing.index")
    learning = LazyModule("pipeline.domains.routing.learn.records")
    notes = LazyModule("pipeline.domains.routing.learn.notes")
    proposals = LazyModule("pipeline.domains.routing.learn.proposals")
    records = LazyModule("pipeline.domains.routing.records")
    registry = LazyModule("pipeline.domains.routing.registry")
    schema = LazyModule("pipeline.domains.routing.schema")
    settings = LazyModule("pipeline.domains.routing.settings")
    sync = LazyModule("pipeline.domains.routing.sync")
    usage = LazyModule("pipeline.domains.routing.learn.usage")
    weights = LazyModule("pipeline.domains.routing.learn.weights")
