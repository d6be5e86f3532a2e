"""What the tests of readers compare of a document: its blocks and its links, each with its words."""

from __future__ import annotations

from pipeline.records import Document


def blocks(found: Document) -> list[tuple[str, int, str]]:
    """Return the kind, the level and the text of each block."""
    return [(block.kind.value, block.level, found.text[block.start : block.end]) for block in found.blocks]


def links(found: Document) -> list[tuple[str, str]]:
    """Return the target and the words of each link."""
    return [(link.target, found.text[link.start : link.end]) for link in found.links]
