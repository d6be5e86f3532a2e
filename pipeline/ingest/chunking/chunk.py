"""The chunker: cuts documents into chunks along their structure, measured in the embedder's tokens."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from pipeline.errors import ConfigurationError
from pipeline.ids import node_id
from pipeline.ingest.chunking.sections import Packer, SectionCutter
from pipeline.ingest.chunking.tokens import TokenMap, TokenOffsets, token_maps
from pipeline.records import BlockKind, Chunk, Document
from pipeline.text.outline import Section, outline
from pipeline.text.prose import trimmed

_VERSION = "structure-1"
_BATCH_DOCUMENTS = 64  # tokenised together; these two bound memory; chosen by hand, not measured
_BATCH_CHARACTERS = 500_000
# at the start of a text a tokenizer may join the space to the first word, or insert a space: a few tokens' difference
_BOUNDARY_TOKENS = 4
_NEWLINE = re.compile("\n")

MeasuredSpan = tuple[int, int, int]
"""A span of text as (start, end, tokens)."""


class Chunker:
    """Cuts documents into chunks of at most ``max_tokens`` that share up to ``overlap`` tokens of whole sentences.

    A text that fits is a single chunk. A longer text is cut between sections, else between blocks, sentences, or words.
    Code and tables stay whole if they fit. Overlap never crosses a heading. Thread-safe if ``token_offsets`` is.

    Raises ConfigurationError if ``max_tokens`` is under 1, or if ``overlap`` is negative or over half of it.
    """

    def __init__(self, token_offsets: TokenOffsets, max_tokens: int, overlap: int) -> None:
        if max_tokens < 1:
            raise ConfigurationError(f"max_tokens is {max_tokens}", "Set it to 1 or more; 256 suits most models.")
        if not 0 <= overlap <= max_tokens // 2:
            raise ConfigurationError(
                f"overlap is {overlap} with max_tokens {max_tokens}", "Set it from 0 to half of max_tokens."
            )
        self._token_offsets = token_offsets
        self.max_tokens = max_tokens
        self.overlap = overlap

    @property
    def fingerprint(self) -> str:
        """Identity of the chunker, apart from the tokenizer; a corpus holds chunks of a single fingerprint."""
        return f"{_VERSION}:max={self.max_tokens}:overlap={self.overlap}"

    def chunk_all(self, documents: Iterable[Document], corpus_id: str) -> Iterator[list[Chunk]]:
        """Yield the chunks of each document in turn, with ids for this corpus; none for a blank text.

        To tokenise many together takes about half the time.
        """
        for batch in batched(documents, _BATCH_DOCUMENTS, _BATCH_CHARACTERS):
            stretches = [
                (document.text, *trimmed(document.text, document.body_start, len(document.text))) for document in batch
            ]
            maps = token_maps(stretches, self._token_offsets)
            for document, (_, start, end), tokens in zip(batch, stretches, maps, strict=True):
                root = outline(document)
                spans = self._spans(document, start, end, root, tokens)
                headings = _Headings(root, document.title)
                yield _chunks(document, corpus_id, headings, [*self._summary(document), *spans])

    def _summary(self, document: Document) -> list[MeasuredSpan]:
        """Return the span of the summary in the front matter, if the document has one."""
        start, end = trimmed(document.text, *document.summary)
        if start == end:
            return []
        (tokens,) = self._token_offsets([document.text[start:end]])
        return list(self._cut_again(document.text, start, end, len(tokens)))

    def _spans(self, document: Document, start: int, end: int, root: Section, tokens: TokenMap) -> list[MeasuredSpan]:
        if start == end:
            return []
        text, size = document.text, tokens.count(start, end)
        if size > self.max_tokens or document.apart:
            cutter = SectionCutter(text, Packer(tokens, self.max_tokens, self.overlap))
            sections = _outermost(root) if document.apart else [root]
            spans = [trimmed(text, span.start, span.end) for section in sections for span in cutter.cut(section)]
            return list(self._measured(text, spans, tokens))
        return [(start, end, size)] if tokens.exact else list(self._measured(text, [(start, end)], tokens))

    def _measured(self, text: str, spans: list[tuple[int, int]], tokens: TokenMap) -> Iterator[MeasuredSpan]:
        """Yield each span with its size; cut a span again if, tokenised alone, it exceeds the limit.

        Tokens of a word don't depend on its context, except for the start of the text. So only spans that are nearly
        full, or that begin or end inside a word, are tokenised again.
        """
        for at in range(0, len(spans), _BATCH_DOCUMENTS):
            sized = [(start, end, tokens.count(start, end)) for start, end in spans[at : at + _BATCH_DOCUMENTS]]
            safe = 0 if tokens.divided else self.max_tokens - _BOUNDARY_TOKENS
            uncertain = [span for span in sized if span[2] > safe or _splits_word(text, *span[:2])]
            offsets = self._token_offsets([text[start:end] for start, end, _ in uncertain]) if uncertain else []
            sizes = dict(zip(uncertain, map(len, offsets), strict=True))
            for span in sized:
                yield from self._cut_again(text, *span[:2], sizes.get(span, span[2]))

    def _cut_again(self, text: str, start: int, end: int, size: int) -> Iterator[MeasuredSpan]:
        """Yield ``text[start:end]`` if its ``size`` is within the limit or it can't be cut; else yield its halves."""
        if size > self.max_tokens:
            (tokens,) = token_maps([(text, start, end)], self._token_offsets)
            halves = list(tokens.pieces(start, end, max(1, tokens.count(start, end) // 2)))
            if len(halves) > 1:
                yield from self._measured(text, halves, tokens)
                return
        yield start, end, size


def _outermost(root: Section) -> list[Section]:
    """Return the sections right below the root, after what stands before the first."""
    before = [Section(0, (), root.start, root.body[-1].end, root.body)] if root.body else []
    return [*before, *root.children]


def cut(chunker: Chunker, documents: Sequence[Document], corpus_id: str) -> Iterator[tuple[Document, list[Chunk]]]:
    """Yield each document with its chunks: its own if it is prechunked, else the chunker's."""
    chunked = chunker.chunk_all([document for document in documents if not document.prechunked], corpus_id)
    for document in documents:
        yield document, _own_chunks(document, corpus_id) if document.prechunked else next(chunked)


def _own_chunks(document: Document, corpus_id: str) -> list[Chunk]:
    spans = [(chunk.start, chunk.end, 0) for chunk in document.prechunked]
    chunks = _chunks(document, corpus_id, None, spans)
    given = [chunk.metadata for chunk in document.prechunked]
    return [replace(chunk, metadata=metadata) for chunk, metadata in zip(chunks, given, strict=True)]


def _splits_word(text: str, start: int, end: int) -> bool:
    return not ((start == 0 or text[start - 1].isspace()) and (end == len(text) or text[end].isspace()))


def batched(documents: Iterable[Document], count: int, characters: int) -> Iterator[list[Document]]:
    """Yield the documents in order, in batches of at most ``count`` documents and about ``characters``."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.text)
        if len(batch) == count or size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def chunk_id(corpus_id: str, document_key: str, text: str, occurrence: int) -> str:
    """Return a chunk's id; ``occurrence`` counts equal texts in the document, from 0."""
    return node_id(corpus_id, document_key, text, str(occurrence))


class _Headings:
    def __init__(self, root: Section, title: str) -> None:
        self._title = title
        self._bodies = sorted(_bodies(root))
        self._starts = [start for start, _, _ in self._bodies]

    def shared_by(self, start: int, end: int) -> str:
        """Return the common beginning of the paths of all sections with text in ``start:end``, joined."""
        first = max(0, bisect_right(self._starts, start) - 1)
        touched = self._bodies[first : bisect_left(self._starts, end)]
        paths = [path for _, has_text, path in touched if has_text] or [path for _, _, path in touched]
        levels = [set(names) for names in zip(*paths, strict=False)]
        shared = [names.pop() for names in takewhile(lambda names: len(names) == 1, levels)]
        return " > ".join(shared[1:] if shared and shared[0] == self._title else shared)


def _bodies(section: Section) -> Iterator[tuple[int, bool, tuple[str, ...]]]:
    """Yield (start, whether it holds more than its heading, path) of each section with blocks of its own."""
    if section.body:
        has_text = any(block.kind is not BlockKind.HEADING for block in section.body)
        yield section.body[0].start, has_text, section.path
    for child in section.children:
        yield from _bodies(child)


def _chunks(
    document: Document, corpus_id: str, headings: _Headings | None, spans: Iterable[MeasuredSpan]
) -> list[Chunk]:
    newlines = [match.start() for match in _NEWLINE.finditer(document.text)]
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for start, end, size in spans:
        text = document.text[start:end]
        # a summary that stands before the text of the file is given its first line
        first, last = (max(1, bisect_left(newlines, at) + 1 + document.line_offset) for at in (start, end))
        heading = headings.shared_by(start, end) if headings else ""
        id_ = chunk_id(corpus_id, document.key, text, seen[text])
        chunks.append(
            Chunk(id_, document.key, len(chunks), text, document.title, heading, start, end, first, last, size)
        )
        seen[text] += 1
    return chunks
