"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.skills import build, check, queries, settings
else:
    build = LazyModule("pipeline.domains.skills.build")
    check = LazyModule("pipeline.domains.skills.check")
    queries = LazyModule("pipeline.domains.skills.queries")
    settings = LazyModule("pipeline.domains.skills.settings")
