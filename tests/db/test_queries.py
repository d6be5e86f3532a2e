"""The loader of named queries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.db.queries import Query, load_queries, parse_fragments, parse_queries
from pipeline.resources import resource_folder


def parsed(source: str) -> list[Query]:
    """The queries of a file, which may use its fragments."""
    path = Path("some.cypher")
    fragments = {fragment.name: fragment for fragment in parse_fragments(source, path)}
    return list(parse_queries(source, path, fragments))


def refusal(source: str) -> str:
    with pytest.raises(ValueError, match=r"some\.cypher") as caught:
        parsed(source)
    return str(caught.value)


def test_a_query_is_read_with_its_header() -> None:
    one, other = parsed(
        "// A file may say something first.\n\n"
        "// name: first\n// mode: read\n// params: key, limit\n// names: index\n// What it does.\n// And more.\n"
        "MATCH (n:<index> {key: $key})\n// a remark\nRETURN n LIMIT $limit;\n\n"
        "// name: second\n// mode: write\n// Deletes.\nMATCH (n) DELETE n;\n"
    )

    assert (one.name, one.mode, one.params, one.names) == (
        "first",
        "read",
        frozenset({"key", "limit"}),
        frozenset({"index"}),
    )
    assert one.documentation == "What it does. And more."
    assert one.text_with({"index": "People_1"}).startswith("MATCH (n:People_1 {key: $key})")
    assert (other.name, other.params, other.names) == ("second", frozenset(), frozenset())


HEADER = "// name: q\n// mode: read\n"


def test_a_file_may_begin_with_comments_that_look_like_cypher() -> None:
    (query,) = parsed(
        "// (:HopRankChunk {id})-[:PART_OF]->(:HopRankDocument)\n//\n\n//   $key <label>\n"
        + HEADER
        + "// Docs.\nRETURN 1"
    )

    assert (query.documentation, query.text) == ("Docs.", "RETURN 1")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (HEADER + "// Docs.\nRETURN $key", "params declares [] and uses ['key']"),
        (HEADER + "// params: key\n// Docs.\nRETURN 1", "params declares ['key'] and uses []"),
        (HEADER + "// Docs.\nMATCH (n:<label>) RETURN n", "names declares [] and uses ['label']"),
        (HEADER + "// names: label\n// Docs.\nRETURN 1", "names declares ['label'] and uses []"),
        (HEADER + "// params: key\n// Docs.\nRETURN '$key' // $key", "uses []"),
        (HEADER + "RETURN 1", "documentation"),
        (HEADER + "// Docs.\n", "text"),
        ("// name: q\n// Docs.\nRETURN 1", "mode must be one of read, write, schema"),
        ("// name: q\n// mode: delete\n// Docs.\nRETURN 1", "mode must be one of"),
        ("// Some file.\nMATCH (n)\nRETURN n;\n" + HEADER, "'MATCH (n)' stands before the first header"),
        ("// fragment: near\n// Docs.\na.x < 1", "'near' is no fragment; write it as name(parameter, parameter)"),
        ("// fragment: near(a)\n<a>.x < 1", "near(a) lacks its text or its documentation"),
        ("// fragment: near(a)\n// Docs.\n", "near(a) lacks its text or its documentation"),
        ("// fragment: near(a)\n// Docs.\nb.x < 1", "near(a) must use exactly its parameters"),
        ("// fragment: near(a)\n// Docs.\n<a>.x < <b>", "near(a) must use exactly its parameters"),
        ("// fragment: near(a)\n// Docs.\n<a>.x < $b", "near(a) must use exactly its parameters"),
        ("// fragment: near(a)\n// Docs.\n<a>.x < 1 AND <other(a)>", "near(a) must use exactly its parameters"),
    ],
)
def test_a_query_or_fragment_that_is_not_what_it_says_is_refused(source: str, said: str) -> None:
    assert said in refusal(source)


@pytest.mark.parametrize("source", [HEADER + "// Docs.\nRETURN 1;\n", "// fragment: q(a)\n// Docs.\n<a>.b > 1\n"])
def test_a_name_given_twice_is_refused(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.cypher").write_text(source)
    monkeypatch.setattr("pipeline.db.queries.resource_folder", lambda _: tmp_path)

    with pytest.raises(ValueError, match=r"b\.cypher: the name q is given twice"):
        load_queries.__wrapped__()


NEAR = "// fragment: near(item, place)\n// What it means.\n<item>.x < <place> AND <item>.y < <place>\n\n"


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("<near(n, $place)>", "(n.x < $place AND n.y < $place)"),
        ("NOT <near(n.at, $place)>", "NOT (n.at.x < $place AND n.at.y < $place)"),
        (
            "<near(n, $place)> OR <near(m, n.place)>",
            "(n.x < $place AND n.y < $place) OR (m.x < n.place AND m.y < n.place)",
        ),
    ],
)
def test_a_query_is_read_with_its_fragments(condition: str, read: str) -> None:
    (query,) = parsed(f"{HEADER}// params: place\n// Docs.\nMATCH (n) WHERE {condition} RETURN n\n\n{NEAR}")

    assert query.text == f"MATCH (n) WHERE {read} RETURN n"


def test_a_fragment_of_clauses_stands_without_parentheses() -> None:
    fragment = "// fragment: held(place)\n// What it does.\nMATCH (n {at: <place>})\nWITH n\n\n"

    (query,) = parsed(f"{HEADER}// params: place\n// Docs.\n<held($place)>\nRETURN n\n\n{fragment}")

    assert query.text == "MATCH (n {at: $place})\nWITH n\nRETURN n"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("<far(n, 1)>", "there is no fragment 'far'; known: near"),
        ("<near(n)>", "near takes 2 arguments, not 1"),
        ("<near(n, m, o)>", "near takes 2 arguments, not 3"),
        ("<near(n, 1)>", "near can't be given '1'"),
        ("<near(n, m.a.b)>", "near can't be given 'm.a.b'"),
        ("<near(n, coalesce(m))>", "near can't be given 'coalesce(m)'"),
        ("<near(n, 'a')>", """near can't be given "'a'\""""),
    ],
)
def test_a_fragment_that_there_isnt_or_that_takes_other_arguments_is_refused(call: str, said: str) -> None:
    message = refusal(f"{NEAR}{HEADER}// Docs.\nMATCH (n) WHERE {call} RETURN n")

    assert said in message
    assert "q" in message


