"""Which files, folders and patterns mean, under which keys, and what is left out."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.errors import SourceError
from pipeline.files.limits import Limits
from pipeline.ingest.sources import read
from pipeline.ingest.update.changes import detect_changes
from pipeline.progress import Progress
from pipeline.records import Document, Skipped


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with files of every sort."""
    root = tmp_path / "docs"
    files = {
        "b.md": "# B",
        "a.txt": "a",
        "sub/c.md": "c",
        "sub/deep/d.rst": "d",
        "README": "read me",
        ".git/config": "hidden",
        "sub/.hidden.md": "hidden",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def keys(*paths: str | Path) -> list[str]:
    return [item.key for item in read([str(path) for path in paths]) if isinstance(item, Document)]


def skipped(*paths: str | Path, max_bytes: int = 1_000) -> dict[str, str]:
    found = read([str(path) for path in paths], limits=Limits(bytes_read=max_bytes))
    return {Path(item.source).name: item.reason for item in found if isinstance(item, Skipped)}


@contextmanager
def without_privileges() -> Iterator[None]:
    """Permissions mean nothing to root, so be nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may look into, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_gives_all_below_it_sorted_without_what_is_hidden(docs: Path) -> None:
    assert keys(docs) == ["README", "a.txt", "b.md", "sub/c.md", "sub/deep/d.rst"]


def test_a_key_does_not_depend_on_where_the_folder_is(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(docs)

    assert keys(".") == keys(docs) == keys("../docs/")


def test_a_file_gives_its_name_as_key_and_its_path(docs: Path) -> None:
    (document,) = read([str(docs / "sub" / "c.md")])

    assert isinstance(document, Document)
    assert (document.key, document.path) == ("c.md", str(docs / "sub" / "c.md"))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*.md", ["b.md", "sub/c.md"]),
        ("*.md", ["b.md"]),
        ("*/*.md", ["sub/c.md"]),
        ("**/deep/**", ["sub/deep/d.rst"]),
        ("[ab].*", ["a.txt", "b.md"]),
        ("?.md", ["b.md"]),
        ("**/**/d.rst", ["sub/deep/d.rst"]),
    ],
)
def test_a_pattern_gives_what_it_matches(docs: Path, pattern: str, expected: list[str]) -> None:
    assert keys(f"{docs}/{pattern}") == expected


def test_a_pattern_key_is_relative_to_the_folder_before_the_first_sign(docs: Path) -> None:
    assert keys(f"{docs}/sub/**/*.rst") == ["deep/d.rst"]


def test_a_relative_pattern_starts_here(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(docs)

    assert keys("*.md") == ["b.md"]


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(docs: Path) -> None:
    (docs / "x[1].md").write_text("x")

    assert keys(docs / "x[1].md") == ["x[1].md"]


@pytest.mark.parametrize("path", ["missing", "missing/*.md", "*.nothing", "b.md/x", "", "nul\x00"])
def test_a_path_that_means_nothing_is_an_error_that_names_it(docs: Path, path: str) -> None:
    with pytest.raises(SourceError, match=r"exist|matches|empty path") as caught:
        read([f"{docs}/{path}" if path else path])
    assert path in caught.value.message


def test_no_path_at_all_is_an_error() -> None:
    with pytest.raises(SourceError, match="no path"):
        read([])


def test_what_cannot_be_read_in_a_folder_is_left_out_with_a_reason(docs: Path) -> None:
    contents = {
        "empty.md": b"",
        "blank.md": b" \n\n",
        "binary.txt": b"a\x00b",
        "damaged.txt": b"\x93\xfe\x02\x81\xf0\x05\xc3\x1e" * 9,
        "big.txt": b"x" * 1001,
        "picture.png": b"\x89PNG",
        "Makefile": b"all:",
        "damaged.pdf": b"%PDF-1.4 nothing",
        "damaged.docx": b"PK nothing",
    }
    for name, content in contents.items():
        (docs / name).write_bytes(content)
    (docs / "gone.md").symlink_to(docs / "nowhere")
    os.mkfifo(docs / "pipe.md")

    reasons = skipped(docs)

    assert reasons.pop("damaged.pdf").startswith("isn't well-formed PDF")
    assert reasons.pop("damaged.docx").startswith("isn't well-formed DOCX")
    assert reasons == {
        "empty.md": "is empty",
        "blank.md": "is empty",
        "binary.txt": "is binary",
        "damaged.txt": "isn't valid UTF-8 (at byte 0)",
        "big.txt": "is larger than 0.001 MB",
        "picture.png": "has the suffix .png, which isn't read",
        "Makefile": "has no suffix, which isn't read",
        "gone.md": "is a link to nothing",
        "pipe.md": "isn't a regular file",
    }
    assert skipped(f"{docs}/*.png", f"{docs}/damaged.t*") == {
        "picture.png": "has the suffix .png, which isn't read",
        "damaged.txt": "isn't valid UTF-8 (at byte 0)",
    }


@pytest.mark.parametrize("strict", [False, True])
def test_what_cannot_be_read_is_an_error_when_named_or_strict(docs: Path, strict: bool) -> None:
    (docs / "damaged.txt").write_bytes(b"\x93\xfe\x02\x81\xf0\x05\xc3\x1e" * 9)

    with pytest.raises(SourceError, match=r"damaged\.txt isn't valid UTF-8") as caught:
        list(read([str(docs if strict else docs / "damaged.txt")], strict=strict))
    assert "Convert it to UTF-8" in caught.value.fix


def test_a_text_in_another_encoding_is_read_and_told(docs: Path) -> None:
    (docs / "latin.txt").write_bytes("naïve".encode("latin-1"))

    (document,) = read([str(docs / "latin.txt")])

    assert isinstance(document, Document)
    assert (document.text, document.warnings) == ("naïve", ("isn't UTF-8, and is read as Windows-1252",))
    with pytest.raises(SourceError, match=r"latin\.txt isn't UTF-8, and is read as Windows-1252"):
        list(read([str(docs)], strict=True))


def test_a_named_file_of_a_format_that_is_not_read_is_an_error_at_once(docs: Path) -> None:
    (docs / "picture.png").write_bytes(b"\x89PNG")

    with pytest.raises(SourceError, match=r"picture.png has the suffix .png"):
        read([str(docs / "picture.png")])


def test_files_and_folders_without_permission(open_folder: Path) -> None:
    (open_folder / "ok.txt").write_text("fine")
    (open_folder / "secret.txt").write_text("secret")
    (open_folder / "secret.txt").chmod(0)
    (open_folder / "closed").mkdir(mode=0)

    with without_privileges():
        found = list(read([str(open_folder)]))
        with pytest.raises(SourceError, match=r"closed can't be read: permission denied"):
            read([str(open_folder / "closed")])
        with pytest.raises(SourceError, match=r"secret\.txt can't be read: permission denied"):
            list(read([str(open_folder / "secret.txt")]))

    assert [item.key for item in found if isinstance(item, Document)] == ["ok.txt"]
    reason = "can't be read: permission denied"
    assert [(Path(item.source).name, item.reason) for item in found if isinstance(item, Skipped)] == [
        ("closed", reason),
        ("secret.txt", reason),
    ]


def test_links_that_go_round_in_circles_are_walked_once(docs: Path, tmp_path: Path) -> None:
    (docs / "sub" / "up").symlink_to(docs)
    (docs / "sub" / "same").symlink_to(docs / "sub" / "deep")
    (docs / "self").symlink_to(docs / "self")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "e.md").write_text("e")
    (elsewhere / "back").symlink_to(docs)
    (docs / "linked").symlink_to(elsewhere)

    assert keys(docs) == ["README", "a.txt", "b.md", "linked/e.md", "sub/c.md", "sub/deep/d.rst"]


def test_a_link_to_a_folder_above_is_named(docs: Path) -> None:
    (docs / "sub" / "above").symlink_to(docs.parent)

    skipped = [item for item in read([str(docs)]) if isinstance(item, Skipped)]

    assert Skipped(str(docs / "sub" / "above"), "is a link to a folder that holds the one that is read") in skipped


def test_decomposed_names_are_keys_as_people_type_them(tmp_path: Path) -> None:
    for name in ("cafe\u0301/u\u0308.md", "both/e\u0301.md", "both/\u00e9.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("The moon raises the tides.")

    assert sorted(keys(tmp_path)) == ["both/e\u0301.md", "both/\u00e9.md", "caf\u00e9/\u00fc.md"]
    assert keys(f"{tmp_path}/caf\u00e9*/*.md") == ["caf\u00e9/\u00fc.md"]
    assert keys(tmp_path / "cafe\u0301" / "u\u0308.md") == ["\u00fc.md"]


def test_one_key_from_two_roots_is_an_error_that_names_both(docs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("another")

    with pytest.raises(SourceError, match=r"'b\.md'") as caught:
        read([str(docs), str(other)])
    assert str(docs / "b.md") in caught.value.message
    assert str(other / "b.md") in caught.value.message
    assert "folder that holds both" in caught.value.fix


def test_a_file_that_is_given_twice_is_read_once(docs: Path) -> None:
    assert keys(docs / "b.md", docs, docs / "b.md") == ["b.md", "README", "a.txt", "sub/c.md", "sub/deep/d.rst"]


def test_reading_is_lazy_but_checking_is_not(docs: Path) -> None:
    found = read([str(docs)])
    (docs / "b.md").write_text("changed after the paths were checked")

    assert [item.text for item in found if isinstance(item, Document) and item.key == "b.md"] == [
        "changed after the paths were checked"
    ]


def test_names_that_are_not_utf_8_stay_apart_and_can_be_stored(tmp_path: Path) -> None:
    for name in (b"a\xff.md", b"a\xfe.md", "ä.md".encode()):
        (tmp_path / os.fsdecode(name)).write_text("The moon raises the tides.")

    found = [item for item in read([str(tmp_path)]) if isinstance(item, Document)]

    assert sorted(document.key for document in found) == [r"a\xfe.md", r"a\xff.md", "ä.md"]
    assert all(document.path.encode() for document in found)


def test_the_files_to_read_and_those_read_are_counted(docs: Path) -> None:
    for number in range(4):
        (docs / f"{number}.txt").write_text("words")
    (docs / "two.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n')
    source = read([str(docs)])
    total, steps = source.total, list[int]()
    progress = Progress(Steps(steps))

    with detect_changes(source, {}, progress) as changes:
        assert len(changes.changed) == total + 1
        assert changes.characters == sum(len(document.text) for document in changes.documents)

    assert steps == [total, *[1] * total]


class Steps:
    """A listener that records the total of a stage, then its steps."""

    def __init__(self, steps: list[int]) -> None:
        self._steps = steps

    def begin(self, stage: str, total: int | None) -> None:
        assert stage == "read"
        self._steps.append(total or 0)

    def advance(self, stage: str, steps: int) -> None:  # noqa: ARG002 - of the one stage
        self._steps.append(steps)

    def end(self, stage: str) -> None:
        pass
