"""Adapters: a retriever for each of LangChain, LlamaIndex, Haystack and neo4j-graphrag, over one search of HopRank.

A module imports its framework, which the extra of its name installs; the package imports none.
"""
