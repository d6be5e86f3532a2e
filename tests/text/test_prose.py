"""Prose: what is blanked out of a passage, and that every other character keeps its place; where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.prose import counted, one_line, prose, sentences


def lines(text: str) -> list[str]:
    """The words of the prose of a text, line by line; lines without any are left out."""
    return [" ".join(line.split()) for line in prose(text).splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("One.\n\n```python\nx = Code\n\ny\n```\n\nTwo.", ["One.", "Two."], id="fenced"),
        pytest.param("One.\n\n````md\n```py\nCode\n```\n````\n\nTwo.", ["One.", "Two."], id="a longer fence"),
        pytest.param("> One.\n> ```py\n> Code\n> ```\n> Two.", ["> One.", "> Two."], id="in a quotation"),
        pytest.param("- One.\n  ```py\n  Code\n  ```\n  Two.", ["- One.", "Two."], id="in a list"),
        pytest.param("One:\n```\nCode\n```\nTwo.", ["One:", "Two."], id="right below a line"),
        pytest.param("One:\n```\nCode\n```\n\nTwo:\n```\nCode\n```", ["One:", "Two:"], id="two right below lines"),
        pytest.param("Code = 1\n```\n\nTwo.", ["Two."], id="it begins inside"),
        pytest.param("Code\n```\nTwo.\n```py\nCode\n```\nThree.", ["Two.", "Three."], id="inside, and another"),
        pytest.param("One.\n\n```python\nCode\n\nCode", ["One."], id="it ends inside"),
        pytest.param("One.\n\n```\nCode\n\nCode", ["One."], id="it ends inside, without a language"),
        pytest.param("One.\n\n~~~\nCode\n}\n~~~\n\nTwo.", ["One.", "Two."], id="tildes"),
        pytest.param("One.\n\n~~~py\nCode\n~~~\n\nTwo.", ["One.", "Two."], id="tildes with a language"),
    ],
)
def test_fenced_code_is_blanked(text: str, kept: list[str]) -> None:
    assert lines(text) == kept


@pytest.mark.parametrize("text", ["Title\n~~~~~\n\nOne.", "API\n~~~\n\nOne.", "```code``` in a line\n\nOne."])
def test_underlines_and_code_in_a_line_are_no_fences(text: str) -> None:
    assert prose(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("One.\n\n| A | B |\n|---|:-:|\n| C | d |\n\nTwo.", ["One.", "Two."], id="Markdown"),
        pytest.param("One.\n\nA | B\n--- | ---\nC | d\n\nTwo.", ["One.", "Two."], id="Markdown without outer bars"),
        pytest.param(
            "One.\n\n+---+---+\n| A | B |\n+===+===+\n| C | d |\n+---+---+\n\nTwo.", ["One.", "Two."], id="grid"
        ),
        pytest.param("One.\n\n== ==\nA  B\n== ==\nC  d\n\nE  f\n== ==\n\nTwo.", ["One.", "Two."], id="simple"),
        pytest.param("One.\n\n=  =\nC  d\n=  =\n\nTwo.", ["One.", "Two."], id="simple without a head"),
        pytest.param("== ==\nA  B\n== ==\n\nTwo.\n\n== ==\nA  B\n== ==", ["Two."], id="two simple ones"),
    ],
)
def test_tables_are_blanked(text: str, kept: list[str]) -> None:
    assert lines(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("---\ntitle: A\ntags: [B]\n---\n\nOne.", ["One."], id="front matter"),
        pytest.param("One <!-- A\nB --> two.", ["One", "two."], id="a comment"),
        pytest.param("One. <!-- A\nB", ["One."], id="a comment that goes on"),
        pytest.param("<a href=\"A\" id='B'>One</a><br/> two.", ["One two."], id="tags"),
        pytest.param("One. <script>A</script> Two. <style>B</style>", ["One. Two."], id="a script and a style"),
        pytest.param('{{< note "A" >}}One.{{< /note >}} {{% B %}}', ["One."], id="Hugo"),
        pytest.param("{% if A %}One {{ B.c }}{# C #}{% endif %} two.", ["One two."], id="Jinja"),
        pytest.param("## One {#A .b}\n\nTwo.{: target=B }", ["## One", "Two."], id="attributes"),
        pytest.param('!!! note "A"\n    One.', ["One."], id="an admonition of MkDocs"),
        pytest.param("??? tip\n    One.", ["One."], id="a folded one of MkDocs"),
        pytest.param("::: tip A\nOne.\n:::", ["One."], id="a container"),
        pytest.param("/// warning | A\nOne.\n///", ["One."], id="a block of Python Markdown"),
        pytest.param("> [!NOTE]\n> One.", ["> One."], id="an alert of GitHub"),
        pytest.param('[One](a/B.md "A") and ![two](C.png)', ["[One] and ![two]"], id="targets of links"),
    ],
)
def test_markup_is_blanked_and_the_words_in_it_stay(text: str, kept: list[str]) -> None:
    assert lines(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param(
            "One.\n\n.. code-block:: python\n   :caption: A\n\n   Code\n\n   Code\n\nTwo.", ["One.", "Two."], id="code"
        ),
        pytest.param("One.\n\n.. testcode::\n\n   Code\n\nTwo.", ["One.", "Two."], id="tested code"),
        pytest.param(".. note:: One.\n   Two.", ["One.", "Two."], id="a note"),
        pytest.param(".. note::\n\n   One.\n\n   Two.", ["One.", "Two."], id="a note on lines of its own"),
        pytest.param(".. versionadded:: 3.1\n   One.", ["One."], id="another directive"),
        pytest.param(".. glossary::\n   :sorted:\n\n   One\n      Two.", ["One", "Two."], id="another with options"),
        pytest.param(".. _A:\n\nOne.\n\n.. B goes here", ["One."], id="a target and a comment"),
        pytest.param("One::\n\n    Code\n\n    Code\n\nTwo.", ["One::", "Two."], id="literal text"),
    ],
)
def test_directives_are_blanked_and_the_prose_below_them_stays(text: str, kept: list[str]) -> None:
    assert lines(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# One\n\nAda (born 1815) met *Babbage*; she wrote: {notes} & more.\n\n- two\n",
        "Let x < y, a == b and c > d: 1 | 2.",
        "Is it so?! Yes... it is -- and std::vector is too.",
        "---\nAda says: one.\n\n---\n",
        "Unclosed {{ and {% and {# stay.",
    ],
)
def test_prose_stays_as_it_is(text: str) -> None:
    assert prose(text) == text


def test_a_tag_that_is_named_hides_nothing_after_it() -> None:
    assert lines("The `<script>` and `<!--` of Ada.") == ["The ` ` and `<!--` of Ada."]


MARKS = "``` ~~~ | + - = < > </ <!-- --> <script> {{ }} {% %} {# } ]( ) [! :: .. !!! ::: /// --- == A a.b".split()
TEXTS = st.lists(st.sampled_from([*MARKS, " ", "   ", "\n", "\n\n", ".. note::", ".. code::", "| A |", "```py"])).map(
    "".join
) | st.text(max_size=200)


@given(TEXTS)
def test_every_character_is_kept_or_blanked_in_its_place(text: str) -> None:
    read = prose(text)

    assert len(read) == len(text)
    assert all(new == old or (new == " " and not old.isspace()) for new, old in zip(read, text, strict=True))


@given(st.text(alphabet="Aé東1 \n\t,;'\"-()*_#", max_size=200))
def test_a_text_without_markup_is_its_own_prose(text: str) -> None:
    assert prose(f"A{text}") == f"A{text}"


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "::\n\n", "---\na: b\n"])
@pytest.mark.parametrize(
    "mark",
    [
        *("= ", "= =", "== ==\n", "== ==\nx\n", "|", "|\n", "| ", "a|\n", "-|", "a|\n-", "+-", "-"),
        *("<", "<a ", "<!--", "<script", "{", "{{", "{{ ", "{%", "{#", "{:", "`", "```\n", "```a\n", "~~~\n", "~"),
        *("..", ".. ", ".. \n", ".. code::\n a\n\n", ".. a\n  :b: c\n", "::\n", "::\n\n", "::\n\n a\n", "---\n"),
        *("](", "](a ", "> [!", "> ", ">", " ", "  \n", "\n", "!!!", "///", ":::"),
    ],
)
def test_hostile_texts_are_read_to_their_end(mark: str, before: str) -> None:
    text = (before + mark * 100_000)[:100_000]

    assert len(prose(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "longest", "line"),
    [
        ("a\n b\tc ", None, "a b c"),
        ("a\n b", 3, "a b"),
        ("a  b c", 4, "a b…"),
        ("", 5, ""),
        ("how deep the water will be", 12, "how deep…"),
        ("how deep the water will be", 13, "how deep the…"),
        ("how unfathomable", 10, "how unfat…"),
        ("水深水深水深", 4, "水深水…"),
    ],
)
def test_one_line_is_cut_at_its_longest(text: str, longest: int | None, line: str) -> None:
    assert one_line(text, longest) == line


def test_a_number_of_things_has_their_plural() -> None:
    assert [counted(n, "note") for n in (0, 1, 2000)] == ["0 notes", "1 note", "2,000 notes"]
    assert counted(2, "memory", "memories") == "2 memories"


@pytest.mark.parametrize(
    "expected",
    [
        ["One sentence.", "Another one!", "A third?"],
        ["Dr. Smith met Mr. J. R. Jones at 5 p.m. sharp.", "They left."],
        ["See Fig. 3 and Eq. 4, i.e. the plots.", "Nothing else."],
        ["He said “stop.”", "Then he left."],
        ["It cost 3.14 dollars.", "(Too much.)", "Really."],
        ["This was shown by Smith et al. (2010) in Nature.", "We agree."],
        ["Das gilt z.B. für Graphen usw. und Bäume.", "Es ist bekannt."],
        ["Il s'agit de M. Dupont.", "Il arrive."],
        ["¿Quién viene?", "¡Nadie!", "Es verdad."],
        ["今日は晴れです。", "明日は雨でしょう！", "本当？"],
        ["他说：“你好。”", "然后走了。"],
        ["यह पहला वाक्य है।", "यह दूसरा है।"],
        ["هل أنت هنا؟", "نعم."],
        ["Это первое, т.е. главное.", "Это второе."],
        ["Wait... what?", "No."],
    ],
)
def test_sentences_are_told_apart(expected: list[str]) -> None:
    text = "".join(expected) if any(sign in expected[0] for sign in "。") else " ".join(expected)

    assert [text[start:end] for start, end in sentences(text, 0, len(text))] == expected


def test_list_items_are_sentences_of_their_own() -> None:
    text = "* one item\n  goes on\n* another\n1. First thing\n2. Second thing"

    found = [text[start:end] for start, end in sentences(text, 0, len(text))]

    assert found == ["* one item\n  goes on", "* another", "1. First thing", "2. Second thing"]


def test_only_the_stretch_that_is_asked_for_is_cut() -> None:
    text = "Before. One. Two. After."

    assert [text[start:end] for start, end in sentences(text, 8, 17)] == ["One.", "Two."]
