"""Notes are written whole or not at all, and never over somebody else's change."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipeline.domains.vault.edits import Conflict, Edit, Unwritable, edited, find_conflicts, move, write_edits
from pipeline.domains.vault.note import Folder
from pipeline.domains.vault.sources import read_folder

Vault = Callable[[Mapping[str, str | bytes]], Folder]


def edit(folder: Folder, key: str, old: str, new: str) -> Edit:
    (text,) = (note.text for note in folder.notes if note.key == key)
    return Edit(text.index(old), text.index(old) + len(old), new)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"one\ntwo old\n", b"one\ntwo new\n"),
        (b"one\r\ntwo old\r\n", b"one\r\ntwo new\r\n"),
        (b"one\r\nmixed\ntwo old\r\nthree\n", b"one\r\nmixed\ntwo new\r\nthree\n"),
        (b"one\rtwo old\r", b"one\rtwo new\r"),
        (b"\xef\xbb\xbfone\r\ntwo old", b"\xef\xbb\xbfone\r\ntwo new"),
        ("\ufeffüü\r\nold".encode("utf-16-le"), "\ufeffüü\r\nnew".encode("utf-16-le")),
        ("\ufeffüü\r\nold".encode("utf-16-be"), "\ufeffüü\r\nnew".encode("utf-16-be")),
        ("😀 e\u0301\r\n\r\nold 😀".encode(), "😀 e\u0301\r\n\r\nnew 😀".encode()),
    ],
)
def test_an_edit_leaves_all_other_bytes(vault: Vault, content: bytes, expected: bytes) -> None:
    folder = vault({"a.md": content})

    written = write_edits(folder, {"a.md": [edit(folder, "a.md", "old", "new")]})

    assert (written.changed, written.edits, written.conflicts) == (("a.md",), 1, ())
    assert Path(folder.root, "a.md").read_bytes() == expected


@pytest.mark.parametrize(
    ("content", "edits", "expected"),
    [
        (b"one\r\ntwo", [Edit(4, 7, "2\n3")], b"one\r\n2\r\n3"),
        (b"one two three", [Edit(8, 13, "drei!!"), Edit(0, 3, "eins")], b"eins two drei!!"),
    ],
)
def test_edits_are_in_the_offsets_and_the_line_ends_of_what_was_read(
    vault: Vault, content: bytes, edits: list[Edit], expected: bytes
) -> None:
    folder = vault({"a.md": content})

    write_edits(folder, {"a.md": edits})

    assert Path(folder.root, "a.md").read_bytes() == expected
    with pytest.raises(ValueError, match="overlap"):
        edited("one two", [Edit(0, 5, ""), Edit(4, 7, "")])


def test_a_change_by_hand_is_kept(vault: Vault) -> None:
    folder = vault({"a.md": "old a", "b.md": "old b"})
    edits = {key: [edit(folder, key, "old", "new")] for key in ("a.md", "b.md")}
    Path(folder.root, "a.md").write_text("old a, and more")

    written = write_edits(folder, edits)

    assert written.changed == ("b.md",)
    assert written.conflicts == (Conflict("a.md", "has changed since it was read"),)
    assert Path(folder.root, "a.md").read_text() == "old a, and more"
    assert Path(folder.root, "b.md").read_text() == "new b"


def test_a_change_at_the_last_moment_is_kept(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = vault({"a.md": "old"})
    path = Path(folder.root, "a.md")
    monkeypatch.setattr("pipeline.domains.vault.edits.os.fsync", lambda _: path.write_text("by hand"))

    written = write_edits(folder, {"a.md": [Edit(0, 3, "new")]})

    assert written.conflicts == (Conflict("a.md", "has changed since it was read"),)
    assert [(file.name, file.read_text()) for file in Path(folder.root).iterdir()] == [("a.md", "by hand")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe", "has changed since it was read"),
        (b"caf\xe9 old", "has changed since it was read"),
        (None, "is gone"),
    ],
)
def test_a_change_to_what_is_no_text_and_a_deletion_are_kept(vault: Vault, content: bytes | None, reason: str) -> None:
    folder = vault({"a.md": "old"})
    path = Path(folder.root, "a.md")
    path.unlink() if content is None else path.write_bytes(content)

    written = write_edits(folder, {"a.md": [Edit(0, 3, "new")]})

    assert written.conflicts == (Conflict("a.md", reason),)
    assert (path.read_bytes() if path.exists() else None) == content


def test_the_mode_stays_and_nothing_else_is_left_in_the_folder(vault: Vault) -> None:
    folder = vault({"a.md": "old"})
    Path(folder.root, "a.md").chmod(0o640)

    write_edits(folder, {"a.md": [Edit(0, 3, "new")]})

    assert stat.S_IMODE(Path(folder.root, "a.md").stat().st_mode) == 0o640
    assert [path.name for path in Path(folder.root).iterdir()] == ["a.md"]


def test_a_file_outside_of_the_vault_is_not_written_through_a_link(
    vault: Vault, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.md"
    outside.write_text("old")
    root = Path(vault({"a.md": "note"}).root)
    (root / "link.md").symlink_to(outside)

    written = write_edits(read_folder(root), {"link.md": [Edit(0, 3, "new")]})

    assert written.conflicts == (Conflict("link.md", "is a link to a file outside of the vault"),)
    assert outside.read_text() == "old"


def test_a_link_within_the_vault_stays_one(vault: Vault) -> None:
    root = Path(vault({"a.md": "old"}).root)
    (root / "link.md").symlink_to("a.md")

    write_edits(read_folder(root), {"link.md": [Edit(0, 3, "new")]})

    assert (root / "link.md").is_symlink()
    assert (root / "a.md").read_text() == "new"


def test_an_empty_note_has_a_conflict_only_if_it_was_filled(vault: Vault) -> None:
    folder = vault({"empty.md": b"", "blank.md": b" \r\n\r\n"})
    assert find_conflicts(folder, ["empty.md", "blank.md"]) == []

    Path(folder.root, "empty.md").write_text("words")

    assert find_conflicts(folder, ["empty.md"]) == [Conflict("empty.md", "has changed since it was read")]


def test_a_move_overwrites_no_file(vault: Vault) -> None:
    folder = vault({"a.md": "one", "b.md": "two"})

    with pytest.raises(Unwritable, match="file exists"):
        move(folder, folder.notes[0], "b.md")

    assert Path(folder.root, "a.md").read_text() == "one"
    assert Path(folder.root, "b.md").read_text() == "two"


def test_a_move_that_fails_leaves_nothing_at_the_new_place(vault: Vault) -> None:
    folder = vault({"a.md": "one"})
    Path(folder.root, "a.md").unlink()

    with pytest.raises(Unwritable, match="can't be moved"):
        move(folder, folder.notes[0], "b.md")

    assert list(Path(folder.root).iterdir()) == []
