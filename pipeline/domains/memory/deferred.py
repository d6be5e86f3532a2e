"""The modules of the domain that its commands and views use, each imported at its first use."""

from pipeline.cli.lazy import lazy_imports

with lazy_imports(__name__):
    from pipeline.domains.memory import api, forget, memory, patterns, records, remember, revise, times, versions
    from pipeline.domains.memory import evaluate as evaluation
    from pipeline.domains.memory.code import store
    from pipeline.domains.memory.dedupe import apply, candidates, plan
    from pipeline.domains.memory.recall import recall
