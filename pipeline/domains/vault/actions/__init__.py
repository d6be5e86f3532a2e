"""Actions of agents: create a note, link two notes, traverse links, with the files and the corpus that these change.

May import: db, domains.vault.documents, domains.vault.graph, domains.vault.reading, domains.vault.records,
domains.vault.upkeep, domains.vault.vault, errors, flows, ids, ingest, knowledge, records, temporary, text.
"""
