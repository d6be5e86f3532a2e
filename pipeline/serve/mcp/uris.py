"""URIs of documents: they name corpus and key, and are the ids of search results."""

import re
from urllib.parse import quote, unquote

from pipeline.errors import InputError

TEMPLATE = "hoprank://corpora/{corpus}/documents/{key}"
"""The template of the URIs, by RFC 6570."""

_URI = re.compile(r"hoprank://corpora/([^/?#]+)/documents/([^?#]+)")


def document_uri(corpus: str, key: str) -> str:
    """Return the URI of a document; corpus and key are percent-encoded."""
    return TEMPLATE.format(corpus=quote(corpus, safe=""), key=quote(key, safe=""))


def is_document_uri(text: str) -> bool:
    """Return whether ``text`` is the URI of a document."""
    return _URI.fullmatch(text) is not None


def parse_document_uri(uri: str) -> tuple[str, str]:
    """Return the corpus and the key that a URI names; raises InputError if it is no URI of a document."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise InputError(f"{uri[:200]!r} names no document.", f"Give an id from search, which is like {TEMPLATE}.")
    corpus, key = (unquote(part) for part in match.groups())
    return corpus, key
