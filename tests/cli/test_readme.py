"""The README, the pages of the documentation and what they speak of agree."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pipeline
from pipeline import errors
from pipeline.cli.app import app
from pipeline.db.catalogue import GRAPH_SCHEMA_VERSION, SCHEMA_VERSION
from pipeline.docs import topics
from pipeline.registry import registry
from pipeline.retrieve.filters.parse import Operator
from pipeline.retrieve.legs import Leg
from pipeline.settings import Settings, load_settings, provenance

ROOT = Path(__file__).parents[2]
PAGES = Path(pipeline.__file__).parent / "docs"
FILES = topics()
TEXTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *FILES.values())}
README = TEXTS[ROOT / "README.md"]
WORDS = [word for text in TEXTS.values() for word in re.findall(r"`([^`\n]+)`", text)]
"""Commands, settings, options, files: all that stands between backquotes."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def shell(text: str) -> str:
    return "\n".join(blocks(text, "sh")).replace("\\\n", " ")


def commands(lines: str) -> list[str]:
    return re.findall(r"(?:^|&& |/bin/|uv run |--no-sync )hoprank (.*?)(?: +#.*)?$", lines, flags=re.MULTILINE)


COMMANDS = sorted({command for text in TEXTS.values() for command in commands(shell(text))})
INLINE = sorted({word.removeprefix("hoprank ") for word in WORDS if word.startswith("hoprank ")})
PYTHON = [block for text in TEXTS.values() for block in blocks(text, "python")]
SETTINGS = {row.name for row in provenance()}


@cache
def helps() -> dict[str, str]:
    """The help of every command of the command line, by its name; of groups and of the root ("") too."""
    return dict(_helps(()))


def _helps(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "200"}).output
    yield " ".join(names), shown
    _, _, listed = shown.partition("─ Commands ─")
    for name in re.findall(r"^│ ([a-z]\S*) ", listed, flags=re.MULTILINE):
        yield from _helps((*names, name))


def leaves() -> list[str]:
    """The commands that aren't groups."""
    return [name for name in helps() if name and not any(other.startswith(f"{name} ") for other in helps())]


def test_ci_runs_the_readme_s_line() -> None:
    (line,) = (line for line in shell(README).splitlines() if "pytest" in line)

    assert line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_that_there_is(command: str) -> None:
    # --help ends the command before it does anything, but after its options were read.
    result = CliRunner().invoke(app, [*shlex.split(command), "--help"])

    assert result.exit_code == 0, result.output


def test_every_command_in_a_sentence_is_one_that_there_is() -> None:
    def exists(command: str) -> bool:
        one, *others = command.split()
        return one.startswith("-") or one in leaves() or " ".join([one, *others[:1]]) in helps()

    assert not [command for command in INLINE if not exists(command)]


def test_every_command_is_documented() -> None:
    text = "\n".join([*COMMANDS, *INLINE])

    assert not [name for name in leaves() if not re.search(rf"^{name}\b", text, flags=re.MULTILINE)]


def test_every_option_is_one_that_there_is() -> None:
    known = {option for text in helps().values() for option in re.findall(r"--[a-z][a-z-]*", text)}
    others = {"--dry-run", "--group", "--no-sync", "--no-embeddings", "--overwrite-destination"}
    named = {option for word in WORDS if not word.startswith("uv ") for option in re.findall(r"--[a-z][a-z-]*", word)}

    assert named <= known | others


def test_every_setting_is_one_that_there_is() -> None:
    sections = "|".join(type(load_settings()).model_fields)
    named = {word.split(" ")[0] for word in WORDS if re.match(rf"(?:{sections})\.(?!py\b)\w", word)}
    groups = {name.rpartition(".")[0] for name in SETTINGS}

    assert named
    assert named <= SETTINGS | groups


def test_every_section_of_the_settings_is_on_its_page() -> None:
    sections = Settings.model_fields.keys() - {"home"}
    table = re.findall(r"^\| `(\w+)` \|", TEXTS[PAGES / "settings.md"].partition("## Sections")[2], flags=re.MULTILINE)

    assert set(table) == sections


def test_every_variable_of_the_environment_is_one_that_is_read() -> None:
    own = {f"HOPRANK_{name.replace('.', '__').upper()}" for name in SETTINGS}
    own |= {"HOPRANK_CONFIG", "HOPRANK_DEBUG", "HOPRANK_TEST_NEWEST", "HOPRANK_<SECTION>__<NAME>"}
    own |= {f"NEO4J_{name}" for name in ("URI", "USERNAME", "PASSWORD", "DATABASE")}
    named = {name for text in TEXTS.values() for name in re.findall(r"\b(?:HOPRANK|NEO4J)_[A-Z_<>]+", text)}

    assert named <= own


