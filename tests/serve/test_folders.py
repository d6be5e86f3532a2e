"""Paths that a service may read: those below its folders, wherever links and ``..`` lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import Forbidden, SourceError
from pipeline.ingest.sources.reader import read
from pipeline.serve.folders import allowed_path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder that may be read, beside one that may not."""
    folder = tmp_path / "docs"
    (folder / "more").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    (folder / "more" / "b.md").write_text("# B\n\nText.\n", encoding="utf-8")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.md").write_text("secret", encoding="utf-8")
    return folder


@pytest.mark.parametrize("below", [".", "a.md", "more", "more/../a.md", "*.md", "**/*.md", "not-there.md"])
def test_paths_below_a_folder_are_allowed(docs: Path, below: str) -> None:
    found = allowed_path(docs / below, [docs])

    assert found.is_absolute()
    assert ".." not in found.parts


def test_what_is_returned_reads_the_same_documents(docs: Path) -> None:
    keys = [[document.key for document in read([str(path)])] for path in (docs, allowed_path(docs, [docs]))]  # type: ignore[union-attr]
    matched = [document.key for document in read([str(allowed_path(docs / "*/*.md", [docs]))])]  # type: ignore[union-attr]

    assert keys[0] == keys[1] == ["a.md", "more/b.md"]
    assert matched == ["more/b.md"]


def test_a_folder_may_itself_be_a_link(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(docs)

    assert allowed_path(tmp_path / "link" / "a.md", [docs]) == allowed_path(docs / "a.md", [tmp_path / "link"])


REFUSED = {
    "isn't below a folder": (
        *("../secret", "../secret/key.md", "more/../../secret/key.md", "../*/key.md", ".."),
        *("../docs-of-others", "/etc", "~"),
    ),
    "is a URL": (
        *("http://169.254.169.254/latest/meta-data.md", "https://user:secret@example.invalid/a.md"),
        *("s3://bucket/docs", "memory://docs", "file:///etc", "simplecache::https://example.invalid/a.md"),
        "HTTP://127.0.0.1:7474/",
    ),
    "is no path": ("", "a\x00b"),
}


@pytest.mark.parametrize(("path", "says"), [(path, says) for says, paths in REFUSED.items() for path in paths])
def test_paths_elsewhere_and_what_is_no_path_are_refused(
    docs: Path, path: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(docs)

    for named in (path, Path(path), str(docs / path)) if path.startswith(".") else (path,):
        with pytest.raises((Forbidden, SourceError), match=says) as caught:
            allowed_path(named, [docs])
        assert "user:secret" not in str(caught.value)
    with pytest.raises(Forbidden, match="--folder DIR"):
        allowed_path(docs / "a.md", [])


@pytest.mark.parametrize("named", ["link", "link/key.md", "link/*.md", "li*", "more/..", "*.md", "**/*"])
def test_a_link_leads_nowhere_else(docs: Path, named: str) -> None:
    (docs / "link").symlink_to(docs.parent / "secret")

    with pytest.raises(Forbidden):
        allowed_path(docs / named, [docs])


def test_links_are_followed_to_where_they_end(docs: Path, tmp_path: Path) -> None:
    (docs / "more" / "key.md").symlink_to(tmp_path / "secret" / "key.md")
    (docs / "other").mkdir()
    (docs / "other" / "link").symlink_to(docs / "more")

    with pytest.raises(Forbidden, match="a link out of the folders"):
        allowed_path(docs / "other", [docs])
    assert allowed_path(docs / "other", [docs, tmp_path / "secret"])


def test_links_that_lead_in_a_circle_are_allowed(docs: Path) -> None:
    (docs / "more" / "up").symlink_to(docs)

    assert allowed_path(docs, [docs])


def test_a_folder_with_a_wildcard_in_its_name_opens_no_other(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "do[cs]").mkdir()
    (tmp_path / "doc").mkdir()

    with pytest.raises(Forbidden):
        allowed_path(tmp_path / "do[cs]" / "*.md", [tmp_path / "do[cs]"])
    (tmp_path / "plain").symlink_to(tmp_path / "do[cs]")
    with pytest.raises(Forbidden, match="wildcard in its name"):
        allowed_path(tmp_path / "plain" / "*.md", [tmp_path / "do[cs]"])
