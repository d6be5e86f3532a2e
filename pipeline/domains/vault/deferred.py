"""The modules of the domain that its commands use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.vault import api, check, evaluate, links, mentions, rename, requests, sources
else:
    api = LazyModule("pipeline.domains.vault.api")
    check = LazyModule("pipeline.domains.vault.check")
    evaluate = LazyModule("pipeline.domains.vault.evaluate")
    links = LazyModule("pipeline.domains.vault.links")
    mentions = LazyModule("pipeline.domains.vault.mentions")
    rename = LazyModule("pipeline.domains.vault.rename")
    requests = LazyModule("pipeline.domains.vault.requests")
    sources = LazyModule("pipeline.domains.vault.sources")
