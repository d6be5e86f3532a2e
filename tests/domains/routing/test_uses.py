"""USES: what imports and manifests propose, and the names of projects in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.schema import Project
from tests.domains.routing.detected import OTHERS, detected


def test_an_import_proposes_uses_with_its_place(tmp_path: Path) -> None:
    found = detected(tmp_path, {"app/client.py": "import os\nfrom requests.adapters import HTTPAdapter\n"})

    proposal = found["uses", "psf/requests"]
    assert proposal.evidence == ("app/client.py:2: imports requests.adapters",)
    assert proposal.detector == "imports"
    assert 0.5 < proposal.confidence < 0.7


def test_files_that_agree_raise_the_confidence_one_file_counts_once_and_a_test_says_less(tmp_path: Path) -> None:
    inside = detected(tmp_path / "0", {"tests/test_a.py": "import requests\n"})
    one = detected(tmp_path / "1", {"a.py": "import requests\nimport requests.auth\n"})
    two = detected(tmp_path / "2", {"a.py": "import requests\n", "b.py": "import requests\n"})
    many = detected(tmp_path / "3", {f"m{number}.py": "import requests\n" for number in range(30)})

    scores = [found["uses", "psf/requests"].confidence for found in (inside, one, two, many)]
    assert scores == sorted(set(scores))
    assert scores[3] < 1
    assert len(many["uses", "psf/requests"].evidence) == 10


@pytest.mark.parametrize(
    "files",
    [
        {"app/__init__.py": "", "app/a.py": "from .requests import get\n", "app/requests.py": ""},
        {"app/a.py": "from . import requests\n"},
        {"requests/__init__.py": "", "a.py": "import requests\n"},
        {"src/requests/api.py": "", "tests/test_a.py": "import requests\n"},
        {"tools/requests.py": "", "tools/run.py": "import requests\n"},
        {"a.py": "# import requests\ntext = 'import requests'\n"},
        {
            "node_modules/x/a.py": "import requests\n",
            "venv/lib/a.py": "import requests\n",
            ".git/a.py": "import requests",
        },
        {".gitignore": "made/\n", "made/a.py": "import requests\n"},
        {"a.py": "import requests_toolbelt\nimport myrequests\n"},
        {"pyproject.toml": '[project]\nname = "requests"\n', "a.py": "import requests\n"},
        {"a.py": "import logging, json\n"},
        {"a.py": "import patina\n", "tests/b.py": "from patina import x\n"},
    ],
    ids="sibling relative folder src script comment vendored ignored longer own-package standard itself".split(),
)
def test_what_is_no_import_of_another_project_proposes_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    assert detected(tmp_path, files, others=(*OTHERS, Project("acme/logging"), Project("acme/json"))) == {}


@pytest.mark.parametrize(
    "files",
    [
        {"app/__init__.py": "", "app/requests.py": "import requests\n"},  # within a package
        {"tests/data/pyproject.toml": '[project]\nname = "requests"\n', "a.py": "import requests\n"},
    ],
)
def test_a_module_of_its_name_does_not_always_shadow_a_project(tmp_path: Path, files: dict[str, str]) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")

    assert ("uses", "psf/requests") in detected(tmp_path, files)


def test_a_dependency_of_a_manifest_is_nearly_certain_and_one_for_development_less(tmp_path: Path) -> None:
    manifest = '[project]\nname = "patina"\ndependencies = [\n  "Requests>=2",\n  "tree_sitter",\n]\n'

    found = detected(tmp_path, {"pyproject.toml": f'{manifest}[dependency-groups]\ndev = ["dojo"]\n'})

    assert found["uses", "psf/requests"].confidence > 0.95
    assert found["uses", "psf/requests"].evidence[0].startswith("pyproject.toml:4: depends on ")
    assert ("uses", "tree-sitter") in found
    assert 0.5 < found["uses", "dojo"].confidence < 0.9


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("package.json", '{"name": "patina", "dependencies": {"dojo-core": "^1"}}'),
        ("Cargo.toml", '[package]\nname = "patina"\n[dependencies]\ndojo_core = "1"\n'),
        ("go.mod", "module example.com/patina\n\nrequire github.com/acme/dojo-core/v2 v2.1.0\n"),
        ("requirements.txt", "dojo-core==1.0\n"),
        ("main.go", 'package main\nimport "github.com/acme/dojo-core/world"\n'),
        ("main.rs", "use dojo_core::world::World;\n"),
        ("main.js", 'import { World } from "dojo-core/world";\nconst x = require("./dojo");\n'),
        ("main.c", "#include <dojo-core/world.h>\n"),
    ],
)
def test_every_ecosystem_names_projects_in_its_own_way(tmp_path: Path, file: str, text: str) -> None:
    others = [Project("acme/dojo-core")]

    assert ("uses", "acme/dojo-core") in detected(tmp_path, {file: text}, others=others)


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("core", None),  # two projects have it
        ("acme/core", "acme/core"),
        ("core_tools", "tools"),
        ("flask", "flask"),  # an id comes before the last part of another
    ],
)
def test_a_name_means_one_project(name: str, project: str | None) -> None:
    ids = ("acme/core", "dojo/core", "flask", "pallets/flask")
    names = ProjectNames([*map(Project, ids), Project("tools", aliases=("core-tools",))])

    assert names.named(name) == project


@pytest.mark.parametrize(
    ("module", "project"),
    [
        ("github.com/acme/core/sub", "acme/core"),
        ("@acme/core/sub", "acme/core"),
        ("acme.tools", "acme"),
        ("@acme/tools", None),  # a scope, and an owner at a host, are no names
        ("github.com/acme/tools", None),
    ],
)
def test_an_import_means_the_project_of_its_longest_name(module: str, project: str | None) -> None:
    assert ProjectNames([Project("acme"), Project("acme/core")]).imported(module) == project
