"""Corpora as files: out as JSON lines, GraphML or Parquet, and back in from JSON lines."""
