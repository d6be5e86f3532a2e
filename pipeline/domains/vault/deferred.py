"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.vault import evaluate, graph, records, related, sync, vault
    from pipeline.domains.vault.actions import action_models, actions
    from pipeline.domains.vault.context import router
    from pipeline.domains.vault.maps import index_node, mocs
    from pipeline.domains.vault.reading import folder
    from pipeline.domains.vault.upkeep import check, find, mentions, rename
else:
    action_models = LazyModule("pipeline.domains.vault.actions.action_models")
    actions = LazyModule("pipeline.domains.vault.actions.actions")
    check = LazyModule("pipeline.domains.vault.upkeep.check")
    evaluate = LazyModule("pipeline.domains.vault.evaluate")
    find = LazyModule("pipeline.domains.vault.upkeep.find")
    folder = LazyModule("pipeline.domains.vault.reading.folder")
    graph = LazyModule("pipeline.domains.vault.graph")
    index_node = LazyModule("pipeline.domains.vault.maps.index_node")
    mentions = LazyModule("pipeline.domains.vault.upkeep.mentions")
    mocs = LazyModule("pipeline.domains.vault.maps.mocs")
    records = LazyModule("pipeline.domains.vault.records")
    related = LazyModule("pipeline.domains.vault.related")
    rename = LazyModule("pipeline.domains.vault.upkeep.rename")
    router = LazyModule("pipeline.domains.vault.context.router")
    sync = LazyModule("pipeline.domains.vault.sync")
    vault = LazyModule("pipeline.domains.vault.vault")
