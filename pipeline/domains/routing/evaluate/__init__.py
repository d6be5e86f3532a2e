"""Measuring routing: querysets, the comparison with all projects and with the ceiling, and what went wrong.

May import: nothing of the package.
"""
