"""Views: all that is drawn with rich, from records and reports to tables and text.

Imports the records that it shows, and nothing that connects.
"""
