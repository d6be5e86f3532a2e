"""The modules of the domain that its commands and views use, each imported at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.lazy import LazyModule

if TYPE_CHECKING:
    from pipeline.domains.vault import (
        build,
        check,
        context,
        evaluate,
        links,
        maps,
        mentions,
        note,
        related,
        rename,
        sources,
        vault,
    )
    from pipeline.domains.vault.actions import action_models, actions
else:
    action_models = LazyModule("pipeline.domains.vault.actions.action_models")
    actions = LazyModule("pipeline.domains.vault.actions.actions")
    build = LazyModule("pipeline.domains.vault.build")
    check = LazyModule("pipeline.domains.vault.check")
    context = LazyModule("pipeline.domains.vault.context")
    evaluate = LazyModule("pipeline.domains.vault.evaluate")
    links = LazyModule("pipeline.domains.vault.links")
    maps = LazyModule("pipeline.domains.vault.maps")
    mentions = LazyModule("pipeline.domains.vault.mentions")
    note = LazyModule("pipeline.domains.vault.note")
    related = LazyModule("pipeline.domains.vault.related")
    rename = LazyModule("pipeline.domains.vault.rename")
    sources = LazyModule("pipeline.domains.vault.sources")
    vault = LazyModule("pipeline.domains.vault.vault")
