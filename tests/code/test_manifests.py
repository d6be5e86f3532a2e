"""Manifests: names, descriptions and dependencies; malformed ones, and programs that aren't run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.code.manifests import Manifest, is_manifest, read_manifest

PYPROJECT = """\
[project]
name = "My_Pack.Age"
description = "Packs\\n ages."
keywords = ["a", "b"]
dependencies = ["Requests[socks]>=2; python_version > '3'", "requests", "not a requirement!", "foo @ https://x.org/f"]
[project.optional-dependencies]
plot = ["matplotlib"]
test = ["pytest", "requests"]
[dependency-groups]
dev = ["ruff", {include-group = "x"}]
"""
POETRY = """\
[tool.poetry]
name = "po"
[tool.poetry.dependencies]
python = "^3"
Httpx = {version = "1"}
[tool.poetry.group.dev.dependencies]
black = "*"
"""
SETUP_CFG = """\
[metadata]
name = Foo.Bar
description = 50% done
keywords = a, b
[options]
install_requires =
    six>1
    b; python_version < "3"
[options.extras_require]
docs = sphinx
"""
PACKAGE = (
    '{"name": "@X/y", "description": "Y.", "dependencies": {"React": "1"}, "peerDependencies": {"vue": "2"},'
    ' "devDependencies": {"jest": "3", "react": "1"}, "keywords": ["ui", 1]}'
)
CARGO = """\
[package]
name = "a_b"
[dependencies]
serde = {version = "1"}
z = {package = "other_name"}
[target."cfg(unix)".dependencies]
libc = "0.2"
[dev-dependencies]
quickcheck = "1"
"""
GO = """\
module github.com/X/y

require (
\tgithub.com/a/b v1.0.0 // indirect
\tgithub.com/c/d v2.0.0
\t// a comment
)
require gopkg.in/e.v1 v1.0.0
"""
POM = """\
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>org.G</groupId></parent><artifactId>app</artifactId><description>An app.</description>
  <dependencies>
    <dependency><groupId>${project.groupId}</groupId><artifactId>core</artifactId></dependency>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><scope>test</scope></dependency>
  </dependencies>
</project>
"""


@pytest.mark.parametrize(
    ("path", "text", "manifest"),
    [
        (
            "a/pyproject.toml",
            PYPROJECT,
            Manifest(
                "", "my-pack-age", "Packs ages.", ("a", "b"), ("requests", "foo", "matplotlib"), ("pytest", "ruff")
            ),
        ),
        ("pyproject.toml", POETRY, Manifest("", "po", dependencies=("httpx",), dev_dependencies=("black",))),
        ("setup.cfg", SETUP_CFG, Manifest("", "foo-bar", "50% done", ("a", "b"), ("six", "b"), ("sphinx",))),
        ("package.json", PACKAGE, Manifest("", "@x/y", "Y.", ("ui",), ("react", "vue"), ("jest",))),
        (
            "Cargo.toml",
            CARGO,
            Manifest("", "a-b", dependencies=("serde", "other-name", "libc"), dev_dependencies=("quickcheck",)),
        ),
        ("go.mod", GO, Manifest("", "github.com/x/y", dependencies=("github.com/c/d", "gopkg.in/e.v1"))),
        ("pom.xml", POM, Manifest("", "org.g:app", "An app.", (), ("org.g:core",), ("junit:junit",))),
    ],
)
def test_a_manifest_gives_its_name_and_dependencies(path: str, text: str, manifest: Manifest) -> None:
    read = read_manifest(path, f"\ufeff{text}")

    assert read is not None
    assert read.path == path
    assert (read.name, read.description, read.keywords) == (manifest.name, manifest.description, manifest.keywords)
    assert read.dependencies == manifest.dependencies
    assert read.dev_dependencies == manifest.dev_dependencies


def test_a_setup_py_is_read_but_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    text = (
        f"import os, setuptools\nos.mkdir({str(trace)!r})\nneeds = ['urllib3', 'Foo_Bar[x]; python_version<\"3\"']\n"
        "setuptools.setup(name='Re_quests', description=open('x').read(), keywords='a, b', install_requires=needs,\n"
        "    extras_require={'tests': ['pytest'], 'socks': 'PySocks'}, zip='\\d')\n"
    )

    read = read_manifest("setup.py", text)

    assert read == Manifest(
        "setup.py", "re-quests", "", ("a", "b"), ("urllib3", "foo-bar", "pysocks"), dev_dependencies=("pytest",)
    )
    assert not trace.exists()


REQUIREMENTS = (
    "-r other.txt\n# comment\nPyTest>=3  # why\nfoo==1 \\\n  --hash=sha256:1\n"
    "-e git+https://x.org/z#egg=zed\nhttps://x.org/y.whl\n./local\n"
)


@pytest.mark.parametrize(
    ("path", "is_development"),
    [
        ("requirements.txt", False),
        ("requirements.in", False),
        ("requirements/base.txt", False),
        ("requirements/test.txt", True),
        ("dev-requirements.txt", True),
        ("requirements-dev.txt", True),
    ],
)
def test_requirements_are_for_development_if_their_file_says_so(path: str, is_development: bool) -> None:
    read = read_manifest(path, REQUIREMENTS)

    assert read is not None
    needed = ("pytest", "foo", "zed")
    assert (read.dependencies, read.dev_dependencies) == (((), needed) if is_development else (needed, ()))


NAMES = ("pyproject.toml", "setup.cfg", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\ud800",
        "[",
        "null",
        '"x"',
        "[" * 100_000,
        "(" * 100_000,
        "{" * 100_000,
        "[project]\nname = 1\ndependencies = {a = 1}",
        "setup(**{1: 2})",
        "<a>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><project><artifactId>&x;</artifactId></project>",
        '{"name": 1, "dependencies": [1], "keywords": {}}',
    ],
)
def test_a_malformed_manifest_is_none(name: str, text: str) -> None:
    assert read_manifest(name, text) is None


@pytest.mark.parametrize("path", ["my.txt", "requirements.md", "package-lock.json", "a/setup.py.txt", ""])
def test_other_files_are_no_manifests(path: str) -> None:
    assert not is_manifest(path)
    assert read_manifest(path, PACKAGE) is None
