"""Where chunks of structured documents begin and end, and what is said of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from pipeline.errors import ConfigurationError
from pipeline.ingest.chunking.chunk import Chunker, chunk_id
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Chunk, Document
from pipeline.text.outline import heading_text


def word_offsets(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """A token a word: limits can be counted by eye."""
    return [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]


def chunks_of(text: str, max_tokens: int, overlap: int = 0, name: str = "markdown") -> list[Chunk]:
    document = parser_of(name)(Source("notes/a-note.md", "notes/a-note.md", text.encode()))
    return next(Chunker(word_offsets, max_tokens, overlap).chunk_all([document], "corpus"))


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def test_a_text_that_fits_is_kept_exactly() -> None:
    text = "\n\n# Title\n\nBody.\n\n---\n\n## Sub\n\nMore.\n\n"

    (chunk,) = chunks_of(text, 50)

    assert chunk.text == text.strip()
    assert (chunk.line_start, chunk.line_end) == (3, 11)


def test_nothing_but_white_space_gives_no_chunk() -> None:
    assert next(Chunker(word_offsets, 10, 0).chunk_all([Document("k", "t", " \n\t\n")], "corpus")) == []


def test_sections_of_level_two_keep_to_themselves() -> None:
    text = f"# T\n\n## A\n\n{words(10)}\n\n## B\n\n{words(10)}\n"

    chunks = chunks_of(text, 20)

    assert [chunk.text.split()[0:4] for chunk in chunks] == [["#", "T", "##", "A"], ["##", "B", "word", "word"]]
    assert [chunk.heading for chunk in chunks] == ["A", "B"]


@pytest.mark.parametrize("limit", [50, 8])
def test_sections_that_are_texts_of_their_own_share_no_chunk(limit: int) -> None:
    text = f"# A\n\none\n\n## Part\n\ntwo\n\n# B\n\nthree\n\n# C\n\n{words(9)}\n"
    document = parser_of("markdown")(Source("a.md", "a.md", text.encode()))

    chunks = next(Chunker(word_offsets, limit, 0).chunk_all([replace(document, title="T", apart=True)], "corpus"))

    assert [re.findall(r"^# (\w)", chunk.text, re.MULTILINE) for chunk in chunks][:3] == [["A"], ["B"], ["C"]]
    assert [chunk.heading for chunk in chunks][:3] == ["A", "B", "C"]
    assert len(next(Chunker(word_offsets, 50, 0).chunk_all([document], "corpus"))) == 1


def test_small_siblings_below_level_two_share_a_chunk() -> None:
    sections = "\n\n".join(f"### S{at}\n\n{words(6)}" for at in range(4))

    chunks = chunks_of(f"# T\n\n## A\n\n{sections}\n", 20)

    assert [re.findall(r"S\d", chunk.text) for chunk in chunks] == [["S0", "S1"], ["S2", "S3"]]
    assert [chunk.heading for chunk in chunks] == ["A", "A"]


def test_a_tiny_section_of_level_two_joins_its_sibling() -> None:
    chunks = chunks_of(f"## A\n\n{words(30)}\n\n## B\n\nshort\n\n## C\n\n{words(30)}\n", 40)

    assert [re.findall("## .", chunk.text) for chunk in chunks] == [["## A", "## B"], ["## C"]]


def test_a_heading_stays_with_what_it_heads() -> None:
    text = f"# T\n\n{words(16)}\n\n## A\n\n### B\n\n{words(15)}\n\n{words(12)}\n"

    chunks = chunks_of(text, 20)

    assert [chunk.heading for chunk in chunks] == ["", "A > B", "A > B"]
    assert chunks[1].text.startswith("## A\n\n### B\n\nword")


def test_the_path_of_headings_leaves_out_the_title_and_markup() -> None:
    text = f"# The *title*\n\n{words(9)}\n\n## `Code` and [links](x.md) ##\n\n### [[note|Alias]]\n\n{words(9)}\n"

    chunks = chunks_of(text, 19)

    assert chunks[0].title == "The title"
    assert [chunk.heading for chunk in chunks] == ["", "Code and links > Alias"]


@pytest.mark.parametrize(
    ("source", "heading"),
    [
        ("## Set up {#set-up .wide}", "Set up"),
        ('## {{% heading "whatsnext" %}}', "whatsnext"),
        ('## Set {{< new >}} up {{< since "2.0" >}}', "Set up 2.0"),
        ('## <a name="x"></a>Set <b>up</b>', "Set up"),
        ("## `<video>` and ``Vec<T>`` {#video}", "<video> and Vec<T>"),
        (":ref:`Set up <set-up>`\n------------------------", "Set up"),
        (":py:class:`Setup` and `docs <https://x.org>`_\n==========", "Setup and docs"),
    ],
)
def test_the_text_of_a_heading_leaves_out_anchors_shortcodes_tags_and_roles(source: str, heading: str) -> None:
    assert heading_text(source) == heading


@pytest.mark.parametrize("mark", ["{", "{{", '{{"', "{{a", "{#", "<a ", "`", "``a", "[a](", "[[a|", ":a"])
def test_a_hostile_heading_is_read_to_its_end(mark: str) -> None:
    assert len(heading_text(f"# {mark * 50_000}")) <= 200
    assert len(heading_text(f"# {mark}{'a' * 50_000}")) <= 200


def test_paragraphs_are_preferred_to_sentences_as_places_to_cut() -> None:
    text = f"{words(7)}. {words(7)}.\n\n{words(9)}. {words(9)}."

    chunks = chunks_of(text, 20)

    assert [chunk.tokens for chunk in chunks] == [14, 18]


def test_sentences_are_preferred_to_words_as_places_to_cut() -> None:
    chunks = chunks_of(f"{words(9)}. {words(9)}. {words(9)}. {words(9)}.", 20)

    assert [chunk.tokens for chunk in chunks] == [18, 18]
    assert all(chunk.text.endswith(".") for chunk in chunks)


def test_words_are_the_last_resort() -> None:
    chunks = chunks_of(words(45), 20)

    assert [chunk.tokens for chunk in chunks] == [15, 15, 15]


def test_a_long_text_leaves_no_tiny_tail() -> None:
    chunks = chunks_of(" ".join([f"{words(4)} end."] * 21), 50)

    assert [chunk.tokens for chunk in chunks] == [35, 35, 35]


def test_overlap_repeats_whole_sentences_within_a_section_only() -> None:
    sentences = " ".join(f"{words(4, f'S{at}')} end." for at in range(8))

    chunks = chunks_of(f"## A\n\n{sentences}\n\n## B\n\n{words(15, 'b')}\n", 20, 6)

    first = [re.findall(r"S\d", chunk.text) for chunk in chunks[:-1]]
    assert all(one[-1] == other[0] for one, other in pairwise(first))
    assert all(chunk.tokens <= 20 for chunk in chunks)
    assert chunks[-1].text.startswith("## B")


def test_a_heading_stays_with_the_beginning_of_a_long_sentence() -> None:
    chunks = chunks_of(f"## A B C\n\n{words(40)}\n", 20)

    assert [chunk.text.startswith("## A B C\n\nword") for chunk in chunks] == [True, False, False]


def test_code_stays_whole_while_it_fits() -> None:
    code = "```python\n" + "\n".join(f"line {at}" for at in range(7)) + "\n```"

    chunks = chunks_of(f"{words(12)}\n\n{code}\n\n{words(12)}\n", 20, 5)

    assert code in [chunk.text for chunk in chunks]


def test_longer_code_is_cut_between_lines_without_overlap() -> None:
    lines = [f"a{at} b c d" for at in range(20)]

    chunks = chunks_of("```\n" + "\n".join(lines) + "\n```\n", 20, 10)

    inside = "\n".join(chunk.text for chunk in chunks).split("\n")
    assert inside == ["```", *lines, "```"]


def test_a_table_stays_whole_while_it_fits() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"

    chunks = chunks_of(f"{words(12)}.\n\n{table}\n\n{words(14)}.\n", 20)

    assert any(table in chunk.text for chunk in chunks)


def test_a_long_word_is_cut_between_its_tokens() -> None:
    def letters(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[(at, at + 1) for at, sign in enumerate(text) if not sign.isspace()] for text in texts]

    chunks = next(Chunker(letters, 10, 0).chunk_all([Document("k", "t", "a" * 25)], "corpus"))

    assert [chunk.tokens for chunk in chunks] == [9, 8, 8]


def test_one_unknown_token_does_not_swallow_a_megabyte() -> None:
    document = Document("k", "t", f"before {'x' * 1_000_000} after")
    chunks = next(Chunker(word_offsets, 20, 0).chunk_all([document], "corpus"))

    assert max(len(chunk.text) for chunk in chunks) < 1000


def test_lines_are_those_of_the_file_with_its_front_matter() -> None:
    (chunk,) = chunks_of("---\ntags: [a]\n---\n\nfirst\nsecond\n", 10)

    assert (chunk.text, chunk.line_start, chunk.line_end) == ("first\nsecond", 5, 6)


def test_the_same_text_twice_has_two_ids() -> None:
    chunks = chunks_of(f"## A\n\n{words(9)}\n\n## A\n\n{words(9)}\n", 11)

    assert chunks[0].text == chunks[1].text
    assert [chunk.id for chunk in chunks] == [
        chunk_id("corpus", "notes/a-note.md", chunks[0].text, occurrence) for occurrence in (0, 1)
    ]


def test_an_id_depends_on_corpus_key_text_and_occurrence_alone() -> None:
    a, b = "a" * 12, "b" * 12
    ids = {chunk_id(*parts) for parts in ((a, "k", "t", 0), (b, "k", "t", 0), (a, "l", "t", 0), (a, "k", "t", 1))}

    assert len(ids) == 4
    assert all(re.fullmatch("[0-9a-f]{20}(a{12}|b{12})", one) for one in ids)


def test_a_word_added_to_one_section_leaves_the_ids_of_the_others() -> None:
    before = chunks_of(f"## A\n\n{words(15)}\n\n## B\n\n{words(15)}\n", 20)
    after = chunks_of(f"## A\n\nnew {words(15)}\n\n## B\n\n{words(15)}\n", 20)

    assert before[0].id != after[0].id
    assert before[1].id == after[1].id


def test_documents_together_give_what_each_gives_alone() -> None:
    documents = [Document(str(at), "t", words(at * 7)) for at in range(100)]
    chunker = Chunker(word_offsets, 20, 5)

    assert list(chunker.chunk_all(documents, "corpus")) == [
        next(chunker.chunk_all([one], "corpus")) for one in documents
    ]


@pytest.mark.parametrize(("max_tokens", "overlap"), [(0, 0), (10, -1), (10, 6)])
def test_limits_that_contradict_each_other_are_refused(max_tokens: int, overlap: int) -> None:
    with pytest.raises(ConfigurationError, match="max_tokens"):
        Chunker(word_offsets, max_tokens, overlap)


def test_the_fingerprint_tells_limits_apart() -> None:
    assert Chunker(word_offsets, 256, 32).fingerprint == "structure-1:max=256:overlap=32"
