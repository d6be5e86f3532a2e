"""Links by cosine, by names and titles, and by hyperlinks: of a whole corpus, or around the changes of an update.

May import: db, edges, embedding, ids, ingest.embed, ingest.entities, ingest.update, records, settings, text.
"""
