"""Ingestion on Ray Data: reading, chunking and embedding on many processors or machines, into shards.

Imported only where it is asked for. ``shards`` and ``work`` need no Ray: files of what was prepared, and what a worker
does with them. ``cluster`` starts or joins Ray, and ``engine`` maps the work by Ray Data.
"""
