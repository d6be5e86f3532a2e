"""Docstrings open with a verb or the term: a reader skims them by their first word."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pipeline

ROOT = Path(pipeline.__file__).parent
OPENINGS = ("What ", "Which ", "Who ", "Whose ", "Of ", "As ", "Whether ", "How ", "Where ", "Says ", "Tells ")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


FOLDERS = sorted(path.name for path in ROOT.iterdir() if path.name not in {"_shipped", "__pycache__"})


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_open_with_a_verb_or_the_term(folder: str) -> None:
    path = ROOT / folder
    files = path.rglob("*.py") if path.is_dir() else [path] if path.suffix == ".py" else []
    documented = (
        (file.relative_to(ROOT), getattr(node, "name", ""), ast.get_docstring(node) or "")
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, DOCUMENTED)
    )

    assert [place[:2] for place in documented if place[2].startswith(OPENINGS)] == []
