"""The actions of agents on a vault: create a note, link two notes, and traverse links from a note."""

from __future__ import annotations

from pipeline.domains.vault.actions.create import create_knowledge_node
from pipeline.domains.vault.actions.link import link_knowledge_nodes
from pipeline.domains.vault.actions.traverse import traverse_knowledge

__all__ = ["create_knowledge_node", "link_knowledge_nodes", "traverse_knowledge"]