def test_legs_operators_and_errors_are_all_there() -> None:
    tree = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}

    assert set(first_column("search.md", "Legs")) == set(Leg)
    assert {word for word in WORDS if word.startswith("$") and " " not in word} == {*Operator, "$and", "$or"}
    assert {name for name in first_column("errors.md", "Errors") if not name.isdigit()} == tree


def first_column(page: str, heading: str) -> list[str]:
    """What the rows of the tables below a heading begin with."""
    section = re.search(rf"^#+ {heading}$(.*?)(?=^## |\Z)", TEXTS[PAGES / page], flags=re.MULTILINE | re.DOTALL)
    assert section
    return re.findall(r"^\| `(\w+)` \|", section[1], flags=re.MULTILINE)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXTS[path]):
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.is_file(), target
        assert not anchor or anchor in anchors(TEXTS[file.resolve()]), target


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_readme_links_to_every_page() -> None:
    linked = re.findall(r"^\| \[(\w+)\]\((pipeline/[^)]+)\) \|", README, flags=re.MULTILINE)

    assert linked == [(topic, path.relative_to(ROOT).as_posix()) for topic, path in FILES.items()]


def test_every_file_that_is_named_is_there() -> None:
    named = {word for word in WORDS if re.match(r"(?:pipeline|cypher|configs|tests|\.ci)/", word)}

    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_what_newcomers_are_sent_to_is_there() -> None:
    tree = TEXTS[PAGES / "layout.md"].partition("    pipeline/\n")[2].partition("\n\n")[0]
    folders = [Path(ROOT / "pipeline")]

    for indent, name in re.findall(r"^ {4}( *)(\S+)", tree, flags=re.MULTILINE):
        depth = len(indent) // 2
        place = (folders[depth - 1] if depth else ROOT) / name
        folders[depth:] = [place]
        assert place.exists()


def test_every_folder_of_the_package_is_on_the_map() -> None:
    tree = TEXTS[PAGES / "layout.md"]
    folders = [path.parent.name for path in (ROOT / "pipeline").glob("*/__init__.py")]

    assert not [name for name in folders if f" {name}/" not in tree]


@pytest.mark.parametrize("block", PYTHON)
def test_python_uses_what_there_is(block: str) -> None:
    tree = ast.parse(block)
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in ("hoprank", "pipeline")
    ]
    imported = [alias.name for node in imports for alias in node.names]
    used = {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    known = {"hoprank": {*dir(pipeline.HopRank), "settings"}, "graph": set(dir(pipeline.KnowledgeGraph))}

    assert all(node.module == "hoprank" for node in imports), "`pipeline` may be the name of a user's own folder"
    assert all(hasattr(pipeline, name) for name in imported)
    assert all(attribute in known[name] for name, attribute in used if name in known)


def documented(owner: type, *pages: str) -> list[str]:
    """Return the public methods of a class that none of the pages shows or names."""
    text = "\n".join(TEXTS[FILES[page]] for page in pages)
    methods = [name for name, value in vars(owner).items() if not name.startswith("_") and callable(value)]
    return [name for name in methods if not re.search(rf"`{name}`|\.{name}\(", text)]


def test_every_public_method_is_documented() -> None:
    faces = {
        domain.name: owner
        for domain in registry().domains
        for owner in (getattr(pipeline, name) for name in pipeline.__all__)
        if owner.__module__.startswith(f"{domain.package}.")
    }

    assert faces
    assert {name: documented(owner, "python", name) for name, owner in faces.items()} == {name: [] for name in faces}
    assert documented(pipeline.HopRank, "python") == documented(pipeline.AsyncHopRank, "python") == []
    assert documented(pipeline.KnowledgeGraph, "knowledge") == []


def test_the_changelog_tells_of_this_version_and_these_layouts() -> None:
    log = TEXTS[PAGES / "changelog.md"]
    rows = [re.findall(r"^\| (\d+) \|", part, flags=re.MULTILINE) for part in log.split("## Layouts of a ")[1:]]

    assert re.search(r"^## (\S+)$", log, flags=re.MULTILINE)[1] == version("hoprank")  # type: ignore[index]
    assert [int(row[-1]) for row in rows] == [SCHEMA_VERSION, GRAPH_SCHEMA_VERSION]


def test_pinned_versions_name_no_host() -> None:
    constraints = (ROOT / "configs" / "constraints.txt").read_text(encoding="utf-8")
    pins = [line for line in constraints.splitlines() if line and not line.startswith("#")]

    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[^/@]+", pin) for pin in pins)
