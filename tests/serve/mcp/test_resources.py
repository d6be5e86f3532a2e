"""Documents as resources, over both transports."""

from __future__ import annotations

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import ResourceTemplateReference

from pipeline import HopRank
from pipeline.serve.access import Grant
from pipeline.serve.gate import Gate
from pipeline.serve.mcp import resources
from pipeline.serve.mcp.server import make_server
from pipeline.serve.mcp.service import Service
from pipeline.serve.mcp.uris import TEMPLATE, document_uri, is_document_uri
from tests.conftest import LIBRARY
from tests.serve.mcp.conftest import Talk


@pytest.mark.slow
def test_documents_are_listed(talk: Talk, library: str) -> None:
    listed = talk.ask("list_resources").resources

    assert listed
    assert all(is_document_uri(resource.uri) for resource in listed)


def test_each_document_is_on_one_page(hoprank: HopRank, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_PAGE", 5)
    grant = Grant(frozenset([library]))
    server = make_server(Service(lambda: hoprank, hoprank.settings.serve), [], Gate(1), lambda _: grant)

    async def pages() -> list[list[str]]:
        async with Client(server, cache=None) as client:
            found = [await client.list_resources()]
            while cursor := found[-1].next_cursor:
                found.append(await client.list_resources(cursor=cursor))
        return [[resource.uri for resource in page.resources] for page in found]

    read = anyio.run(pages)
    assert [len(page) for page in read] == [5, 5, 2]
    assert [uri for page in read for uri in page] == [document_uri(library, key) for key in sorted(LIBRARY)]


def test_a_document_is_read(talk: Talk, library: str) -> None:
    (template,) = talk.ask("list_resource_templates").resource_templates
    assert template.uri_template == TEMPLATE

    (contents,) = talk.ask("read_resource", f"hoprank://corpora/{library}/documents/ada").contents

    assert contents.text == LIBRARY["ada"][1]
    assert contents.mime_type == "text/plain"


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("hoprank://corpora/{library}/documents/adda", "has no document 'adda'.\nDid you mean 'ada'?"),
        ("hoprank://corpora/not-there/documents/ada", "There is no corpus 'not-there'"),
        ("file:///etc/passwd", "names no document"),
    ],
)
def test_an_unknown_resource_is_an_error(talk: Talk, library: str, uri: str, says: str) -> None:
    with pytest.raises(MCPError) as caught:
        talk.ask("read_resource", uri.format(library=library))

    assert says in str(caught.value)


@pytest.mark.parametrize("cursor", ['{"a": 1}', "", "[" * 9_999])
def test_a_cursor_of_no_page_is_an_error(talk: Talk, cursor: str) -> None:
    with pytest.raises(MCPError, match="of no page"):
        talk.ask("list_resources", cursor=cursor)


def test_corpora_and_keys_are_completed(talk: Talk, library: str) -> None:
    reference = ResourceTemplateReference(uri=TEMPLATE)
    corpora = talk.ask("complete", reference, {"name": "corpus", "value": library[:-1]})
    keys = talk.ask("complete", reference, {"name": "key", "value": "b"}, {"corpus": library})

    assert library in corpora.completion.values
    assert keys.completion.values == ["babbage", "bread"]
    assert talk.ask("complete", reference, {"name": "key", "value": "b"}).completion.values == []
