"""EPUB: the chapters of a book in their order, each a page of HTML."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import unquote

from pipeline.files import Unreadable
from pipeline.ingest.sources.parsers import html
from pipeline.ingest.sources.parsers.archive import TITLE, Archive, Element, title_in
from pipeline.ingest.sources.source import Source, join, parser_errors
from pipeline.records import Document

_PACKAGE = "META-INF/container.xml"
_ENCRYPTED = "META-INF/encryption.xml"
_PAGE = re.compile(r"\.x?html?(?:#.*)?$", re.IGNORECASE)


def parse(source: Source) -> Document:
    """Return a book as a document; links within the book are left out, and chapters without text, such as covers.

    The title comes from the book's properties, else from the first heading of level 1, else from the file's stem.
    Raises Unreadable.
    """
    with parser_errors("EPUB"):
        archive = Archive(source)
        place = next(archive.xml(_PACKAGE).iter("{*}rootfile")).get("full-path")
        package = archive.xml(place)
        names = list(_chapters(package, posixpath.dirname(place), archive.names))
        if set(names) & _encrypted(archive):
            raise Unreadable("is encrypted", "Leave it out, or bring a copy without protection.")
        chapters, warnings = [], []
        for name in names:
            try:
                chapters.append(html.parse(replace(source, data=archive.read(name))))
            except KeyError:
                warnings.append(f"has no part {name}, which it lists as a chapter")
            except Unreadable as error:
                if error.message != "has no text":
                    warnings.append(f"has the chapter {name}, which {error.message}")
        title = title_in(package, f"{{*}}metadata/{TITLE}")
    if not chapters:
        raise Unreadable("has no text", "Leave it out, or write something into it.")
    book = join(chapters)
    return replace(book, title=title or book.title, links=(), warnings=(*book.warnings, *warnings))


def _chapters(package: Element, folder: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the parts in the order of reading, each once, without the table of contents.

    Without an order it is that of the list of all parts.
    """
    known = {name.casefold(): name for name in names} | {name: name for name in names}
    pages = {
        item.get("id"): _part(item.get("href", ""), folder, known)
        for item in package.iterfind("{*}manifest/{*}item")
        if _is_page(item) and "nav" not in item.get("properties", "").split()
    }
    listed = dict.fromkeys(item.get("idref") for item in package.iterfind("{*}spine/{*}itemref")) or pages
    return (pages[id_] for id_ in listed if id_ in pages)


def _is_page(item: Element) -> bool:
    """Return whether a part is a page, by its type or its name: some books state a general type, old ones their own."""
    stated = item.get("media-type", "")
    return "html" in stated or "oeb1-document" in stated or _PAGE.search(item.get("href", "")) is not None


def _part(href: str, folder: str, known: Mapping[str, str]) -> str:
    """Return the part that a book means: some write names unquoted, with backslashes, in capitals or with a place."""
    paths = [path.replace("\\", "/") for path in (unquote(href), href, unquote(href.partition("#")[0]))]
    places = [posixpath.normpath(posixpath.join(folder, path)) for path in paths]
    return next((known[form] for place in places for form in (place, place.casefold()) if form in known), places[0])


def _encrypted(archive: Archive) -> set[str]:
    """Return the parts that are encrypted; mere fonts often are."""
    if _ENCRYPTED not in archive.names:
        return set()
    return {unquote(item.get("URI", "")) for item in archive.xml(_ENCRYPTED).iter("{*}CipherReference")}
