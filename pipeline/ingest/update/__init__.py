"""Update: the stored state, the changes against it, and the staged writes of the next generation.

Imports db and the chunks with their embeddings; not sources, entities or links.
"""
