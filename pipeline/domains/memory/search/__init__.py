"""Events in questions.

May import: text.
"""
