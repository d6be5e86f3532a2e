"""After a rename, links lead to the same notes, and are written as they were."""

from __future__ import annotations

import json
import posixpath
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline.domains.vault.check import check
from pipeline.domains.vault.cli import app
from pipeline.domains.vault.edits import Conflict, move
from pipeline.domains.vault.links import NoteResolver
from pipeline.domains.vault.note import Folder, Note
from pipeline.domains.vault.rename import Renamed, apply, plan_rename
from pipeline.domains.vault.sources import read_folder
from pipeline.errors import SourceError

Files = Mapping[str, str | bytes]
Vault = Callable[[Files], Folder]


def rename(folder: Folder, old: str, new: str) -> Renamed:
    plan = plan_rename(folder, old, new)
    assert plan.left == ()
    return apply(folder, plan)


def text(folder: Folder, key: str = "a.md") -> str:
    return Path(folder.root, key).read_bytes().decode()


def names(folder: Folder) -> list[str]:
    return sorted(path.name for path in Path(folder.root).iterdir())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[old]]", "[[new name]]"),
        ("[[old|shown]]", "[[new name|shown]]"),
        ("[[old#Part|shown]]", "[[new name#Part|shown]]"),
        ("[[old#^id]] [[old^id]]", "[[new name#^id]] [[new name^id]]"),
        ("![[old]] ![[old#Part]]", "![[new name]] ![[new name#Part]]"),
        ("[[ old ]] [[OLD]]", "[[ new name ]] [[new name]]"),
        ("[[old.md]]", "[[new name.md]]"),
        ("[[sub/old]]", "[[sub/new name]]"),
        ("[[./sub/old]]", "[[./sub/new name]]"),
        ("[[/sub/old]]", "[[/sub/new name]]"),
        ("[[sub/old.md#Part]]", "[[sub/new name.md#Part]]"),
        ("[x](sub/old.md)", "[x](sub/new%20name.md)"),
        ("[x](./sub/old.md#part)", "[x](./sub/new%20name.md#part)"),
        ("[x](/sub/old.md)", "[x](/sub/new%20name.md)"),
        ("[x](sub/old)", "[x](sub/new%20name)"),
        ('[x](<sub/old.md> "Title")', '[x](<sub/new name.md> "Title")'),
        ('[x](sub/old.md "old")', '[x](sub/new%20name.md "old")'),
        ("[old](sub%2Fold.md)", "[old](sub/new%20name.md)"),
        ("![x](sub/old.md)", "![x](sub/new%20name.md)"),
        ("[![i](i.png)](sub/old.md)", "[![i](i.png)](sub/new%20name.md)"),
        ("[x][r]\n\n[r]: sub/old.md 'T'\n", "[x][r]\n\n[r]: sub/new%20name.md 'T'\n"),
        ("[x](old)", "[x](new%20name)"),
        ("| [[old\\|x]] |\n| - |\n| [[old\\|y]] |\n", "| [[new name\\|x]] |\n| - |\n| [[new name\\|y]] |\n"),
        ("> [[old]]\n> and [[old]]", "> [[new name]]\n> and [[new name]]"),
        (
            '---\nup: "[[old]]"\nsee: [[old]]\n---\n[[old]]',
            '---\nup: "[[new name]]"\nsee: [[new name]]\n---\n[[new name]]',
        ),
        (
            "`[[old]]` [[old]]\n\n```\n[[old]] [x](sub/old.md)\n```",
            "`[[old]]` [[new name]]\n\n```\n[[old]] [x](sub/old.md)\n```",
        ),
        ("[[An Alias]] [[other]]", "[[An Alias]] [[other]]"),
        ("[[old]]\r\n\r\n[[old]]\r\n", "[[new name]]\r\n\r\n[[new name]]\r\n"),
        ("\ufeff😀 [[old]] é", "\ufeff😀 [[new name]] é"),
    ],
)
def test_a_link_keeps_its_style(vault: Vault, before: str, after: str) -> None:
    folder = vault(
        {"sub/old.md": "---\naliases: [An Alias]\n---\n# Old\n\n## Part\n\nx ^id", "other.md": "", "a.md": before}
    )

    done = rename(folder, "old", "new name")

    assert done.moved
    assert done.conflicts == ()
    assert text(folder) == after
    assert not Path(folder.root, "sub/old.md").exists()


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("grüße.md", "größe.md", "[x](gr%C3%BC%C3%9Fe.md)", "[x](gr%C3%B6%C3%9Fe.md)"),
        ("grüße.md", "größe.md", "[x](grüße.md) [[Grüße]]", "[x](größe.md) [[größe]]"),
        ("a b.md", "c (d) 100%.md", "[x](a%20b.md)", "[x](c%20%28d%29%20100%25.md)"),
        ("a b.md", "c (d).md", "[x](<a b.md>)", "[x](<c (d).md>)"),
        ("a(b).md", "c.md", "[x](a(b).md) [y](a\\(b\\).md)", "[x](c.md) [y](c.md)"),
    ],
)
def test_paths_are_encoded_as_they_were(vault: Vault, old: str, new: str, before: str, after: str) -> None:
    folder = vault({old: "x", "z.md": before})

    rename(folder, old, new)

    assert text(folder, "z.md") == after
    assert check(read_folder(Path(folder.root))).broken == []


