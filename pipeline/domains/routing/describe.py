"""Describe a project by its own files: its summary, and the names that others use for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.code.manifests import is_manifest, read_manifest
from pipeline.code.records import Manifest
from pipeline.errors import SourceError
from pipeline.ingest.sources import read
from pipeline.records import BlockKind, Document
from pipeline.text.prose import prose

_LONGEST_SUMMARY = 400
_LONGEST_MANIFEST = 1_000_000
"""Bytes: a larger file is generated."""

_FEWEST_WORDS = 5
"""Words of a paragraph that says something: badges, titles and menus have fewer."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_MARKS = re.compile(r"[*`\[\]]|^>+ ?|(?<!\w)_|_(?!\w)", re.MULTILINE)
_READMES = ("readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme")
_NO_PACKAGES = {"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "scripts", "tools", "build"}


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a project by its files; both fields are empty if they say nothing.

    ``aliases`` are in order, each once.
    """

    summary: str = ""
    aliases: tuple[str, ...] = ()


def describe(folder: Path) -> Description:
    """Return the description of the project in a folder; a file gives none.

    The summary is that of the manifests at its top, else the first paragraph of its README. The aliases are the names
    of the packages that these manifests declare, and of the Python packages at the top and in ``src``.
    """
    if not folder.is_dir():
        return Description()
    manifests = list(_manifests(folder))
    stated = next((one.description for one in manifests if one.description), "")
    names = [one.name for one in manifests if one.name]
    return Description(
        _shortened(stated or _first_paragraph(folder)), tuple(dict.fromkeys([*names, *_python_packages(folder)]))
    )


def _manifests(folder: Path) -> Iterator[Manifest]:
    for path in _files(folder):
        if is_manifest(path.name) and (text := _text(path)):
            manifest = read_manifest(path.name, text)
            if manifest:
                yield manifest


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _LONGEST_MANIFEST else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _python_packages(folder: Path) -> Iterator[str]:
    for parent in (folder, folder / "src"):
        for path in _folders(parent):
            if path.name not in _NO_PACKAGES and (path / "__init__.py").is_file():
                yield path.name


def _first_paragraph(folder: Path) -> str:
    by_name = {path.name.lower(): path for path in _files(folder)}
    readme = next((by_name[name] for name in _READMES if name in by_name), None)
    if readme is None:
        return ""
    try:
        documents = list(read([str(readme)]))
    except SourceError:
        return ""
    return next((text for one in documents if isinstance(one, Document) for text in _paragraphs(one)), "")


def _paragraphs(document: Document) -> Iterator[str]:
    """Yield the paragraphs that say something, as prose in one line."""
    text = prose(document.text)
    for block in document.blocks:
        paragraph = " ".join(_MARKS.sub("", text[block.start : block.end]).split())
        if block.kind is BlockKind.PARAGRAPH and len(_WORD.findall(paragraph)) >= _FEWEST_WORDS:
            yield re.sub(r" (?=[.,;:!?])", "", paragraph)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SUMMARY else line[:_LONGEST_SUMMARY].rpartition(" ")[0] + "…"


def _files(folder: Path) -> list[Path]:
    return [path for path in _children(folder) if path.is_file()]


def _folders(folder: Path) -> list[Path]:
    return [path for path in _children(folder) if path.is_dir()]


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
