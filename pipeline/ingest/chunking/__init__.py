"""Documents to chunks that follow their structure, sized in the embedder's own tokens."""

from pipeline.ingest.chunking.chunk import Chunker, chunk_id

__all__ = ["Chunker", "chunk_id"]
