"""Chunking: cut documents into chunks along their structure, measured in the embedder's tokens."""

from pipeline.ingest.chunking.chunk import Chunker, chunk_id

__all__ = ["Chunker", "chunk_id"]
