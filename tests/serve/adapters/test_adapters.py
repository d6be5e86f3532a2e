"""The package of adapters: each framework is imported by its own module, and an extra installs it."""

from __future__ import annotations

import ast
import importlib
import sys
import tomllib
from pathlib import Path

import pytest

import pipeline
from pipeline.errors import ConfigurationError, ExtraMissing

ROOT = Path(pipeline.__file__).parent
FRAMEWORKS = {
    "langchain": "langchain_core",
    "llamaindex": "llama_index",
    "haystack": "haystack",
    "neo4j_graphrag": "neo4j_graphrag",
    "langgraph": "langgraph",
    "pydantic_ai": "pydantic_ai",
}


def test_a_framework_is_imported_by_its_adapter_alone() -> None:
    importing = {
        (path.relative_to(ROOT).as_posix(), framework)
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if (framework := name.split(".")[0]) in FRAMEWORKS.values()
    }

    assert importing == {(f"serve/adapters/{module}.py", framework) for module, framework in FRAMEWORKS.items()}


@pytest.mark.parametrize(("module", "framework"), FRAMEWORKS.items())
def test_without_its_framework_an_adapter_says_what_to_install(
    module: str, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = f"pipeline.serve.adapters.{module}"
    for name in [framework, *(name for name in sys.modules if name.startswith(f"{framework}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, adapter, raising=False)
    extra = module.replace("_", "-")

    with pytest.raises(ExtraMissing, match=rf"{framework}.*\n.*uv pip install -e \"\.\[{extra}\]\"") as caught:
        importlib.import_module(adapter)

    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, ConfigurationError)
    metadata = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert extra in metadata["project"]["optional-dependencies"]
