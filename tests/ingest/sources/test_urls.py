"""Sources by URL: the documents of a folder of this machine, whose errors and paths tell no secret."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import Forbidden, SourceError
from pipeline.files import DEFAULT_LIMITS
from pipeline.files.remote import is_url, shown
from pipeline.ingest.sources import parquet, parser_process, read
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.ingest.sources.reader import check_paths
from pipeline.records import Document, Skipped
from tests.ingest.web import SECRET, Web, url_of


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse in this process: what the other one is for has tests of its own."""
    monkeypatch.setattr(ParserProcess, "rows", lambda _, wanted: parquet.next_rows(wanted))
    monkeypatch.setattr(parser_process, "is_bounded", lambda _: False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of many sorts of files, some of which can't be read."""
    files: dict[str, bytes] = {
        "a.md": b"---\nyear: 1815\n---\n# Ada\n\nAda wrote notes. See [the moon](sub/moon.md).\n",
        "sub/moon.md": b"# Moon\n\nThe moon raises tides.\n",
        "sub/page.html": b"<h1>Tides</h1><p>Twice a day.</p>",
        "sub/deep/er/table.csv": b"name,height\nSkelda,3\nHalvey,4\n",
        "u\u0308ber.txt": b"Decomposed.",
        "latin.txt": "Die Küste stört die Gezeiten nicht, sagt er.".encode("latin-1"),
        "lines.jsonl": b'{"id": "one", "text": "A line."}\nno json\n{"id": "two", "text": "Another.", "year": 2}\n',
        "empty.md": b"",
        "binary.md": b"\x00\x01",
        "photo.jpg": b"\xff\xd8",
        "large.txt": b"x" * 200_000,
        "broken.docx": b"PK\x03\x04 nothing",
        ".hidden.md": b"Hidden.",
        ".git/config.md": b"Hidden, too.",
        "year=1901/_SUCCESS": b"",
        "code.py": b"def tide():\n    return 3\n",
        "node_modules/x.py": b"def other():\n    return 4\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    rows = pa.table({"id": ["r1", "r2"], "text": ["The gauge.", "The pilot."], "lang": ["da", "de"]})
    (tmp_path / "year=1901" / "lang=xx").mkdir()
    pq.write_table(rows.slice(0, 1), tmp_path / "year=1901" / "part-0.parquet")
    pq.write_table(rows.slice(1), tmp_path / "year=1901" / "lang=xx" / "part-1.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    return tmp_path


@pytest.fixture
def memory(folder: Path) -> Iterator[str]:
    """The URL of the same folder in the memory of the process."""
    system = fsspec.filesystem("memory")
    for path in folder.rglob("*"):
        if path.is_file():
            system.pipe_file(f"/bucket/docs/{path.relative_to(folder).as_posix()}", path.read_bytes())
    yield "memory://bucket/docs"
    system.rm("/bucket", recursive=True)


def comparable(found: Sequence[Document | Skipped], root: str) -> list[object]:
    """All that was found, with paths below the root."""
    assert all((one.path if isinstance(one, Document) else one.source).startswith(root) for one in found)
    return [
        replace(one, path=one.path.removeprefix(root))
        if isinstance(one, Document)
        else replace(one, source=one.source.removeprefix(root))
        for one in found
    ]


SMALL = replace(DEFAULT_LIMITS, bytes_read=100_000)


@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize("below", ["", "/**/*.md", "/*", "/a.md", "/lines.jsonl", "/year=*/**", "/sub/", "/**/t*.csv"])
def test_a_url_gives_what_the_folder_gives(folder: Path, memory: str, below: str, code: bool) -> None:
    if below == "/lines.jsonl":
        (folder / "lines.jsonl").write_text('{"id": "one", "text": "A line."}\n')
        fsspec.filesystem("memory").pipe_file("/bucket/docs/lines.jsonl", (folder / "lines.jsonl").read_bytes())

    here = list(read([f"{folder}{below}"], limits=SMALL, code=code))
    found = list(read([f"{memory}{below}"], limits=SMALL, code=code))

    assert here
    assert comparable(found, memory) == comparable(here, str(folder))


@pytest.mark.parametrize("name", ["empty.md", "large.txt", "broken.docx", "broken.parquet", "photo.jpg", "lines.jsonl"])
def test_a_named_file_that_cannot_be_read_is_the_same_error(folder: Path, memory: str, name: str) -> None:
    told = []
    for root in (str(folder), memory):
        with pytest.raises(SourceError) as caught:
            list(read([f"{root}/{name}"], limits=SMALL))
        told.append((str(caught.value).replace(root, ""), caught.value.fix))

    assert told[0] == told[1]


def test_a_file_url_is_a_path(folder: Path) -> None:
    assert [one.path for one in read([(folder / "a.md").as_uri()]) if isinstance(one, Document)] == [
        str(folder / "a.md")
    ]
    with pytest.raises(SourceError, match="another machine"):
        read(["file://elsewhere/etc"])


@pytest.mark.parametrize("url", ["memory://nowhere", "memory://bucket/docs/**/*.xyz", "memory://bucket/docs/a.md/b.md"])
def test_what_is_not_there_is_an_error(memory: str, url: str) -> None:
    with pytest.raises(SourceError, match=r"doesn't exist|matches no file"):
        check_paths([url])


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("gs://bucket/docs", "gcsfs"),
        ("nonsense://bucket/docs", "nonsense"),
        ("simplecache::memory://bucket/docs", "chain"),
        ("zip://a.md::memory://bucket/docs.zip", ""),
        ("https://example.invalid/", "names no file"),
    ],
)
def test_a_url_of_no_file_system_names_what_to_install(url: str, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        check_paths([url])

    assert says in f"{caught.value} {caught.value.fix}"


class Failing(MemoryFileSystem):  # type: ignore[misc]
    """An object store whose server fails in the middle."""

    protocol = "failing"
    store: dict[str, Any] = {}  # noqa: RUF012 - as the class above has it
    pseudo_dirs = [""]  # noqa: RUF012
    fails_at = ""
    error: Exception = OSError(errno.EIO, f"https://u:{SECRET}@store/x?sig={SECRET}")

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        if self.fails_at == f"ls {path}":
            raise self.error
        return super().ls(path, detail, **kwargs)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace("failing://", "memory://")))

    def _open(self, path: str, *args: Any, **kwargs: Any) -> Any:
        if self.fails_at == f"open {path}":
            raise self.error
        file = super()._open(path, *args, **kwargs)
        if self.fails_at == f"read {path}":
            file.read = self._fail
        return file

    def _fail(self, *_: object) -> bytes:
        raise self.error


