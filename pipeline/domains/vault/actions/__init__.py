"""Actions of agents: create a note, link two notes, traverse links, with the files and the corpus that these change.

May import: db, domains.vault.build, domains.vault.edits, domains.vault.links, domains.vault.note,
domains.vault.sources, domains.vault.stored, errors, flows, ids, ingest, knowledge, records,
temporary, text.
"""
