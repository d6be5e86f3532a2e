"""A zipped file of XML parts, as office programs write them: its parts, and in Open XML the relations between these."""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element

from pipeline.files import Unreadable, well_formed
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources.source import Source

Element: TypeAlias = _Element

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How a compound file begins: Office of before 2007, and what it encrypts since."""

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
"""A namespace of strict Open XML; the transitional one, which nearly all programs write, has the same elements."""

TITLE = "{http://purl.org/dc/elements/1.1/}title"


class Relation(NamedTuple):
    """A relation of a part: the ``kind`` is the end of its type, the ``target`` a part or an address."""

    kind: str
    target: str


Relations = Mapping[str, Relation]
"""Relations of a part by id, in the order of the file."""


class Archive:
    """The parts of a zipped file. Raises Unreadable if it is encrypted, or would unpack beyond its limits."""

    def __init__(self, source: Source) -> None:
        if source.data.startswith(OLE):
            raise Unreadable("is encrypted, or older than Office 2007", "Save it anew, without a password.")
        self._archive = zipfile.ZipFile(io.BytesIO(source.data))
        entries = self._archive.infolist()
        size = sum(entry.file_size for entry in entries)
        if size > source.limits.bytes_unpacked:
            fix = "Split it, or raise sources.max_unpacked_megabytes."
            raise Unreadable(f"unpacks to {size / MEGABYTE:,.0f} MB", fix)
        self._claimed: set[str] = set()
        # some programs on Windows write backslashes
        self._entries = {entry.filename.replace("\\", "/"): entry for entry in entries}
        self.names = frozenset(self._entries)

    def read(self, name: str) -> bytes:
        """Return the content of a part; raises KeyError if there is none of this name."""
        return self._archive.read(self._entries[name])

    def xml(self, name: str) -> Element:
        """Return the root of a part of XML, without what its entities stand for."""
        # libxml2 refuses elements nested deeper than 256, so whoever walks through them may recurse
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        data = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", self.read(name))
        try:
            return etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
                raise MemoryError from None
            raise

    def claim(self, name: str) -> bool:
        """Return whether there is such a part and no place of the document has it yet.

        A hostile document may show a part a million times.
        """
        is_new = name in self.names and name not in self._claimed
        self._claimed.add(name)
        return is_new

    def relations(self, part: str) -> Relations:
        """Return the relations of a part, those of the package for an empty name."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        if listed not in self.names:
            return {}
        found = {}
        for item in self.xml(listed):
            kind, target = str(item.get("Type", "")).rpartition("/")[2], str(item.get("Target", ""))
            if item.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[str(item.get("Id"))] = Relation(kind, target)
        return found

    def main(self) -> str:
        """Return the name of the part with the document; raises KeyError if there is none."""
        return self._parts()["officeDocument"]

    def title(self) -> str:
        """Return the title in the file's properties, empty if it has none with a letter or a digit."""
        name = self._parts().get("core-properties")
        title = title_in(self.xml(name)) if name in self.names else ""
        return title if any(map(str.isalnum, title)) else ""

    def _parts(self) -> dict[str, str]:
        return {item.kind: item.target for item in self.relations("").values()}


def title_in(properties: Element, path: str = TITLE) -> str:
    """Return the title among properties of Dublin Core; empty if there is none."""
    return well_formed(" ".join((properties.findtext(path) or "").split()))


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace; empty for an entity."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def shown(parent: Element) -> Iterator[Element]:
    """Yield the children of an element; of alternatives for programs of different ages the first with text."""
    for child in parent:
        if local_name(child) == "AlternateContent":
            yield from next(([choice] for choice in child if next(choice.iter("{*}t"), None) is not None), ())
        elif local_name(child):
            yield child


def attribute(element: Element | None, name: str) -> str:
    """Return an attribute of an element by its name without namespace; empty if the element or the attribute lacks."""
    items = () if element is None else element.items()
    return next((value for key, value in items if key.rpartition("}")[2] == name), "")


def description_of(picture: Element) -> str:
    """Return the description in the properties of a picture; a single word is the name of a file, and none."""
    words = attribute(picture, "descr").split()
    return well_formed(" ".join(words)) if len(words) > 1 else ""


def series_of(chart: Element) -> Iterator[str]:
    """Yield a line for each series of a chart: its name, and its values by category, or by the other axis."""
    for series in chart.iter("{*}ser"):
        by = [*_values(series, "cat"), *_values(series, "xVal")]
        values = [*_values(series, "val"), *_values(series, "yVal")]
        pairs = " | ".join(" ".join(pair).strip() for pair in zip_longest(by, values, fillvalue=""))
        yield well_formed(": ".join(filter(None, [" ".join(_values(series, "tx")), pairs])))


def _values(series: Element, name: str) -> Iterator[str]:
    return (value.text or "" for value in series.iterfind(f"{{*}}{name}//{{*}}v"))
