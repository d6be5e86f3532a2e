"""Views: records and reports as tables, text and progress; the only modules that import rich.

They import records for their types, and nothing that connects.
"""
