"""Plain text, read as paragraphs."""

from dataclasses import replace

from pipeline.records import Document
from pipeline.text.outline import paragraphs


def structure(document: Document) -> Document:
    """Return a document of plain text with its paragraphs."""
    return replace(document, blocks=tuple(paragraphs(document.text)))
