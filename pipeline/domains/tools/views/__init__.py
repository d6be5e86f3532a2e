"""Tool graphs, for people.

May import: cli, domains.tools.chains, domains.tools.evaluate, domains.tools.find, domains.tools.queries,
domains.tools.records, knowledge.
"""
