"""The modules of the domain that its commands and views use, each imported at its first use."""

from pipeline.cli.lazy import lazy_imports

with lazy_imports(__name__):
    from pipeline.domains.routing import api, compare, folders, index, registry, schema, sync
    from pipeline.domains.routing import evaluate as evaluation
    from pipeline.domains.routing.learn import clues, log, usage
