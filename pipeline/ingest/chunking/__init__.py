"""Chunking: cut documents into chunks along their structure, measured in the embedder's tokens."""
