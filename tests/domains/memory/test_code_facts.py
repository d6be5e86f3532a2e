"""Facts of one tree: what files of each language, manifests and configuration tell, and what they leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipeline.domains.memory.code.findings import Scan
from pipeline.domains.memory.code.scan import scan
from pipeline.domains.memory.records import Entity
from tests.domains.memory.repositories import Tree, export, facts

VARIABLES = """import os
os.environ['A'], os.getenv('B', 1), os.environ.get("C")
os.environ['SET'] = '1'
# os.environ['NOTE']
text = "os.environ['TEXT']"
os.environ['PRE_' + x]
"""


class Scanned:
    """The scan of a tree, and the targets of its facts."""

    def __init__(self, found: Scan) -> None:
        self.found = found

    def targets(self, source: str, kind: str) -> set[str]:
        """The targets of the facts of a type from a source, both as ``type name``."""
        return {target for from_, _, target in facts(self.found, kind) if from_ == source}

    def entity(self, kind: str, name: str) -> Entity:
        (entity,) = (item for item in self.found.entities if (item.type, item.name) == (kind, name))
        return entity


Read = Callable[[Mapping[str, str | bytes]], Scanned]


@pytest.fixture
def of(tmp_path: Path) -> Read:
    """Scan a tree as a plain folder."""

    def read(tree: Mapping[str, str | bytes]) -> Scanned:
        return Scanned(scan(export(tree, tmp_path / "tree"), scope="s"))

    return read


def test_source_files_and_definitions_have_their_summaries_as_text(of: Read) -> None:
    code = 'class DiskCache:\n    """Keeps. And more."""\n    def get_path(self, name, mode=1):\n        pass\n'
    seen = of({"app/file_cache.py": f'"""Caches files."""\n{code}', "notes.md": "# Notes"})

    assert seen.entity("file", "app/file_cache.py").text == (
        "app/file_cache.py\nCaches files.\nDiskCache (disk cache): Keeps.\nget_path (get path)"
    )
    assert seen.entity("class", "app/file_cache.py::DiskCache").text == "file cache: DiskCache (disk cache): Keeps."
    method = seen.entity("function", "app/file_cache.py::DiskCache.get_path")
    assert method.text == "file cache: DiskCache get_path (disk cache get path; name, mode)"
    assert seen.entity("file", "notes.md").text == "notes.md"


def test_folders_files_classes_and_functions_contain_one_another(of: Read) -> None:
    code = 'class Engine:\n    """Runs. And more."""\n    def start(self):\n        def now(): pass\ndef stop(): pass\n'
    tree = {"app/__init__.py": '"""The app."""', "app/core/engine.py": code, "app/notes.md": "x", "docs/x.md": "x"}

    seen = of(tree)

    assert facts(seen.found, "contains") == {
        ("module .", "contains", "module app"),
        ("module app", "contains", "file app/__init__.py"),
        ("module app", "contains", "file app/notes.md"),
        ("module app", "contains", "module app/core"),
        ("module app/core", "contains", "file app/core/engine.py"),
        ("file app/core/engine.py", "contains", "class app/core/engine.py::Engine"),
        ("class app/core/engine.py::Engine", "contains", "function app/core/engine.py::Engine.start"),
        ("function app/core/engine.py::Engine.start", "contains", "function app/core/engine.py::Engine.start.now"),
        ("file app/core/engine.py", "contains", "function app/core/engine.py::stop"),
    }
    assert seen.entity("module", "app").description == "The app."
    assert seen.entity("class", "app/core/engine.py::Engine").description == "Runs."
    assert seen.entity("function", "app/core/engine.py::Engine.start").aliases == ("Engine.start", "start")


def test_imports_of_python_lead_to_files_or_packages(of: Read) -> None:
    code = (
        "import os, json\nfrom _typeshed.wsgi import StartResponse\nimport yaml\nimport numpy.linalg as la\n"
        "from pkg.a import f\nfrom pkg import a, missing\n"
        "from . import c\nfrom .c import g\nfrom ..nowhere import x\nfrom ....far import y\nimport pkg.gone\n"
    )
    files = ("pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/c.py")
    tree = {**dict.fromkeys(files, ""), "pkg/sub/b.py": code}

    seen = of(tree)

    assert seen.targets("file pkg/sub/b.py", "imports") == {
        "library pyyaml",
        "library numpy",
        "file pkg/a.py",
        "file pkg/__init__.py",
        "file pkg/sub/c.py",
    }


def test_sources_below_src_and_scripts_beside_one_another_are_found(of: Read) -> None:
    tree = {"src/own/__init__.py": "", "tests/test_own.py": "import own\nimport helper\n", "tests/helper.py": ""}

    seen = of(tree)

    assert seen.targets("file tests/test_own.py", "imports") == {"file src/own/__init__.py", "file tests/helper.py"}


@pytest.mark.parametrize(
    ("tree", "source", "targets"),
    [
        (
            {
                "web/a.ts": "import { f } from './b.js'\nimport fs from 'fs'\nimport x from '@org/kit/sub'\n"
                "import lib from './lib'\nimport y from '@/alias'\nconst z = require('Left-Pad/x')\n",
                "web/b.ts": "",
                "web/lib/index.tsx": "",
            },
            "file web/a.ts",
            {"file web/b.ts", "file web/lib/index.tsx", "library @org/kit", "library left-pad"},
        ),
        (
            {
                "go.mod": "module example.org/app\nrequire github.com/Some/thing/v2 v2.0.0\n",
                "main.go": 'package main\nimport "fmt"\nimport "example.org/app/store"\n'
                'import "github.com/Some/thing/v2/sub"\n',
                "store/a.go": "package store",
                "store/a_test.go": "package store",
            },
            "file main.go",
            {"file store/a.go", "library github.com/some/thing/v2"},
        ),
        (
            {
                "Cargo.toml": '[package]\nname = "my_app"\n',
                "src/lib.rs": "mod net;\nuse serde_json::Value;\nuse std::fs;\nuse crate::net::tcp::Socket;\n",
                "src/net/mod.rs": "pub mod tcp;\n",
                "src/net/tcp.rs": "use super::up;\n",
            },
            "file src/lib.rs",
            {"file src/net/mod.rs", "file src/net/tcp.rs", "library serde-json"},
        ),
        (
            {
                "pom.xml": "<project><groupId>g</groupId><artifactId>a</artifactId><dependencies><dependency>"
                "<groupId>com.fast.json</groupId><artifactId>core</artifactId></dependency></dependencies></project>",
                "src/main/java/org/own/A.java": "import org.own.io.B;\nimport java.util.List;\n"
                "import com.fast.json.X;\n",
                "src/main/java/org/own/io/B.java": "class B {}",
            },
            "file src/main/java/org/own/A.java",
            {"file src/main/java/org/own/io/B.java", "library com.fast.json:core"},
        ),
        (
            {
                "src/a.c": '#include "b.h"\n#include <stdio.h>\n#include "deep/c.h"\n',
                "src/b.h": "",
                "include/deep/c.h": "",
            },
            "file src/a.c",
            {"file src/b.h", "file include/deep/c.h"},
        ),
        (
            {"lib/own.rb": "require 'own/part'\nrequire 'json'\nrequire 'rails/all'\n", "lib/own/part.rb": ""},
            "file lib/own.rb",
            {"file lib/own/part.rb", "library rails"},
        ),
        (
            {"a.php": "<?php\nrequire 'inc/b.php';\nuse Some\\Thing;\n", "inc/b.php": "<?php\n"},
            "file a.php",
            {"file inc/b.php"},
        ),
    ],
    ids=["typescript", "go", "rust", "java", "c", "ruby", "php"],
)
def test_imports_of_other_languages(of: Read, tree: Tree, source: str, targets: set[str]) -> None:
    assert of(tree).targets(source, "imports") == targets


def test_calls_reach_what_the_code_says_and_nothing_else(of: Read) -> None:
    code = (
        "from pkg.tools import cut, Saw\nfrom pkg import tools\nimport json\n\n"
        "def run(log, cut_it=None):\n    log()\n    cut_it()\n    cut()\n    tools.sharpen()\n    Saw.blade()\n"
        "    json.loads()\n    print()\n    value.saw_off()\n    value.get()\n\n"
        "def log(): pass\ndef cut_it(): pass\n\n"
        "class Shop:\n    def open_it(self):\n        self.close_it()\n        self.inherited()\n        close_it()\n"
        "    def close_it(self): run(1)\n"
    )
    tools = (
        "def cut(): pass\ndef sharpen(): pass\ndef loads(): pass\n"
        "class Saw:\n    def blade(): pass\n    def saw_off(self): pass\n    def get(self): pass\n"
    )
    tree = {"pkg/__init__.py": "", "pkg/tools.py": tools, "pkg/shop.py": code, "far.py": "x.saw_off()\nsharpen()\n"}

    seen = of(tree)

    assert seen.targets("function pkg/shop.py::run", "calls") == {
        "function pkg/tools.py::cut",
        "function pkg/tools.py::sharpen",
        "function pkg/tools.py::Saw.blade",
        "function pkg/tools.py::Saw.saw_off",
    }
    assert seen.targets("function pkg/shop.py::Shop.open_it", "calls") == {"function pkg/shop.py::Shop.close_it"}
    assert seen.targets("function pkg/shop.py::Shop.close_it", "calls") == {"function pkg/shop.py::run"}
    assert seen.targets("file far.py", "calls") == set()
    by_name = {span.target for span in seen.found.facts if span.type == "calls" and span.confidence < 0.9}
    assert by_name == {"s|function|pkg/tools.py::Saw.saw_off"}


def test_a_name_that_a_package_passes_on_is_that_of_its_definition(of: Read) -> None:
    tree = {
        "pkg/__init__.py": "from pkg.core import make as build\n",
        "pkg/core.py": "def make(): pass\n",
        "a.py": "from pkg import build\nbuild()\n",
    }

    assert of(tree).targets("file a.py", "calls") == {"function pkg/core.py::make"}


@pytest.mark.parametrize(
    ("tree", "source", "target"),
    [
        (
            {"a.ts": "import * as b from './b'\nb.f()\n", "b.ts": "export function f() {}"},
            "file a.ts",
            "function b.ts::f",
        ),
        (
            {"a.go": "package a\nfunc F() { g() }", "b.go": "package a\nfunc g() {}"},
            "function a.go::F",
            "function b.go::g",
        ),
        (
            {"src/lib.rs": "mod net;\nfn f() { net::dial(); }", "src/net.rs": "pub fn dial() {}"},
            "function src/lib.rs::f",
            "function src/net.rs::dial",
        ),
        (
            {"A.java": "class A { void f() { this.g(); } void g() {} }"},
            "function A.java::A.f",
            "function A.java::A.g",
        ),
        ({"a.c": '#include "b.h"\nvoid f() { g(); }', "b.h": "void g();"}, "function a.c::f", "function b.h::g"),
        ({"a.c": "void f() { g(); }", "b.c": "void g() {}"}, "function a.c::f", "function b.c::g"),
        ({"a.rb": "class A\ndef f\nself.g\nend\ndef g\nend\nend"}, "function a.rb::A.f", "function a.rb::A.g"),
        (
            {"a.php": "<?php class A { function f() { $this->g(); } function g() {} }"},
            "function a.php::A.f",
            "function a.php::A.g",
        ),
        ({"A.cs": "class A { void F() { G(); } void G() {} }"}, "function A.cs::A.F", "function A.cs::A.G"),
    ],
    ids=["typescript", "go", "rust", "java", "header", "c", "ruby", "php", "csharp"],
)
def test_calls_of_other_languages(of: Read, tree: Tree, source: str, target: str) -> None:
    assert of(tree).targets(source, "calls") == {target}


def test_packages_depend_on_what_their_manifests_list(of: Read) -> None:
    tree = {
        "pyproject.toml": '[project]\nname = "My_App"\ndescription = "Does it."\ndependencies = ["PyYAML>=6"]\n'
        '[dependency-groups]\ndev = ["pytest"]\n',
        "requirements.txt": "numpy\n",
        "web/package.json": '{"name": "@my/web", "dependencies": {"react": "1"}}',
    }

    seen = of(tree)

    assert seen.targets("library my-app", "depends_on") == {"library pyyaml", "library pytest", "library numpy"}
    assert seen.targets("library @my/web", "depends_on") == {"library react"}
    assert seen.entity("library", "my-app").description == "Does it."
    weights = {span.target: span.weight for span in seen.found.facts if span.type == "depends_on"}
    assert weights["s|library|pytest"] < weights["s|library|pyyaml"]


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        (
            "a.py",
            VARIABLES,
            {"A", "B", "C"},
        ),
        ("a.ts", "process.env.A; process.env['B']; process.env.SET = '1'; // process.env.C\n", {"A", "B"}),
        ("a.rs", 'fn f() { std::env::var("A"); env!("B"); }', {"A", "B"}),
        ("a.go", 'package a\nfunc f() { os.Getenv("A"); os.LookupEnv("B") }', {"A", "B"}),
        ("A.java", 'class A { String a = System.getenv("A"); }', {"A"}),
        ("a.rb", "ENV['A'] || ENV.fetch('B', 1)\n", {"A", "B"}),
        ("a.c", 'void f() { getenv("A"); }', {"A"}),
        ("a.php", "<?php getenv('A'); $_ENV['B'];", {"A", "B"}),
        ("a.cs", 'class A { string a = Environment.GetEnvironmentVariable("A"); }', {"A"}),
        (".env.example", "A=1\nexport B=2\n# C=3\n", {"A", "B", ".env.example"}),
        (
            "docker-compose.yml",
            "services:\n  web:\n    environment:\n      A: 1\n  db:\n    environment: [B=2, C]\n",
            {"A", "B", "C", "docker-compose.yml"},
        ),
        (
            "docker-compose.yml",
            "services:\n  a:\n    p: [\n    environment:\n      A: *a\n  b:\n    image: x: y\n    environment: [B]\n",
            {"A", "B", "docker-compose.yml"},
        ),
        ("config/app.yaml", "a: 1\n", {"config/app.yaml"}),
        ("notes/app.yaml", "a: 1\n", set()),
    ],
)
def test_variables_and_files_of_configuration(of: Read, path: str, code: str, names: set[str]) -> None:
    seen = of({path: code})

    assert seen.targets("module .", "configured_by") == {f"config {name}" for name in names}


def test_what_configures_a_package_is_said_of_it(of: Read) -> None:
    tree = {"pyproject.toml": '[project]\nname = "app"\n', "app/a.py": "import os\nos.environ['A']\n"}

    seen = of(tree)

    assert seen.targets("library app", "configured_by") == {"config pyproject.toml", "config A"}
    assert seen.targets("file app/a.py", "configured_by") == {"config A"}


def test_a_folder_leaves_out_what_git_ignores_and_what_is_installed(of: Read, tmp_path: Path) -> None:
    tree: Tree = {
        ".gitignore": "secret.py\nlocal/\n",
        "a.py": "",
        "secret.py": "",
        "local/b.py": "",
        "node_modules/c/index.js": "",
        "build/d.py": "",
        ".venv/pyvenv.cfg": "",
        ".venv/e.py": "",
        ".hidden/f.py": "",
        ".github/CODEOWNERS": "* @x\n",
        "image.png": b"\x89PNG\x00\x00",
    }

    seen = of(tree)

    files = {entity.name for entity in seen.found.entities if entity.type == "file"}
    assert files == {".gitignore", "a.py", ".github/CODEOWNERS"}
