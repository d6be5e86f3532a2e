"""The modules of the domain that its commands use, each imported at its first use."""

from pipeline.cli.lazy import lazy_imports

with lazy_imports(__name__):
    from pipeline.domains.vault import api, check, evaluate, links, mentions, note, rename, sources
