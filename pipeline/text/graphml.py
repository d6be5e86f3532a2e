"""Elements of GraphML files, as the exports of corpora and of graphs write them.

Source: the GraphML primer, http://graphml.graphdrawing.org/primer/graphml-primer.html.
"""

import re
from collections.abc import Mapping
from typing import Any

from lxml import etree

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
# XML 1.0 can't represent these, even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_KINDS: Mapping[type, str] = {bool: "boolean", int: "long", float: "double"}


def element(name: str, /, **attributes: str) -> Any:
    """Return a new element of GraphML's namespace."""
    return etree.Element(f"{{{NAMESPACE}}}{name}", attributes, nsmap={None: NAMESPACE})


def attribute_declaration(key: str, owner: str, name: str, kind: str) -> Any:
    """Return the ``key`` element of an attribute; ``owner`` is ``node`` or ``edge``, ``kind`` a type of GraphML."""
    return element("key", **{"id": key, "for": owner, "attr.name": name, "attr.type": kind})


def add_data(parent: Any, key: str, value: object) -> None:
    """Add the value of the attribute ``key`` to a node or an edge; its text must be legal in XML."""
    data = element("data", key=key)
    data.text = text_of(value)
    parent.append(data)


def kind_of(value: object) -> str:
    """Return the GraphML type of a value: ``boolean``, ``long``, ``double`` or ``string``."""
    return _KINDS.get(type(value), "string")


def text_of(value: object) -> str:
    """Return how GraphML writes a value."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_legal(text: str) -> bool:
    """Return whether XML can represent the text."""
    return _FORBIDDEN.search(text) is None


def without_forbidden(text: str) -> str:
    """Return the text without the characters that XML can't represent."""
    return _FORBIDDEN.sub("", text)