@pytest.fixture
def failing() -> Iterator[type[Failing]]:
    fsspec.register_implementation("failing", Failing, clobber=True)
    system = fsspec.filesystem("failing")
    for name in ("a.md", "b/c.md", "z.jsonl"):
        content = b"# One\n\nText.\n" if name.endswith("md") else b'{"id": "x", "text": "y"}\n'
        system.pipe_file(f"/docs/{name}", content)
    yield Failing
    Failing.fails_at = ""
    Failing.store.clear()


@pytest.mark.parametrize("at", ["ls /docs", "ls /docs/b", "open /docs/b/c.md", "read /docs/a.md", "read /docs/z.jsonl"])
@pytest.mark.parametrize("error", [Failing.error, PermissionError(SECRET), RuntimeError("gone"), TimeoutError("late")])
def test_a_server_that_fails_ends_the_reading_so_that_a_sync_takes_nothing_for_gone(
    failing: type[Failing], monkeypatch: pytest.MonkeyPatch, at: str, error: Exception
) -> None:
    monkeypatch.setattr(failing, "error", error)
    failing.fails_at = at

    with pytest.raises(SourceError, match=r"^failing://docs.* can't be read: ") as caught:
        list(read(["failing://docs"]))

    assert type(caught.value) is SourceError, "not one that a folder leaves out"
    assert "https://" not in str(caught.value)