def test_a_note_that_moves_keeps_its_own_links(vault: Vault) -> None:
    body = (
        "[b](b.md) [c](../c.md#x) ![i](img/i.png) ![j](../j.png) ![[img/i.png]] ![[j.png]] [w](https://e.org/b.md)"
        " [d](img/) [gone](gone.md) [[b]] [[./b]] [[../c]] [[c]] [me](a.md) [[a]] [[#x]] [r][r]\n\n[r]: <b.md>\n"
    )
    folder = vault({"x/a.md": body, "x/b.md": "", "c.md": "# x", "x/img/i.png": b"i", "j.png": b"j"})

    done = rename(folder, "x/a.md", "y/z/new.md")

    assert (done.moved, done.changed) == (True, ("y/z/new.md",))
    assert text(folder, "y/z/new.md") == (
        "[b](../../x/b.md) [c](../../c.md#x) ![i](../../x/img/i.png) ![j](../../j.png) ![[../../x/img/i.png]]"
        " ![[j.png]] [w](https://e.org/b.md) [d](../../x/img/) [gone](../../x/gone.md) [[b]] [[../../x/b]] [[../../c]]"
        " [[c]] [me](new.md) [[new]] [[#x]] [r][r]\n\n[r]: <../../x/b.md>\n"
    )


@pytest.mark.parametrize(
    ("files", "old", "new", "after"),
    [
        ({"x/a.md": "[t](../n) [[../n]]", "n.md": "", "b.md": ""}, "n", "x/b", {"x/a.md": "[t](./b) [[./b]]"}),
        (
            {"n.md": "[[a]]", "a.md": "[[n]] [[n|x]] [n](n.md)"},
            "n",
            "archive/",
            {"a.md": "[[n]] [[n|x]] [n](archive/n.md)", "archive/n.md": "[[a]]"},
        ),
        ({"x/n.md": "", "a.md": "[[x/n]] [[n]]"}, "x/n.md", "y/p.md", {"a.md": "[[y/p]] [[p]]"}),
        ({"x/n.md": "", "a.md": "[[x/n]] [[n]]"}, "x/n.md", "/n", {"a.md": "[[n]] [[n]]"}),
        ({"x/y/n.md": "", "a.md": "[[y/n]] [[x/y/n]]"}, "x/y/n.md", "x/z/n.md", {"a.md": "[[z/n]] [[x/z/n]]"}),
        (
            {"x/new.md": "", "y/old.md": "[[new]]", "a.md": "[[new]] [[old]] [[new|t]]", "x/b.md": "[[new]]"},
            "old",
            "new",
            {"a.md": "[[x/new]] [[y/new]] [[x/new|t]]", "x/b.md": "[[x/new]]", "y/new.md": "[[x/new]]"},
        ),
        # a link by a title gets a path if a file takes that name; one by a file name follows, though the title stays
        ({"t.md": "# Topic", "old.md": "", "a.md": "[[Topic]] [[old]]"}, "old", "Topic", {"a.md": "[[t]] [[Topic]]"}),
        ({"old.md": "# Old", "a.md": "[[old]]"}, "Old", "new", {"a.md": "[[new]]"}),
        (
            {"a.md": "[[a]] [[b]] [[#x]]\n\n# x", "b.md": "[[a]] [[b]]"},
            "a",
            "c",
            {"c.md": "[[c]] [[b]] [[#x]]\n\n# x", "b.md": "[[c]] [[b]]"},
        ),
        ({"a.md": b"", "b.md": "[[a]]"}, "a", "c", {"b.md": "[[c]]", "c.md": ""}),
        ({"pages/x___y.md": "", "a.md": "[[x/y]]"}, "x/y", "x___z", {"a.md": "[[x/z]]"}),
    ],
)
def test_links_follow_by_path_and_by_name(
    vault: Vault, files: Files, old: str, new: str, after: Mapping[str, str]
) -> None:
    folder = vault(files)

    done = rename(folder, old, new)

    assert (done.moved, done.conflicts) == (True, ())
    assert {key: text(folder, key) for key in after} == after


