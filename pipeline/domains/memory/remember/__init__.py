"""Reading what is to be remembered: chats of several formats, and the entities and facts that texts state.

May import: domains.memory.records, domains.memory.schema, errors, ids, ingest, knowledge, limits, records, text.
"""
