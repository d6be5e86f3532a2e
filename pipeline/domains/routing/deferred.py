"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.routing import evaluate as evaluation
    from pipeline.domains.routing import index, project_graph, registry, schema, settings, sync
    from pipeline.domains.routing.learn import notes, proposals, usage
else:
    evaluation = LazyModule("pipeline.domains.routing.evaluate")
    index = LazyModule("pipeline.domains.routing.index")
    notes = LazyModule("pipeline.domains.routing.learn.notes")
    project_graph = LazyModule("pipeline.domains.routing.project_graph")
    proposals = LazyModule("pipeline.domains.routing.learn.proposals")
    registry = LazyModule("pipeline.domains.routing.registry")
    schema = LazyModule("pipeline.domains.routing.schema")
    settings = LazyModule("pipeline.domains.routing.settings")
    sync = LazyModule("pipeline.domains.routing.sync")
    usage = LazyModule("pipeline.domains.routing.learn.usage")
