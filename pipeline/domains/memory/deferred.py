"""The modules of the domain that its commands and views use, each imported at its first use."""

from pipeline.cli.lazy import lazy_imports

with lazy_imports(__name__):
    from pipeline import knowledge
    from pipeline.domains.memory import api, memory, patterns, records, revise, times
    from pipeline.domains.memory import evaluate as evaluation
    from pipeline.domains.memory.dedupe import apply, plan
    from pipeline.domains.memory.recall import recall
