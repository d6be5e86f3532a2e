"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.tools import build, catalogue, evaluate, queries, settings
    from pipeline.domains.tools.sources import live
else:
    build = LazyModule("pipeline.domains.tools.build")
    catalogue = LazyModule("pipeline.domains.tools.catalogue")
    evaluate = LazyModule("pipeline.domains.tools.evaluate")
    live = LazyModule("pipeline.domains.tools.sources.live")
    queries = LazyModule("pipeline.domains.tools.queries")
    settings = LazyModule("pipeline.domains.tools.settings")
