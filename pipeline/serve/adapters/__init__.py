"""Adapters for frameworks: retrievers over one search of HopRank, stores, and the tools of a memory.

A module imports its framework, which the extra of its name installs; the package imports none.
"""
