"""Repositories as they are: impossible times, shallow clones, names in old encodings, submodules and renames."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pygit2
import pytest

from pipeline.domains.memory.code.files import commit_of
from pipeline.domains.memory.code.findings import Scan
from pipeline.domains.memory.code.scan import scan
from tests.domains.memory.repositories import ANN, BOB, Repository, export, facts, said

DAY = 86_400
NOON = 1_700_000_000
TO_COME = 4_102_444_800  # in the year 2100
WORK = "def work():\n    return 1\n\n\ndef rest():\n    return 2\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def since(found: Scan, target: str) -> str:
    (time,) = (str(span.valid_at) for span in found.facts if said(span)[1:] == ("contains", target))
    return time


def authors(found: Scan, path: str) -> set[str]:
    return {
        target.removeprefix("person ") for source, _, target in facts(found, "authored_by") if source == f"file {path}"
    }


def test_a_time_to_come_counts_as_that_of_the_commit_before(repository: Repository) -> None:
    for place, time in enumerate((NOON, 1, TO_COME, NOON + DAY)):
        repository.commit({f"{at}.py": "" for at in range(place + 1)}, time)

    found = scan(repository.path, scope="s", history=True)

    first, last = (datetime.fromtimestamp(time, UTC).isoformat() for time in (NOON, NOON + DAY))
    assert found.time == since(found, "file 3.py") == last
    assert [since(found, f"file {place}.py") for place in range(3)] == [first] * 3
    assert found.remarks == ("2 commits with an impossible time, read as made when the one before was.",)


def test_first_commits_of_a_time_to_come_are_as_old_as_the_next(repository: Repository) -> None:
    repository.commit({"a.py": ""}, TO_COME)
    assert scan(repository.path, scope="s").time.startswith("2100")  # nothing else is known of it

    repository.commit({"a.py": "", "b.py": ""}, NOON)

    found = scan(repository.path, scope="s", history=True)
    assert since(found, "file a.py") == datetime.fromtimestamp(NOON, UTC).isoformat()


@pytest.mark.parametrize("history", [True, False])
def test_nobody_is_the_author_of_what_a_shallow_clone_doesnt_tell(repository: Repository, history: bool) -> None:
    repository.commit({"a.py": "1"}, NOON, ANN)
    border = repository.commit({"a.py": "1", "b.py": "1"}, NOON + 1, BOB)
    repository.commit({"a.py": "1", "b.py": "2"}, NOON + 2, BOB)
    (repository.path / ".git" / "shallow").write_text(f"{border}\n")

    found = scan(repository.path, scope="s", history=history)

    assert (authors(found, "a.py"), authors(found, "b.py")) == (set(), {"Bob"})
    assert found.remarks == (
        "It is a shallow clone: authors and times of what is older than its commits aren't known.",
    )


def test_a_merge_has_no_false_authors_either(repository: Repository) -> None:
    base = repository.commit({"a.py": "1"}, NOON, ANN)
    side = repository.commit({"a.py": "1", "side.py": "1"}, NOON + 1, BOB, [base])
    main = repository.commit({"a.py": "2"}, NOON + 2, ANN, [base])
    repository.commit({"a.py": "2", "side.py": "1"}, NOON + 3, ("Cy", "cy@example.org"), [main, side])
    (repository.path / ".git" / "shallow").write_text(f"{main}\n{side}\n")

    found = scan(repository.path, scope="s")

    assert (authors(found, "a.py"), authors(found, "side.py")) == (set(), set())


@pytest.mark.parametrize("declared", [b"", b"encoding ISO-8859-1\n", b"encoding no-such\n"])
def test_a_name_is_read_as_its_commit_says_or_as_it_can_be(repository: Repository, declared: bytes) -> None:
    repository.commit({"a.py": ""}, NOON)
    git = pygit2.Repository(str(repository.path))
    tree = git[git.head.target].peel(pygit2.Tree).id
    names = b"author Jos\xe9 M\xe4rz <jose@example.org> %d +0000\ncommitter C <c@example.org> %d +0000\n" % (NOON, NOON)
    written = git.odb.write(
        pygit2.enums.ObjectType.COMMIT, b"tree %s\n%s%s\nx\n" % (str(tree).encode(), names, declared)
    )
    git.references.create("refs/heads/main", written, force=True)

    assert authors(scan(repository.path, scope="s"), "a.py") == {"José März"}


def commit_raw(git: pygit2.Repository, author: bytes, committer: bytes, parents: list[pygit2.Oid]) -> pygit2.Oid:
    """Commit the tree of HEAD with another empty file, by these lines."""
    builder = git.TreeBuilder(commit_of(git, git.head.target).tree)
    builder.insert("odd.py" if len(parents) < 2 else "merged.py", git.create_blob(b""), pygit2.enums.FileMode.BLOB)
    lines = [b"tree %s" % str(builder.write()).encode(), *(b"parent %s" % str(one).encode() for one in parents)]
    content = b"\n".join([*lines, b"author " + author, b"committer " + committer]) + b"\n\nx\n"
    written = git.odb.write(pygit2.enums.ObjectType.COMMIT, content)
    git.references.create("refs/heads/main", written, force=True)
    return written


GOOD = b"Cy <cy@x.org> %d +0000" % NOON


@pytest.mark.parametrize(
    ("odd", "name"),
    [
        (b"Di <di@x.org> 99999999999999999999999 +0000", "Di"),
        (b"Di <di@x.org> soon +0000", "Di"),
        (b"Di <di@x.org", "Di"),
        (b"Di 1700000000 +0000", "Di"),
        (b"", ""),
    ],
)
def test_a_commit_that_libgit2_refuses_is_read(repository: Repository, odd: bytes, name: str) -> None:
    first = repository.commit({"a.py": ""}, NOON)
    git = pygit2.Repository(str(repository.path))
    commit_raw(git, odd, odd, [commit_raw(git, odd, GOOD, [first])])

    found = scan(repository.path, scope="s", history=True)

    assert authors(found, "odd.py") == ({name} if name else set())
    assert found.time == datetime.fromtimestamp(NOON, UTC).isoformat()
    assert authors(found, "a.py") == {"Ann"}


def test_a_merge_of_a_commit_that_libgit2_refuses_has_no_false_authors(repository: Repository) -> None:
    first = repository.commit({"a.py": ""}, NOON)
    git = pygit2.Repository(str(repository.path))
    commit_raw(git, GOOD, GOOD, [first, commit_raw(git, b"Di <di@x.org> soon +0000", GOOD, [first])])

    found = scan(repository.path, scope="s")

    assert {entity.name for entity in found.entities if entity.type == "file"} == {"a.py", "odd.py", "merged.py"}
    assert authors(found, "odd.py") == set()


def test_submodules_are_named(repository: Repository) -> None:
    modules = '[submodule "x"]\n\tpath = vendor/x\n\turl = ../x\n[submodule "y"]\n  path=lib y\n'
    repository.commit({"a.py": "", ".gitmodules": modules}, NOON)

    found = scan(repository.path, scope="s")

    assert found.remarks == ("Submodules aren't scanned, but may be by themselves: vendor/x, lib y.",)


@pytest.mark.parametrize("after", [WORK, WORK.replace("2", "3") + "\n# moved\n"])
def test_a_renamed_file_keeps_its_authors(repository: Repository, after: str) -> None:
    repository.commit({"old.py": WORK, "empty.py": "", "other.py": "import numpy\n"}, NOON, ANN)
    repository.commit({"new/work.py": after, "new/__init__.py": "", "else.py": "x = 1\n"}, NOON + 1, BOB)

    found = scan(repository.path, scope="s")

    assert authors(found, "new/work.py") == {"Ann", "Bob"}
    assert authors(found, "new/__init__.py") == authors(found, "else.py") == {"Bob"}


def test_a_folder_with_names_that_arent_utf_8_is_scanned(tmp_path: Path) -> None:
    folder = export({"a.py": ""}, tmp_path / "code")
    (Path(str(folder)) / "caf\udce9.py").write_text("def brew(): pass\n")

    found = scan(folder, scope="s")

    assert ("file caf\\xe9.py", "contains", "function caf\\xe9.py::brew") in facts(found, "contains")
