"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.routing import api, registry, schema
    from pipeline.domains.routing import evaluate as evaluation
    from pipeline.domains.routing.learn import usage
else:
    api = LazyModule("pipeline.domains.routing.api")
    evaluation = LazyModule("pipeline.domains.routing.evaluate")
    registry = LazyModule("pipeline.domains.routing.registry")
    schema = LazyModule("pipeline.domains.routing.schema")
    usage = LazyModule("pipeline.domains.routing.learn.usage")
