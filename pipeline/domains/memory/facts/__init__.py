"""Facts that change: versions, and the rules by which they are added, ended, replaced and withdrawn.

May import: domains.memory.memory, domains.memory.records, domains.memory.schema, errors, knowledge.
"""
