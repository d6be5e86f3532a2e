"""Finding the tools for a task: its clauses, rankings of all tools, and what the found tools need.

May import: domains.tools.schema, domains.tools.texts, embedding, errors, knowledge, records, retrieve, text.
"""
