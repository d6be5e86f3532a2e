"""Extraction from texts: names of entities that they mention, and the facts that their sentences state."""
