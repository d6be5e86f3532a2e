"""Resolution of hyperlinks and wikilinks to the documents of a corpus."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pipeline.records import WrittenLink
from pipeline.text.names import name_key


class LinkResolver:
    """Resolves hyperlinks and wikilinks among a corpus's documents.

    A hyperlink is a path relative to its document. A wikilink is a document's path, its file name without suffix, or
    its title. Of several documents with the same name, the nearest in the folder tree is chosen, then the first by key.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        """``titles`` maps each document's key to its title."""
        self._keys = set(titles)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for key, title in sorted(titles.items()):
            for name in names_of_document(key, title):
                self._by_name[name].append(key)

    def resolve(self, target: str, source_key: str) -> str | None:
        """Return the key of the document that ``target`` means in ``source_key``; None if the corpus has none."""
        for candidate in paths_of_link(target, source_key):
            if candidate in self._keys:
                return candidate if candidate != source_key else None
        named = [key for key in self._by_name.get(name_key(target), ()) if key != source_key]
        return min(named, key=lambda key: (-_shared_folders(key, source_key), key), default=None)

    def resolve_all(self, links: Sequence[WrittenLink], source_key: str) -> Iterable[tuple[str, list[WrittenLink]]]:
        """Return the keys of the documents that ``links`` lead to, each with its links, ordered by key."""
        resolved: dict[str, list[WrittenLink]] = defaultdict(list)
        for link in links:
            key = self.resolve(link.target, source_key)
            if key is not None:
                resolved[key].append(link)
        return sorted(resolved.items())


def names_of_document(key: str, title: str) -> set[str]:
    """Return the folded names by which a wikilink may refer to a document."""
    path = PurePosixPath(key)
    # A key from a .jsonl file may be "/" or ".", which names no file.
    without_suffix = path.with_suffix("").as_posix() if path.name else key
    folded = {name_key(name) for name in (path.stem, without_suffix, title)}
    return folded - {""}


def paths_of_link(target: str, source_key: str) -> Iterator[str]:
    """Yield the keys that a link may mean as a path, first choice first."""
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(source_key), target))
    for path in (relative, target.lstrip("/")):
        yield path
        yield f"{path}.md"


def _shared_folders(first: str, second: str) -> int:
    return len(posixpath.commonprefix([first.split("/")[:-1], second.split("/")[:-1]]))
