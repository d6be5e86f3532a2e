"""PDF: the text of the pages, and the offset of each page."""

import io
import logging
from itertools import accumulate

from pypdf import PdfReader
from pypdf.errors import DependencyError

from pipeline.files import Unreadable, well_formed
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import Document
from pipeline.text.outline import paragraphs

_SEPARATOR = "\n\n"
_LONGEST_TITLE = 120  # characters
_SHORTEST_TITLE = 4  # letters; both chosen by hand, not measured

# pypdf logs every oddity that it works around; an application that wants these messages adds its own handler
logging.getLogger("pypdf").addHandler(logging.NullHandler())


def parse(source: Source) -> Document:
    """Return a PDF as a document with the text of its pages in order, separated by blank lines.

    The title comes from the file's properties, else from the first line if that can be a title, else from the file's
    stem. Raises Unreadable if the file is damaged, needs a password, or holds no text (scans without OCR).
    """
    with parser_errors("PDF"):
        reader = PdfReader(io.BytesIO(source.data))
        # an empty password, as of many files that only forbid printing
        try:
            locked = reader.is_encrypted and not reader.decrypt("")
        except DependencyError:
            locked = True
        if locked:
            raise Unreadable("is encrypted", "Save it without a password, or leave it out.")
        if len(reader.pages) > source.limits.pages:
            raise Unreadable(f"has {len(reader.pages):,} pages", "Split it, or raise sources.max_pages.")
        lines = ((line.rstrip() for line in well_formed(page.extract_text()).split("\n")) for page in reader.pages)
        pages = ["\n".join(page).strip() for page in lines]
        properties = reader.metadata
        title = " ".join((properties.title or "").split()) if properties else ""
    if not any(pages):
        raise Unreadable("has no text", "Run character recognition (OCR) over it first, or leave it out.")
    text = _SEPARATOR.join(pages)
    line = text.lstrip().split("\n", 1)[0].strip()
    # else a page number, or a whole paragraph
    is_title = len(line) <= _LONGEST_TITLE and sum(map(str.isalpha, line)) >= _SHORTEST_TITLE
    return Document(
        key=source.key,
        title=well_formed(title) or (line if is_title else source.stem),
        text=text,
        blocks=tuple(paragraphs(text)),
        path=source.path,
        page_starts=tuple(accumulate((len(page) + len(_SEPARATOR) for page in pages[:-1]), initial=0)),
    )
