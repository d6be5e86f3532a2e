"""Chains of tools: the links between tools in memory, the best paths along them, and plans that can be executed."""
