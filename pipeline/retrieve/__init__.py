"""Retrieve: the steps of a search in one corpus, and the legs that rank.

A search passes a trace (``trace.py``) from step to step (``steps.py``): candidates, expansion, seeds, walk, scoring.
``legs.py`` is the table of legs, with a function for each in ``rankers/``; ``hydrate.py`` turns a ranking into a
result. :class:`pipeline.flows.search.Retriever` runs them.
"""