COMPARISON = re.compile(r"(?<!SET )\b\w+\.(?:since|until)\s*(?:[<>=]|IS\b|IN\b)|(?:[<>=]|IN)\s*\w+\.(?:since|until)\b")


def test_only_fragments_say_what_a_generation_sees() -> None:
    paths = sorted(resource_folder("cypher").rglob("*.cypher"))

    typed = {path.name: COMPARISON.findall(path.read_text(encoding="utf-8")) for path in paths}

    assert not {name: comparisons for name, comparisons in typed.items() if comparisons}
    assert all(COMPARISON.search(text) for text in ("c.since <= $generation", "WHERE c.until=1", "1 < c.since"))


def test_every_write_of_an_ingest_begins_with_the_check_of_its_lease() -> None:
    texts = [path.read_text() for path in (resource_folder("cypher") / "ingest").glob("*.cypher")]

    writes = [section for text in texts for section in text.split("// name: ") if "\n// mode: write\n" in section]

    assert len(writes) > 20
    for write in writes:
        first = next(line for line in write.splitlines()[1:] if not line.startswith(("//", "CYPHER 25")))
        assert first == "<leased($corpus, $writer)>", write


def test_every_fragment_is_used() -> None:
    texts = [path.read_text(encoding="utf-8") for path in resource_folder("cypher").rglob("*.cypher")]
    fragments = [fragment for text in texts for fragment in parse_fragments(text, Path("some.cypher"))]

    assert {"visible"} <= {fragment.name for fragment in fragments}
    assert all(f"<{fragment.name}(" in "".join(texts) for fragment in fragments)


@pytest.mark.parametrize(
    ("identifier", "written"), [("A", "A"), ("A|B_2", "A|B_2"), ("é", "`é`"), ("A|所属", "A|`所属`")]
)
def test_letters_beyond_ascii_are_quoted_and_types_may_be_several(identifier: str, written: str) -> None:
    (query,) = parsed(HEADER + "// names: type\n// Docs.\nMATCH ()-[r:<type>]->() RETURN r")

    assert query.text_with({"type": identifier}) == f"MATCH ()-[r:{written}]->() RETURN r"


@pytest.mark.parametrize("identifier", ["", "1st", "a b", "a`b", "a) DETACH DELETE (n", "A|", "A|b c", "x" * 64, "a\n"])
def test_an_identifier_is_never_more_than_letters_digits_and_underscores(identifier: str) -> None:
    (query,) = parsed(HEADER + "// names: label\n// Docs.\nMATCH (n:<label>) RETURN n")

    with pytest.raises(ValueError, match="label can't be"):
        query.text_with({"label": identifier})


@pytest.mark.parametrize("names", [{}, {"index": "a"}, {"label": "a", "index": "a"}])
def test_exactly_the_declared_names_are_filled(names: dict[str, str]) -> None:
    (query,) = parsed(HEADER + "// names: label\n// Docs.\nMATCH (n:<label>) RETURN n")

    with pytest.raises(ValueError, match=r"takes the names \['label'\]"):
        query.text_with(names)
