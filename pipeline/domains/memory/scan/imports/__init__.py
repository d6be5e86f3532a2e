"""Resolve imports, language by language, to files of the tree or to external packages.

May import: domains.memory.scan.index, domains.memory.scan.parsed, domains.memory.scan.paths,
domains.memory.scan.receivers.
"""