def test_a_file_that_is_gone_meanwhile_is_left_out(failing: type[Failing], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "error", FileNotFoundError(SECRET))
    failing.fails_at = "open /docs/b/c.md"

    found = list(read(["failing://docs"]))

    assert [one.reason for one in found if isinstance(one, Skipped)] == ["can't be read: no such file"]


@pytest.fixture
def web(folder: Path) -> Iterator[Web]:
    with Web(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_files_of_a_web_server_are_read_by_signed_urls_that_nothing_keeps(web: Web, folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"id": "one", "text": "A line."}\n')
    names = ["a.md", "sub/page.html", "rows.jsonl", "year=1901/lang=xx/part-1.parquet", "u%CC%88ber.txt"]

    found = list(read([url_of(web, name) for name in names]))

    documents = [one for one in found if isinstance(one, Document)]
    assert [one.key for one in documents] == ["a.md", "page.html", "one", "r2", "\u00fcber.txt"]
    assert documents[3].metadata == {"year": 1901, "lang": "de"}
    assert documents[0].path == f"http://127.0.0.1:{web.server_port}/a.md"
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("missing.md", SECRET),
        ("broken.md", SECRET),
        ("a.md", f"other-{SECRET}"),
        ("binary.md", SECRET),
        ("large.txt", SECRET),
        ("broken.parquet", SECRET),
        ("lines.jsonl", SECRET),
        ("photo.jpg", SECRET),
    ],
)
def test_no_error_about_a_url_tells_its_secrets(
    web: Web, name: str, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(SourceError) as caught:
        list(read([url_of(web, name, secret)], limits=SMALL))

    assert f"http://127.0.0.1:{web.server_port}/{name}" in str(caught.value)
    assert SECRET not in f"{caught.value!r} {caught.value.fix} {caplog.text}"


@given(
    scheme=st.sampled_from(["https", "s3", "ftp", "gs", "sftp", "http"]),
    user=st.text("ab:/@#?%=", max_size=6),
    below=st.text("ab/.", max_size=8),
)
def test_a_url_is_shown_without_its_user(scheme: str, user: str, below: str) -> None:
    told = shown(f"{scheme}://{user}:{SECRET}@host/{below}")

    assert SECRET not in told
    assert told.startswith(f"{scheme}://")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("s3://bucket/@types/a?b.md", "s3://bucket/@types/a?b.md"),
        ("S3://Bucket/a", "s3://Bucket/a"),
        ("abfs://container@account.dfs.core.windows.net/a?sig=x", "abfs://container@account.dfs.core.windows.net/a"),
        ("https://token@host:8443/a.md?x=1#top", "https://host:8443/a.md"),
        ("https://[::1]:80/a.md", "https://[::1]:80/a.md"),
        ("docs/a.md", "docs/a.md"),
        ("C:\\docs", "C:\\docs"),
    ],
)
def test_a_url_is_shown_as_it_is_otherwise(url: str, told: str) -> None:
    assert shown(url) == told


def test_a_path_is_no_url() -> None:
    assert not any(map(is_url, ("docs", "C:\\docs", "c://docs", "/a/b://c", "./s3://x", "a:b", "*.md", "")))
    assert all(map(is_url, ("s3://x", "memory://", "file:///x", "simplecache::s3://x")))


def test_where_folders_bound_what_is_read_no_url_is(folder: Path, memory: str) -> None:
    limits = replace(DEFAULT_LIMITS, within=(folder,))

    for url in (memory, "http://169.254.169.254/latest.md", "s3://bucket", "gs://b", "simplecache::s3://x"):
        with pytest.raises(Forbidden):
            read([url], limits=limits)
    with pytest.raises(SourceError):
        list(read([Path("/etc/hostname").as_uri()], limits=limits))
    assert list(read([folder.as_uri()], limits=limits))