@pytest.mark.parametrize(
    ("old", "says"),
    [("grahps", "Did you mean 'graphs'"), ("same", "x/same.md, y/same.md"), ("", "its title or an alias")],
)
def test_a_note_that_isnt_clear_is_refused(vault: Vault, old: str, says: str) -> None:
    folder = vault({"graphs.md": "", "x/same.md": "", "y/same.md": ""})

    with pytest.raises(SourceError) as caught:
        plan_rename(folder, old, "new")

    assert says in caught.value.fix


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("b", "exists already"),
        ("b.md", "exists already"),
        ("i.png.md", "exists already"),
        ("bad", "exists already"),
        ("../out", "outside of the vault"),
        ("x/../../out", "outside of the vault"),
        ("link/out", "outside of the vault"),
        ("a", "has that name already"),
        ("", "no name of a note"),
        (".hidden", "no name of a note"),
        (".obsidian/a", "no name of a note"),
        ("x/ /a", "no name of a note"),
        ("c#d", "no link can have"),
        ("c]", "no link can have"),
        ("c|d", "no link can have"),
        ("c\nd", "no link can have"),
    ],
)
def test_a_place_that_wont_do_is_refused(
    vault: Vault, tmp_path_factory: pytest.TempPathFactory, new: str, says: str
) -> None:
    folder = vault({"a.md": "", "b.md": "", "bad.md": b"\xff\x00", "i.png.md": ""})  # bad.md isn't shown
    Path(folder.root, "link").symlink_to(tmp_path_factory.mktemp("outside"))

    with pytest.raises(SourceError, match=says):
        plan_rename(folder, "a", new)

    assert names(folder) == ["a.md", "b.md", "bad.md", "i.png.md", "link"]


def test_a_symbolic_link_is_not_renamed(vault: Vault) -> None:
    root = Path(vault({"a.md": "x"}).root)
    (root / "b.md").symlink_to("a.md")

    with pytest.raises(SourceError, match="symbolic link"):
        plan_rename(read_folder(root), "b.md", "c")


@pytest.mark.parametrize("changed", ["a.md", "b.md"])
def test_nothing_is_written_if_a_note_has_changed(vault: Vault, changed: str) -> None:
    folder = vault({"a.md": "[[b]]", "b.md": "[[a]]", "c.md": "[[a]]"})
    plan = plan_rename(folder, "a", "new")
    Path(folder.root, changed).write_text("by hand")

    assert apply(folder, plan) == Renamed(False, (), (Conflict(changed, "has changed since it was read"),))
    assert names(folder) == ["a.md", "b.md", "c.md"]
    assert text(folder, "c.md") == "[[a]]"


def test_nothing_is_written_if_a_file_takes_the_place(vault: Vault) -> None:
    folder = vault({"a.md": "", "b.md": "[[a]]"})
    plan = plan_rename(folder, "a", "new")
    Path(folder.root, "new.md").write_text("by hand")

    assert apply(folder, plan) == Renamed(False, (), (Conflict("a.md", "can't be moved: file exists"),))
    assert (text(folder, "new.md"), text(folder, "b.md")) == ("by hand", "[[a]]")


