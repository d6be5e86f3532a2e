"""Reading what is to be remembered: chats of several formats, and the entities and facts that texts state.

May import: domains.memory.records, domains.memory.schema, domains.memory.times, errors, ids, ingest, knowledge, limits,
records, text.
"""
