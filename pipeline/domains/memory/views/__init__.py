"""Views of a memory: tables and lines that its commands print.

May import: cli, domains.memory.dedupe, domains.memory.deferred, domains.memory.evaluate, domains.memory.facts,
domains.memory.forget, domains.memory.patterns, domains.memory.recall, domains.memory.records,
domains.memory.repositories, domains.memory.texts.
"""
