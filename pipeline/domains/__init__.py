"""The graphs that agents live on, each a domain of its own on the knowledge graph."""