def test_a_note_that_changes_while_others_are_written_is_told(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = vault({"a.md": "", "b.md": "[[a]]", "c.md": "[[a]]"})
    plan = plan_rename(folder, "a", "new")

    def interrupted(folder: Folder, note: Note, key: str) -> None:
        move(folder, note, key)
        Path(folder.root, "b.md").write_text("by hand [[a]]")

    monkeypatch.setattr("pipeline.domains.vault.rename.move", interrupted)

    done = apply(folder, plan)

    assert done == Renamed(True, ("c.md",), (Conflict("b.md", "has changed since it was read"),))
    assert (text(folder, "b.md"), text(folder, "c.md")) == ("by hand [[a]]", "[[new]]")


def test_front_matter_that_would_break_is_left_to_its_author(vault: Vault) -> None:
    folder = vault({"a.md": "", "b.md": "---\nup: '[[a]]'\n---\n[[a]]"})

    plan = plan_rename(folder, "a", "Ada's")
    apply(folder, plan)

    assert [(left.note, left.line, left.target) for left in plan.left] == [("b.md", 2, "a")]
    assert text(folder, "b.md") == "---\nup: '[[a]]'\n---\n[[Ada's]]"


def test_files_that_cant_be_read_are_told(vault: Vault) -> None:
    folder = vault({"a.md": "", "bad.md": b"\xff\xfe\xff", "worse.md": "---\nx: [\n---\n[[a]]"})

    plan = plan_rename(folder, "a", "b")
    apply(folder, plan)

    assert [Path(skipped.source).name for skipped in plan.skipped] == ["bad.md"]
    assert text(folder, "worse.md") == "---\nx: [\n---\n[[b]]"


def test_the_command_plans_and_renames(vault: Vault) -> None:
    root = vault({"old.md": "", "a.md": "x\n\n[[old]]"}).root

    planned = CliRunner().invoke(app, ["rename", root, "old", "new", "--dry-run"])
    assert "a.md:3: old -> new" in planned.stdout
    assert Path(root, "old.md").exists()

    done = CliRunner().invoke(app, ["rename", root, "old", "new", "--json"])
    document = json.loads(done.stdout)
    assert document["done"] == {"moved": True, "changed": ["a.md"], "conflicts": []}
    assert document["plan"]["rewrites"][0]["after"] == "new"
    assert Path(root, "a.md").read_text() == "x\n\n[[new]]"


NAMES = ("a", "b", "A", "a b", "a-b", "é")
KEYS = [f"{folder}{name}.md" for folder in ("", "x/", "x/y/", "z/") for name in NAMES]
TITLES = ("", *NAMES, "c")
TARGETS = (
    *NAMES, "c", "x/a", "x/a.md", "y/a b", "./a", "../a", "../x/b", "/a", "/x/b.md", "a.md", "z/a-b", "x/y/é", "none",
)  # fmt: skip
FORMS = ("[[{0}]]", "![[{0}#h|t]]", "[t]({1})", "[t](<{0}> 'x')", "- [[{0}|t]] `[[{0}]]`", "[t]({1}#h)")
LINKS = st.lists(st.tuples(st.sampled_from(FORMS), st.sampled_from(TARGETS)), max_size=4)
NOTES = st.tuples(st.sampled_from(TITLES), st.sampled_from(("", *TARGETS)), LINKS)


def note_text(title: str, up: str, links: list[tuple[str, str]]) -> str:
    front = (f"title: {title}\n" if title else "") + (f'up: "[[{up}]]"\n' if up else "")
    body = "\n\n".join(form.format(target, target.replace(" ", "%20")) for form, target in links)
    return f"---\n{front}---\n{body}\n" if front else f"{body}\n"


def meanings(folder: Folder) -> dict[str, list[tuple[str, str, str]]]:
    """Return what each link means by all names, by names of files alone, and as a path as Markdown reads it."""
    by_all = NoteResolver(folder.notes, folder.attachments)
    by_file = NoteResolver([replace(note, title="", aliases=()) for note in folder.notes], folder.attachments)
    keys = {note.key for note in folder.notes}
    return {
        note.key: [
            (
                by_all.resolve(link.target, note.key).key,
                by_file.resolve(link.target, note.key).key,
                as_path(link.target, note.key, keys) if note.text[link.start :].startswith("[t]") else "",
            )
            for link in note.links
        ]
        for note in folder.notes
    }


def as_path(target: str, source: str, keys: set[str]) -> str:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    return next((key for key in (path, f"{path}.md") if key in keys), "")


@settings(max_examples=60)
@given(notes=st.dictionaries(st.sampled_from(KEYS), NOTES, min_size=1, max_size=6), data=st.data())
def test_all_links_lead_to_the_same_notes_after_a_rename(
    notes: dict[str, tuple[str, str, list[tuple[str, str]]]], data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(sorted(notes)))
    new = data.draw(st.sampled_from([key for key in KEYS if key not in notes]))
    with tempfile.TemporaryDirectory() as root:
        for key, parts in notes.items():
            Path(root, key).parent.mkdir(parents=True, exist_ok=True)
            Path(root, key).write_text(note_text(*parts), encoding="utf-8")
        folder = read_folder(Path(root))
        before = meanings(folder)

        plan = plan_rename(folder, old, f"/{new}")
        done = apply(folder, plan)
        after = meanings(read_folder(Path(root)))

    assert (plan.left, done.moved, done.conflicts) == ((), True, ())
    keys = {key: new if key == old else key for key in ("", *before)}
    assert set(after) == set(keys.values()) - {""}
    for key, meant in before.items():
        for were, are in zip(meant, after[keys[key]], strict=True):
            # A link that led nowhere may lead somewhere now.
            wanted = tuple(keys[target] if target == were[0] else "" for target in were)
            assert tuple(is_now if target else "" for target, is_now in zip(wanted, are, strict=True)) == wanted
