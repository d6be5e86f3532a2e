"""Querysets in, measures of every leg out."""
