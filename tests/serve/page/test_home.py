"""The explorer's first screen, what it adds, what is said of hits, and graphs: what a newcomer meets."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import docx
import pytest
from playwright.sync_api import Route, expect

from pipeline import HopRank, KnowledgeEdge, KnowledgeNode
from pipeline.db.catalogue import find_corpus
from tests.answer.endpoint import chat_endpoint, says
from tests.serve.page.conftest import WAIT_MILLISECONDS, Open, Service, Serving, check_width
from tests.serve.proxy import proxying

pytestmark = pytest.mark.slow

QUESTION = "Who designed the Analytical Engine?"
HIT = "#hits > .hit:not(.skeleton)"
READER = "reads-alone-000001"


def word_file() -> bytes:
    file, document = BytesIO(), docx.Document()
    document.add_paragraph("The Kittiwake lies at Halvey.")
    document.save(file)
    return file.getvalue()


def test_it_is_shown_below_the_path_of_a_proxy(open_page: Open, service: Service, library: str) -> None:
    with proxying(service.url, "/graph/rag") as url:
        page = open_page(f"#/search?corpus={library}", url=url)
        page.locator(".example").first.click()
        expect(page.locator(HIT).first).to_be_visible(timeout=WAIT_MILLISECONDS)


def test_a_click_on_an_example_asks_it_and_shows_at_once_that_it_is_searched(
    open_page: Open, hoprank: HopRank, library: str
) -> None:
    page = open_page(f"#/search?corpus={library}", width=360, height=740)
    expect(page.get_by_role("button", name="Answer with")).to_have_count(0)
    examples = page.locator(".example")
    expect(examples).to_have_text(hoprank.examples(library))
    check_width(page)

    held: list[Route] = []
    page.route("**/v1/search", lambda route: held.append(route))
    with page.expect_request("**/v1/search"):
        examples.first.press("Enter")
    expect(page.locator(".skeleton")).to_have_count(3)
    expect(page.locator("#search-summary")).to_contain_text("Searching")
    held.pop().continue_()
    expect(page.locator(HIT).first).to_be_visible(timeout=30_000)  # the first search of a new server
    expect(page.locator(".skeleton")).to_have_count(0)
    expect(page.locator("#question")).to_have_value(hoprank.examples(library)[0])
    expect(page.locator("#home")).to_be_hidden()
    page.go_back()
    expect(examples.first).to_be_visible()


def test_files_that_are_chosen_or_dropped_become_documents(
    open_page: Open, hoprank: HopRank, library: str, corpus_name: str, tmp_path: Path
) -> None:
    contents = {"a.md": b"# Tides\n\nThe moon raises them.\n", "b.docx": word_file(), "broken.pdf": b"no pdf"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    page = open_page(f"#/search?corpus={library}")
    page.get_by_label("into the corpus").fill(corpus_name)

    page.get_by_label("Files to add").set_input_files([tmp_path / name for name in contents])

    added = page.locator(".upload").last
    expect(added).to_contain_text(f"Added to {corpus_name}", timeout=60_000)
    expect(added).to_contain_text("2 documents changed")
    expect(added).to_contain_text("broken.pdf: isn't well-formed PDF")
    expect(page.locator("#corpus")).to_have_value(corpus_name)
    assert hoprank.document("b.docx", corpus_name).text == "The Kittiwake lies at Halvey."
    page.evaluate(
        """() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["The ebb comes."], "ebb.txt"));
            const drop = new DragEvent("drop", { dataTransfer: transfer, bubbles: true });
            document.querySelector("main").dispatchEvent(drop);
        }"""
    )
    expect(page.locator(".upload").last).to_contain_text("1 document changed", timeout=60_000)
    assert [entry.key for entry in hoprank.documents(corpus_name)] == ["a.md", "b.docx", "ebb.txt"]


def test_what_changes_just_before_the_page_hears_of_another_address_does_not_lead_back(
    open_page: Open, library: str
) -> None:
    """As the list of corpora does that comes while somebody follows a link."""
    page = open_page("#/jobs")
    expect(page.locator("#jobs")).to_be_visible()

    page.evaluate(
        """corpus => {
            location.hash = `#/search?corpus=${corpus}`;
            document.querySelector("#leg").dispatchEvent(new Event("change"));
        }""",
        library,
    )

    expect(page.locator("#home")).to_be_visible()
    assert f"#/search?corpus={library}" in page.url


def test_the_corpus_that_is_typed_stays_when_the_questions_are_asked_for_again(open_page: Open, library: str) -> None:
    page = open_page("#/jobs")
    page.route("**/examples", lambda route: route.abort(), times=1)
    page.evaluate("corpus => { location.hash = `#/search?corpus=${corpus}`; }", library)
    expect(page.locator("#home .hint").first).to_be_visible()
    expect(page.locator("#home")).not_to_contain_text("Looking for questions")
    page.get_by_label("into the corpus").fill("another")

    page.evaluate("corpus => { location.hash = `#/search?corpus=${corpus}&leg=vector`; }", library)

    expect(page.locator(".example").first).to_be_visible()
    expect(page.get_by_label("into the corpus")).to_have_value("another")


def test_a_request_from_before_the_token_does_not_ask_for_it_again(
    open_page: Open, serving: Serving, library: str
) -> None:
    with serving(tokens=[{"token": READER, "corpora": [library]}]) as service:
        page = open_page(f"#/search?corpus={library}", url=service.url)
        held: list[Route] = []
        page.route("**/v1/corpora", lambda route: held.append(route) if len(held) < 2 else route.continue_())
        page.reload()
        page.fill("#token", READER)
        page.keyboard.press("Enter")
        expect(page.locator(".example").first).to_be_visible()
        for route in held:
            with page.expect_response(lambda answer: answer.status == 401):
                route.continue_()

        expect(page.locator("#home")).to_contain_text("see how they are linked")
        expect(page.locator("#token-dialog")).not_to_be_visible()


def test_what_is_typed_before_the_corpora_are_read_stays_where_it_is(open_page: Open, library: str) -> None:
    page = open_page(f"#/search?corpus={library}")
    field = page.get_by_label("into the corpus")
    expect(page.locator("#home")).to_contain_text("see how they are linked")
    held: list[Route] = []
    page.route("**/v1/corpora", lambda route: held.append(route))
    page.reload()
    field.fill("another")
    for route in held:
        with page.expect_response("**/v1/corpora"):
            route.continue_()

    expect(page.locator("#corpus")).to_have_value(library)
    expect(field).to_be_focused()


def test_a_token_that_only_reads_is_told_that_it_may_not_add_or_judge(
    open_page: Open, serving: Serving, hoprank: HopRank, library: str, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("The moon.")
    with serving(tokens=[{"token": READER, "corpora": [library, "another"]}]) as service:
        page = open_page(f"#/search?corpus={library}", url=service.url)
        page.fill("#token", READER)
        page.keyboard.press("Enter")
        expect(page.locator(".example").first).to_be_visible()
        page.get_by_label("into the corpus").fill("another")
        page.get_by_label("Files to add").set_input_files([tmp_path / "a.md"])
        expect(page.locator(".upload")).to_contain_text("Not added to another")
        expect(page.locator(".upload")).to_contain_text("The token permits reading only.")
        page.fill("#question", QUESTION)
        page.get_by_role("button", name="Answers it").first.click()
        expect(page.locator(".feedback").first).to_contain_text("The token permits reading only.")
        expect(page.get_by_role("button", name="Answers it").first).to_have_attribute("aria-pressed", "false")
    assert find_corpus(hoprank.client, "another") is None
    assert hoprank.judgements(library) == []


def test_what_is_said_of_a_hit_is_kept_and_taken_back(open_page: Open, hoprank: HopRank, library: str) -> None:
    page = open_page(f"#/search?corpus={library}&q={quote(QUESTION)}")
    first, second = page.locator(HIT).nth(0), page.locator(HIT).nth(1)
    keys = [item.metadata["document"] for item in hoprank.search(QUESTION, corpus=library).items[:2]]

    first.get_by_role("button", name="Answers it").click()
    second.get_by_role("button", name="Doesn't").click()

    for hit in (first, second):
        expect(hit.locator(".feedback")).to_contain_text("Kept.")
    assert {(said.document, said.relevance) for said in hoprank.judgements(library)} == {(keys[0], 1), (keys[1], 0)}
    page.reload()
    expect(first.locator("[aria-pressed=true]")).to_have_text("Answers it")
    expect(second.locator("[aria-pressed=true]")).to_have_text("Doesn't")
    first.get_by_role("button", name="Answers it").click()
    second.get_by_role("button", name="Doesn't").click()
    for hit in (first, second):
        expect(hit.locator(".feedback")).to_contain_text("Taken back.")
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    assert hoprank.judgements(library) == []


def test_an_answer_is_written_where_a_model_is_set_up_and_its_citations_lead_to_the_hits(
    open_page: Open, serving: Serving, library: str
) -> None:
    with chat_endpoint() as endpoint:
        endpoint.will(says("<think>Hm.</think>", "Charles Babbage ", "[1] [", "99]."))
        with serving(ask={"base_url": endpoint.root, "model": "a/model"}) as service:
            page = open_page(f"#/search?corpus={library}&q={quote(QUESTION)}", url=service.url)
            page.get_by_role("button", name="Answer with a/model").click()
            expect(page.locator(".answer-text")).to_have_text("Charles Babbage [1] [99?].")
            expect(page.locator(".answer .hint")).to_contain_text("Written by a/model from")
            expect(page.locator(".citation.unknown")).to_have_text("[99?]")
            page.get_by_role("link", name="[1]").click()
            expect(page.locator(f"{HIT} .open:focus")).to_have_count(1)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_graphs_are_drawn_searched_and_lead_back_to_the_search(
    open_page: Open, hoprank: HopRank, library: str, width: int, scheme: str
) -> None:
    graph = hoprank.graph(f"{library}-tools")
    graph.add_nodes([KnowledgeNode(id_, "tool", properties={"name": f"send {id_}"}) for id_ in "abc"])
    graph.add_edges([KnowledgeEdge("a", "b", "requires")])
    try:
        page = open_page(f"#/graphs?corpus={library}", width=width, color_scheme=scheme)
        # The first drawing projects the corpus for its PageRank.
        expect(page.locator(".graph-head h2")).to_have_text(library, timeout=WAIT_MILLISECONDS)
        assert page.evaluate("hoprank.graph().labels.length") >= 10
        check_width(page)
        page.get_by_label("Find nodes").fill("ada love")
        page.locator(".graph-list button", has_text="entity").first.click()
        expect(page.locator(".graph-detail h2")).to_have_text("Ada Lovelace")
        page.get_by_role("link", name="Search for it").click()
        expect(page.locator("#question")).to_have_value("Ada Lovelace")

        page.get_by_role("link", name="Graphs", exact=True).click()
        page.get_by_role("link", name=graph.name).click()
        expect(page.locator(".graph-head")).to_contain_text("3 nodes; 1 edge", timeout=WAIT_MILLISECONDS)
        page.locator(".graph-list button", has_text="send b").first.click()
        expect(page.locator(".graph-detail")).to_contain_text("← requires")
    finally:
        graph.drop()
