"""Plain text, read as paragraphs."""

from pipeline.files import decode
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from pipeline.text.outline import paragraphs


def parse(source: Source) -> Document:
    """Return a text file as a document with the file's own text. Raises Unreadable."""
    text = decode(source.data)
    return Document(source.key, source.stem, text, tuple(paragraphs(text)), path=source.path)
