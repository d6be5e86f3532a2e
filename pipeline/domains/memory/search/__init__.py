"""Searching a memory: the dates and events of questions.

May import: nothing of the package.
"""
