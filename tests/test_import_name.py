"""The import name ``hoprank``: beside a user's own ``pipeline``, from a wheel and from an editable install."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import hoprank
import pytest

import pipeline

ROOT = Path(pipeline.__file__).parents[1]
SITE = Path(pytest.__file__).parents[1]
BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"
COMMAND = "import sys\nfrom hoprank import main\nsys.exit(main())\n"
PROGRAM = """
from hoprank import HopRank, KnowledgeGraph
import hoprank
assert all(getattr(hoprank, name) is getattr(hoprank._pipeline, name) for name in hoprank.__all__)
print(hoprank._pipeline.__file__)
"""
BOUNDED = """
from hoprank import HopRankError
from pipeline.bounded import Bounds, BoundedProcess
with BoundedProcess("binascii:hexlify") as process:
    print(process.call(b"one", Bounds(60, 2**32)).decode(), end="")
"""
FOREIGN = ("pipeline/__init__.py", "pipeline.py")


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter for which HopRank alone is installed; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp(request.param)
    _run(sys.executable, "-c", BUILD, f"build_{request.param}", str(folder), folder=ROOT)
    venv.create(folder / "venv", symlinks=os.name != "nt")
    (installed,) = (folder / "venv").rglob("site-packages")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(installed)
    (installed / "zzz_dependencies.pth").write_text(str(SITE), encoding="utf-8")
    entry = next(installed.glob("hoprank-*.dist-info")) / "entry_points.txt"
    assert "hoprank = hoprank:main" in entry.read_text(encoding="utf-8")
    return folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.fixture(params=FOREIGN)
def beside(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project's folder with a ``pipeline`` of its own, and a program that imports HopRank."""
    file = tmp_path / request.param
    file.parent.mkdir(exist_ok=True)
    file.write_text("OWN = True\n", encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "both.py").write_text(f"import pipeline\n{PROGRAM}", encoding="utf-8")
    (tmp_path / "bounded.py").write_text(BOUNDED, encoding="utf-8")
    (tmp_path / "command.py").write_text(COMMAND, encoding="utf-8")
    return tmp_path


def _run(*command: str, folder: Path, path: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {} if path is None else {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + (done.stderr if done.returncode else "")


@pytest.mark.slow
@pytest.mark.parametrize("path", [None, "."])
def test_command_and_import_work_beside_a_foreign_pipeline(python: Path, beside: Path, path: str | None) -> None:
    shown = [_run(str(python), *line.split(), folder=beside, path=path) for line in ("command.py help", "program.py")]

    assert shown[0].startswith("install ")
    assert shown[1].endswith(f"{os.sep}pipeline{os.sep}__init__.py\n")
    assert not shown[1].startswith(str(beside))


@pytest.mark.slow
def test_our_own_processes_start_beside_a_foreign_pipeline(python: Path, beside: Path) -> None:
    assert _run(str(python), "bounded.py", folder=beside, path=".") == "6f6e65\n"


@pytest.mark.slow
def test_a_foreign_pipeline_that_is_imported_already_is_named(python: Path, beside: Path) -> None:
    said = _run(str(python), "both.py", folder=beside)

    assert str(beside / "pipeline") in said
    assert "Rename it, or use HopRank in another process." in said


def test_the_public_names_are_those_of_the_package_and_no_others() -> None:
    assert {*dir(hoprank)} >= {*pipeline.__all__, "main"}
    assert all(getattr(hoprank, name) is getattr(pipeline, name) for name in pipeline.__all__)
    with pytest.raises(AttributeError, match="module 'hoprank' has no attribute 'settings'"):
        _ = hoprank.settings  # type: ignore[attr-defined]
    assert (Path(hoprank.__file__).parent / "py.typed").is_file()
