"""Formats of files, recognised by name: HopRank's own, and those of installed packages.

A format of HopRank's is a module of ``parsers``, and a row in ``_SUFFIXES``. The module has a function ``parse``, from
a :class:`Source` to a document, or for files of text a function ``structure``, from a document with the text to one
with its blocks too. A package brings a format by an entry point of the group ``hoprank.formats``: its name is the
suffix without the dot, its value a function that takes a :class:`Source` and returns Markdown, or a :class:`Document`
with blocks and links.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import Any

from pipeline.code.languages import language_of
from pipeline.files import Unreadable
from pipeline.files.remote import AnyPath
from pipeline.ingest.sources.source import Parse, Source
from pipeline.records import Document
from pipeline.registry import entry_points

GROUP = "hoprank.formats"
"""The group of entry points by which an installed package brings a format."""

LINES = "jsonl"
"""The format with a document per line."""

TABLE = "parquet"
"""The format with a document per row; files of all but these two hold a single document."""

MANY = frozenset((LINES, TABLE))
"""The formats with many documents a file, each with an id of its own."""

CODE = "code"
"""The format of source code, which is read on request."""

_SUFFIXES = {
    "text": ".txt .text",
    "markdown": ".md .markdown .mdx .mdc",
    "rst": ".rst",
    "org": ".org",
    "latex": ".tex .ltx",
    "asciidoc": ".adoc .asciidoc",
    "html": ".html .htm .xhtml .xht",
    "pdf": ".pdf",
    "docx": ".docx .docm .dotx",
    "pptx": ".pptx .pptm .ppsx .potx",
    "ipynb": ".ipynb",
    "csv": ".csv .tsv",
    "xlsx": ".xlsx .xlsm .xlsb .xls .ods",
    "odt": ".odt .ott .odp",
    "epub": ".epub",
    "mail": ".eml .emlx .mbox .mbx .mht .mhtml",
    "subtitles": ".srt .vtt",
    LINES: ".jsonl",
    TABLE: ".parquet",
}
_MODULES = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_NAMED = {".yaml": "data", ".yml": "data", ".json": "data", ".toml": "data", ".log": "text"}
"""Suffixes of files that are documents only where they are named: elsewhere they are mostly settings and logs."""

_MARKUPS = frozenset({"org", "asciidoc", "latex"})
"""Formats that one module reads, by a table of their patterns."""

_BOUNDED = frozenset({"pdf", "docx", "html", "csv", "xlsx", "pptx", "odt", "epub", "mail", "ipynb"})
_TEXT_FILES = frozenset(
    "AUTHORS CHANGELOG CHANGES CONTRIBUTING COPYING LICENCE LICENSE NEWS NOTICE README TODO".split()
)


def format_of(path: AnyPath, *, code: bool = True, named: bool = True) -> str:
    """Return the name of the format of ``path``. Raises Unreadable if it isn't read.

    Source code is read with ``code``, and data if the caller ``named`` the file.
    """
    name = _MODULES.get(path.suffix.lower()) or ("text" if path.name in _TEXT_FILES else "")
    if not name and language_of(path.name):
        if not code:
            raise Unreadable(
                "is source code, read only with --set sources.code=true", "Set it, or name the file itself."
            )
        return CODE
    if not name and path.suffix.lower() in _brought():
        return path.suffix.lower()
    if not name and path.suffix.lower() in _NAMED:
        if not named:
            raise Unreadable(
                f"has the suffix {path.suffix}, which is read only if you name the file itself", "Name it."
            )
        return _NAMED[path.suffix.lower()]
    if not name:
        kind = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise Unreadable(
            f"has {kind}, which isn't read", f"Convert it to one of {' '.join([*_MODULES, *_NAMED, *_brought()])}."
        )
    return name


def markup_of(suffix: str) -> str | None:
    """Return the name of the markup that texts with this suffix are in, such as Markdown; None for others."""
    name = _MODULES.get(suffix)
    return name if name in _MARKUPS or name in ("markdown", "rst") else None


def parser_of(name: str) -> Parse:
    """Return the parser of the format ``name``; its library is imported only when a file needs it."""
    if name in _brought():
        return lambda source: _parse_by(_brought()[name], source)
    if name in _MARKUPS:
        return partial(_parse_text, structure_of(name))
    module = import_module(f"pipeline.ingest.sources.parsers.{name}")
    parse: Parse = module.parse if hasattr(module, "parse") else partial(_parse_text, module.structure)
    return parse


def structure_of(name: str) -> Callable[[Document], Document]:
    """Return what gives a document of the text format ``name`` its blocks and links."""
    if name in _MARKUPS:
        return partial(import_module("pipeline.ingest.sources.parsers.markup").structure, name)
    structure: Callable[[Document], Document] = import_module(f"pipeline.ingest.sources.parsers.{name}").structure
    return structure


def _parse_text(structure: Callable[[Document], Document], source: Source) -> Document:
    text, warning = import_module("pipeline.ingest.sources.parsers.encodings").decoded_text(source.data)
    document = structure(Document(source.key, "", text, path=source.path))
    warnings = (warning, *document.warnings) if warning else document.warnings
    return replace(document, title=document.title or source.stem, warnings=warnings)


def is_bounded(name: str) -> bool:
    """Return whether files of a format are parsed in a process of its own, as those of other packages all are."""
    return name in _BOUNDED or name in _brought()


@cache
def _brought() -> dict[str, Any]:
    """Entry points of other packages by suffix; of two with one suffix the first by the name of its function counts."""
    return {f".{point.name.lower()}": point for point in reversed(entry_points(GROUP))}


def _parse_by(point: Any, source: Source) -> Document:
    """Return the document that the reader of another package makes of a file; its faults cost the file alone."""
    try:
        found = point.load()(source)
        if isinstance(found, Document):
            return _checked(replace(found, key=source.key, path=source.path))
        return parser_of("markdown")(replace(source, data=found.encode()))
    except (Unreadable, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        package, problem = point.dist.name, str(error).strip().split("\n")[0][:200]
        raise Unreadable(
            f"can't be read by the package {package} ({type(error).__name__}: {problem})",
            f"Leave it out, update the package, or remove it: pip uninstall {package}.",
        ) from error


def _checked(document: Document) -> Document:
    """Return a document whose blocks are in order and within its text; raises ValueError for another."""
    ends = [0, *(place for block in document.blocks for place in (block.start, block.end)), len(document.text)]
    if ends != sorted(ends):
        raise ValueError("its blocks overlap, or reach beyond its text")
    return document
