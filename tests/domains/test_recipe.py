"""The example of the recipe, ``pipeline/domains/README.md``, is installed as a package and used as it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pipeline
from pipeline import KnowledgeGraph
from pipeline.db.client import Client
from pipeline.registry import registry

Run = Callable[..., subprocess.CompletedProcess[str]]

RECIPE = (Path(pipeline.__file__).parent / "domains" / "README.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`recipes/(\S+)`:\n\n```\w+\n(.*?)^```", RECIPE, flags=re.MULTILINE | re.DOTALL))
(ENTRY_POINT,) = re.findall(r'^recipes = "(\S+)"$', RECIPE, flags=re.MULTILINE)

DISHES = "soup: leek, potato, cream\nstew: leek, potato, beef\npie: beef, flour\ncake: flour, cream\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages with the example in it."""
    folder = tmp_path / "site"
    (folder / "recipes").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / "recipes" / name).write_text(text, encoding="utf-8")
    metadata = folder / "hoprank_recipes-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hoprank-recipes\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[hoprank.domains]\nrecipes = {ENTRY_POINT}\n")
    return folder


@pytest.fixture
def run(site: Path) -> Run:
    """Run the command line in a process of its own, beside the example."""
    alias = str(Path(pipeline.__file__).parent / "alias")
    path = os.pathsep.join([str(site), alias, os.environ.get("PYTHONPATH", "")])

    def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from hoprank import main; main()", *arguments],
            env={**os.environ, "COLUMNS": "100", "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return command


@pytest.fixture
def dishes(tmp_path: Path, client: Client) -> Iterator[Path]:
    """A file of dishes; the graph that is made of it is dropped."""
    path = tmp_path / "dishes.txt"
    path.write_text(DISHES, encoding="utf-8")
    yield path
    KnowledgeGraph("recipes", client=client).drop()


def printed(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_help_lists_it_after_the_domains_of_the_package(run: Run) -> None:
    listed = re.findall(r"^│ ([a-z]\S*) ", printed(run("--help")).partition("─ Commands ─")[2], flags=re.MULTILINE)

    assert listed[listed.index("graph") + 1 : listed.index("db")] == [*listed_domains(), "recipes"]
    assert "Dishes by food." in printed(run("--help"))
    assert "List the dishes that share the most foods" in printed(run("recipes", "--help"))


def listed_domains() -> list[str]:
    return [domain.group_name for domain in registry().domains]


@pytest.mark.slow
def test_its_settings_are_shown_set_and_refused_as_all_are(run: Run, site: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[recipes]\ntop_k = 5\n")
    defaults = str(site / "recipes" / "defaults.toml")

    for environment, arguments, shown in (
        ({}, (), f"recipes.top_k 3 {defaults}"),
        ({"HOPRANK_CONFIG": str(own)}, (), f"recipes.top_k 5 {own}"),
        ({"HOPRANK_RECIPES__TOP_K": "7", "HOPRANK_CONFIG": str(own)}, (), "recipes.top_k 7 HOPRANK_RECIPES__TOP_K"),
        ({"HOPRANK_RECIPES__TOP_K": "7"}, ("--set", "recipes.top_k=9"), "recipes.top_k 9 flag"),
    ):
        lines = printed(run("config", "show", *arguments, **environment)).splitlines()
        assert shown in [" ".join(line.split()) for line in lines]

    for environment, arguments, said in (
        ({"HOPRANK_RECIPES__TOP_K": "0"}, (), "recipes.top_k (HOPRANK_RECIPES__TOP_K): '0'"),
        (
            {},
            ("--set", "recipes.top_l=9"),
            "recipes.top_l (flag): there is no such setting.\nDid you mean 'recipes.top_k'?",
        ),
    ):
        result = run("config", "show", *arguments, **environment)
        assert result.returncode == 2
        assert said in result.stderr


@pytest.mark.slow
def test_its_commands_make_and_read_its_graph(run: Run, dishes: Path, server_environment: dict[str, str]) -> None:
    printed(run("recipes", "build", str(dishes), **server_environment))
    printed(run("recipes", "build", str(dishes), **server_environment))

    assert printed(run("recipes", "like", "soup", **server_environment)) == "stew\ncake\n"
    assert printed(run("recipes", "like", "soup", "--set", "recipes.top_k=1", **server_environment)) == "stew\n"
    assert "recipes" in printed(run("graph", "list", **server_environment))

    dishes.write_text("".join(line for line in DISHES.splitlines(keepends=True) if not line.startswith("stew")))
    printed(run("recipes", "build", str(dishes), **server_environment))
    assert printed(run("recipes", "like", "soup", **server_environment)) == "cake\n"


def test_its_page_is_a_topic(run: Run, site: Path) -> None:
    assert "recipes" not in printed(run("help"))

    (site / "recipes" / "README.md").write_text("# Recipes\n\nFind dishes.\n\nMore.\n")

    assert re.search(r"^recipes +Find dishes\.$", printed(run("help")), flags=re.MULTILINE)
    assert printed(run("help", "recipes")) == "# Recipes\n\nFind dishes.\n\nMore.\n"


CYPHER = """
// fragment: same(one, other)
// Both are one word.
<one> = <other>

// name: recipe_twice
// mode: read
// params: word, generation
// A word twice, and how much of a corpus that nobody made is visible.
OPTIONAL MATCH (c:HopRankChunk {corpus: 'none'}) WHERE <visible(c, $generation)>
WITH count(c) AS seen
WHERE <same($word, $word)>
RETURN $word + $word + seen AS twice
"""
"""A query with a fragment of the domain's own and one of ``cypher/``."""


def test_its_cypher_is_run_by_name(run: Run, site: Path, server_environment: dict[str, str]) -> None:
    (site / "recipes" / "questions.cypher").write_text(CYPHER)
    cli = (site / "recipes" / "cli.py").read_text()
    asking = """
@app.command()
def twice():
    with connected(read_settings()) as hoprank:
        print(hoprank.client.read("recipe_twice", word="leek", generation=1)[0]["twice"])
"""
    (site / "recipes" / "cli.py").write_text(cli + asking)

    assert printed(run("recipes", "twice", **server_environment)) == "leekleek0\n"


@pytest.mark.slow
@pytest.mark.parametrize(("file", "code"), [("__init__.py", 2), ("cli.py", 2), ("settings.py", 1)])
def test_other_commands_work_beside_one_that_can_t_be_imported(
    run: Run, site: Path, file: str, code: int, server_environment: dict[str, str]
) -> None:
    (site / "recipes" / file).write_text("import no_such_module\n")

    result = run("recipes", "like", "soup", **server_environment)
    others = [run(*command.split()) for command in ("--help", "config show", "help", "skills --help")]

    assert result.returncode == code
    for said in (
        "the package hoprank-recipes",
        "No module named 'no_such_module'",
        "pip uninstall hoprank-recipes",
    ):
        assert said in " ".join(result.stderr.split())
    assert [(other.returncode, other.stderr) for other in others] == [(0, "")] * 4
    assert "recipes" in others[0].stdout


def test_a_settings_file_may_keep_the_section_of_one_that_can_t_be_imported(
    run: Run, site: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[recipes]\ntop_k = 5\n")
    for file in ("settings.py", "__init__.py"):
        (site / "recipes" / file).write_text("import no_such_module\n")

        assert "recipes" not in printed(run("config", "show", HOPRANK_CONFIG=str(own)))

    shutil.rmtree(site)
    assert "recipes" in run("config", "show", HOPRANK_CONFIG=str(own)).stderr


def test_malformed_files_are_the_fault_of_their_package(
    run: Run, site: Path, server_environment: dict[str, str]
) -> None:
    (site / "recipes" / "more.cypher").write_text("RETURN 1\n")
    refused = run("corpus", "list", **server_environment)
    (site / "recipes" / "defaults.toml").write_text("top_k = \n")
    unread = run("config", "show")

    for result, said in ((refused, "stands before the first header"), (unread, "defaults.toml can't be read as TOML")):
        assert result.returncode == 2
        assert said in result.stderr
        assert "pip uninstall hoprank-recipes" in result.stderr


@pytest.mark.parametrize(("name", "taken"), [("search", "a command"), ("skills", "another domain")])
def test_a_name_that_is_taken_stays_with_who_has_it(run: Run, site: Path, name: str, taken: str) -> None:
    declaration = (site / "recipes" / "__init__.py").read_text()
    (site / "recipes" / "__init__.py").write_text(declaration.replace('"recipes"', f'"{name}"'))

    result = run(name, "--help")

    assert result.returncode == 0
    assert "Dishes" not in result.stdout
    assert f"The domain '{name}' of the package hoprank-recipes can't be used: {taken} has its name" in result.stderr
    assert "pip uninstall hoprank-recipes" in result.stderr
    assert "skills.top_k 10" in " ".join(printed(run("config", "show")).split())


def test_an_error_with_markup_leaves_the_help_whole(run: Run, site: Path) -> None:
    (site / "recipes" / "__init__.py").write_text("raise ImportError('[/bold] is missing')\n")

    assert "This domain can't be used; call it to see why." in printed(run("--help"))
    assert "[/bold] is missing" in run("recipes").stderr


def test_a_topic_that_hoprank_has_stays_its_own(run: Run, site: Path) -> None:
    declaration = (site / "recipes" / "__init__.py").read_text()
    (site / "recipes" / "__init__.py").write_text(declaration.replace('"recipes"', '"install"'))
    (site / "recipes" / "README.md").write_text("# Recipes\n\nFind dishes.\n")

    assert printed(run("help", "install")).startswith("# Install")
    assert "Find dishes." not in printed(run("help"))


def test_a_section_of_no_section_s_class_is_left_out(run: Run, site: Path) -> None:
    (site / "recipes" / "settings.py").write_text("RecipeSettings = int\n")

    assert "recipes" not in printed(run("config", "show"))


def test_a_section_that_hoprank_has_stays_its_own(run: Run, site: Path) -> None:
    declaration = (site / "recipes" / "__init__.py").read_text()
    (site / "recipes" / "__init__.py").write_text(declaration.replace('"recipes"', '"walk"'))

    assert "walk.damping" in printed(run("config", "show"))
    assert "walk.top_k" not in printed(run("config", "show"))
