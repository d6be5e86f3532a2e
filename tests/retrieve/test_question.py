"""Questions: what is refused, what full text is asked, and which runs of words may be names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import QuestionError
from pipeline.retrieve.question import (
    LONGEST,
    check_question,
    fulltext_query,
    fulltext_terms,
    longest_names,
    possible_names,
    remarks,
)
from pipeline.text.names import Casing, spans, words


def keys(question: str) -> set[str]:
    return {name.key for name in possible_names(question)}


def capitalised(question: str) -> set[str]:
    return {name.key for name in possible_names(question) if name.capitalised}


@pytest.mark.parametrize("question", ["", " ", "\n\t", "\u2028\u00a0"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(QuestionError, match="empty") as caught:
        check_question(question)
    assert caught.value.fix


def test_a_question_is_trimmed_and_mended_and_called_what_its_asker_calls_it() -> None:
    assert check_question("  who? \n") == "who?"
    assert check_question("who\udcff is \ud83d?") == "who? is ??"
    with pytest.raises(QuestionError, match="The task is empty"):
        check_question(" ", "task")


def test_a_question_that_is_a_document_is_read_as_far_as_it_goes(caplog: pytest.LogCaptureFixture) -> None:
    assert check_question("x" * LONGEST) == "x" * LONGEST
    assert not caplog.messages

    assert check_question("x" * 102_400, "task") == "x" * LONGEST
    assert check_question("high tide " * 2_000) == ("high tide " * 1_000).strip()
    assert caplog.messages == [
        "The task has 102,400 characters; its first 10,000 are read.",
        "The question has 19,999 characters; its first 9,999 are read.",
    ]


def test_what_is_cut_is_told_to_all_who_listen_once() -> None:
    with remarks() as all_told:
        with remarks() as told:
            check_question("tide " * 3_000)
            check_question("tide " * 3_000)
        check_question("who?")

    assert all_told == told == ["The question has 14,999 characters; its first 9,999 are read."]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Who designed the engine?", "who designed the engine"),
        ("AND OR NOT", "and or not"),
        ("the the THE", "the^3"),
        ("yard? (yard) 'yard'", "yard^3"),
        ("C++ node.js 3.14 can't", "c node.js node js 3.14 3 14 can't can’t can t"),
        ("max_tokens of Max_Tokens", "max_tokens^2 max^2 tokens^2 of"),
        ("_a_ __init__. don’t", "a init don’t don't don t"),
        ("Ada's O'Brien’s 'x'", "ada's ada s^2 o'brien’s o’brien's o brien x"),
        ("😀👩\u200d👩\u200d👧 \u200d.\u200d ❤\ufe0f", ""),
        ("title:foo a~2 b^3 x*", "title foo a 2 b 3 x"),
        (r"a\b /c/d && e||f !g -h", "a b c d e f g h"),
        ('[a TO b} "c d"', "a to b c d"),
        ("?!... ()", ""),
        ("हिन्दी 東京", 'हिन्दी "東京"'),
    ],
)
def test_operators_are_left_out_and_words_stay_whole(question: str, terms: str) -> None:
    assert fulltext_terms(question) == terms


@pytest.mark.parametrize(
    "question", ["東" * 9999, " ".join(map(str, range(3000))), "-".join(map(str, range(3000))), "a 東b" * 2000]
)
def test_the_terms_are_bounded_by_what_lucene_takes(question: str) -> None:
    words = re.sub(r"\^\d+|\"", "", fulltext_terms(question)).split()

    assert words
    assert len(words) <= 256
    assert sum(1 if word.isascii() else len(word) for word in words) <= 256


@given(st.text(max_size=300))
def test_any_question_has_terms_without_operators(question: str) -> None:
    terms = fulltext_terms(question)
    bare = re.sub(r"(?<=\S)\^[1-9]\d*(?= |\Z)", "", terms)
    # A pair of ideographs is a phrase, and a single syllable the beginning of a pair.
    bare = re.sub(r'(?<!\S)"([^\s\x00-\x7f]{2})"(?!\S)|(?<=[^\s\x00-\x7f])\*(?!\S)', r"\1", bare)

    assert len(terms) <= 5 * len(question.lower())
    assert not any(char in bare for char in '+-&|!(){}[]^"~*?:/\\')
    assert {"AND", "OR", "NOT"}.isdisjoint(terms.split())


def test_a_query_asks_text_title_and_heading_which_weigh_less() -> None:
    assert fulltext_query("Who, who?") == "text:(who^2) title:(who^2)^0.6 heading:(who^2)^0.6 folded:(who^2)"


@pytest.mark.parametrize("question", ["?!", "…", "_ . '"])
def test_a_question_without_words_is_no_query(question: str) -> None:
    assert fulltext_query(question) == ""


@pytest.mark.parametrize(
    ("question", "among", "not_among"),
    [
        (
            "who met Ada in 1833 by route_66",  # a lone word needs a capital or a figure
            {"ada", "1833", "route 66", "met ada in 1833"},
            {"met", "in", "by"},
        ),
        ("Who met ada", {"met", "ada"}, set()),  # without capitals any word may be one
        (
            "where is the lost city of",  # function words neither begin nor end one
            {"lost city"},
            {"is the lost city", "lost city of", "where is the lost city"},
        ),
        ("Did Stephen King write It?", {"it"}, set()),
        ("Are Gila monsters in Two Cities?", {"gila monsters", "gila monster", "two cities", "two city"}, set()),
        ("Where is Paris?", {"paris"}, {"pari"}),
        ("Who was J. R. R. Tolkien?", {"jrr tolkien"}, set()),
        ("Who was J.R.R. Tolkien?", {"jrr tolkien"}, set()),
        ("Who was John F. Kennedy?", {"john f kennedy", "john kennedy"}, set()),
        (
            "Do max_tokens, --verbose, getSize and os.path Work?",
            {"max tokens", "verbose", "getsize", "os path"},
            set(),
        ),
        ("WHO members are which countries?", {"who"}, set()),  # an acronym
        ("Who are the members?", set(), {"who"}),
        ("WHO ARE THE MEMBERS?", set(), {"who"}),
        ("When was Ada Lovelace’s mother in São Paulo?", {"ada lovelace", "sao paulo"}, set()),
    ],
)
def test_which_runs_of_words_may_be_names(question: str, among: set[str], not_among: set[str]) -> None:
    assert among <= keys(question)
    assert keys(question).isdisjoint(not_among)


@pytest.mark.parametrize(
    "question", ["What is in the country of Ada Byron?", "Who is it in the city that he was from, Ada Byron?"]
)
def test_words_of_grammar_and_a_lone_common_word_after_an_article_name_nothing(question: str) -> None:
    assert {key for key in keys(question) if " " not in key} == {"ada", "byron"}


@pytest.mark.parametrize(
    ("question", "known", "names"),
    [
        (
            "Did Ada read the New York Times in New York?",
            ("new york", "new york times", "york", "times", "ada"),
            ["new york times", "new york", "ada"],
        ),
        ("Was York new?", ("new york", "york"), ["york"]),
        ("Who?", ("ada",), []),
        ("Who was John F. Kennedy?", ("john kennedy",), ["john kennedy"]),
        ("Ada and Ada", ("ada",), ["ada"]),
        ("Alpha Beta Gamma", ("alpha beta", "beta gamma"), ["alpha beta"]),
    ],
)
def test_the_longest_known_names_win_then_the_first_and_none_overlap(
    question: str, known: tuple[str, ...], names: list[str]
) -> None:
    assert [name.key for name in longest_names(possible_names(question), dict.fromkeys(known))] == names


@pytest.mark.parametrize(
    ("question", "among", "not_among"),
    [
        ("Did Ada Byron see Rome?", {"ada", "byron", "ada byron", "rome"}, set()),
        ("did Ada Byron see rome?", {"ada byron"}, {"rome", "ada byron see", "byron see rome"}),
        ("the Tower of London and the tower of Pisa", {"tower", "tower of london", "pisa"}, {"tower of pisa"}),
        ("Rust Belt? The Beatles?", {"rust belt", "belt", "beatles"}, {"rust"}),  # the first word says nothing
        ("Rust is what? Go is better.", set(), {"rust", "go"}),
    ],
)
def test_names_are_capitalised_if_all_their_words_but_articles_and_connectors_are(
    question: str, among: set[str], not_among: set[str]
) -> None:
    assert among <= capitalised(question)
    assert capitalised(question).isdisjoint(not_among)


def test_of_a_name_asked_about_twice_the_capitalised_one_counts() -> None:
    (name,) = longest_names(possible_names("Rust or Go? Is Rust old?"), {"rust": None})

    assert name.capitalised
    assert not longest_names(possible_names("Rust or Go?"), {"rust": None})[0].capitalised


def test_no_run_is_longer_than_eight_words_and_long_questions_are_cut() -> None:
    names = possible_names(" ".join(f"Word{number}" for number in range(1000)))

    assert max(name.last - name.first for name in names) == 7
    assert len(names) <= 8 * 200


@given(st.text(max_size=100))
def test_any_question_may_be_looked_through_for_names(question: str) -> None:
    possible = possible_names(question)
    chosen = longest_names(possible, dict.fromkeys(name.key for name in possible))

    assert len(chosen) == len({name.key for name in chosen})
    assert all(len(name.key) > 1 and name.first <= name.last for name in possible)


@pytest.mark.parametrize("language", ["", "german", "swedish"])
@pytest.mark.parametrize(
    "text", ["Dort steht max_buffers.", "Warum 1998?", "Wer schrieb 《渡口纪事》?", "Wo liegt das Kloster Hirlau?"]
)
def test_a_name_has_one_key_in_texts_and_in_questions_of_every_language(text: str, language: str) -> None:
    of_texts = {name.key for name in spans(text, words(text), Casing([]), language)}

    assert of_texts
    assert of_texts <= {name.key for name in possible_names(text, language)}
