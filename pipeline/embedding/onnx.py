"""An embedding model's ONNX export, for a few texts: a question, an excerpt's sentences, a single changed document.

ONNX Runtime loads the export in a third of a second; torch and its libraries take seven. It encodes a question in less
than half of torch's time. For batches of many texts torch is faster.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import warnings
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout

from pipeline.records import Vector
from pipeline.temporary import temporary_folder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

_log = logging.getLogger(__name__)

_GRAPH, _TOKENIZER, _PROMPTS, _MANIFEST = "model.onnx", "tokenizer.json", "prompts.json", "manifest.json"

_EXPORTERS = ("hoprank", "onnxruntime", "sentence-transformers", "torch", "transformers")
"""Packages whose upgrade makes an export outdated: another version may export what this one couldn't."""

_SAMPLES = (
    "",
    "word",
    "  Who changes the DRUM of the tide gauge,\nand when? ",
    "Née à Zürich: 東京都は日本の首都です。",
    "A passage on bridges, too long for any model to read to its end. " * 100,
)
"""Texts for which export and model must give the same vectors: empty, a single token, several lines, truncated."""

_THREADS = 2
"""For a question of about 15 tokens: two threads take 60% of a single thread's time; more gain little."""

_TOLERANCE = 1e-4
"""Largest difference between coordinates of unit vectors: ten times the rounding error of float32 sums."""


class Task(StrEnum):
    """Role of a text, for which the model may have a prompt."""

    QUERY = "query"
    DOCUMENT = "document"


class OnnxModel:
    """Encodes a single text at a time, in float32; thread-safe. ``tokenizer`` truncates long texts.

    Raises OSError, ValueError or ONNX Runtime's errors if ``folder`` holds no intact export by :func:`write_onnx`.
    """

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.tokenizer: Tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._prompts: dict[str, str] = json.loads((folder / _PROMPTS).read_text(encoding="utf-8"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
        # Threads that spin between questions would take processor time from Neo4j on the same machine.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self._session = onnxruntime.InferenceSession(folder / _GRAPH, options, providers=["CPUExecutionProvider"])
        self._inputs = [node.name for node in self._session.get_inputs()]

    def encode(self, text: str, task: Task) -> Vector:
        """Return the output of the model's last module for a text, shape ``(dimension,)``."""
        encoding = self.tokenizer.encode(self._prompts[task] + text)
        values = (encoding.ids, encoding.attention_mask, encoding.type_ids)
        tokens = dict(zip(("input_ids", "attention_mask", "token_type_ids"), values, strict=True))
        inputs = {name: np.array([tokens[name]], dtype=np.int64) for name in self._inputs}
        vector: Vector = self._session.run(None, inputs)[0][0]
        return vector


def open_onnx(folder: Path) -> OnnxModel | None:
    """Return the export in ``folder``; None if there is none, or if the model can't be exported.

    An export that is damaged, or that other versions of the packages made, is removed with a warning, so that the next
    process that loads the model makes it again.
    """
    if not folder.is_dir():
        return None
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["made_by"] != _versions():
            problem = "is outdated"
        elif "refused" in manifest:
            return None
        elif manifest["sha256"] != _hashes(folder):
            problem = "is damaged"
        else:
            return OnnxModel(folder)
    except Exception as error:
        problem = f"can't be read ({error})"
    _log.warning("The ONNX export %s %s; it is made again.", folder, problem)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def write_onnx(model: SentenceTransformer, folder: Path) -> None:
    """Export a float32 model on the CPU to ``folder``, completely or not at all; does nothing if the folder exists.

    If the model can't be exported, or the export's vectors differ from the model's, that is warned of and recorded, and
    the export is tried again only after an upgrade. Raises OSError or MemoryError if there is no room for it.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder.parent / "onnx.lock", timeout=0), temporary_folder(folder.parent, "onnx") as temporary:
            export = temporary / "model"
            export.mkdir()
            try:
                _export(model, export)
                _compare(model, OnnxModel(export))
                outcome: dict[str, Any] = {"sha256": _hashes(export)}
            except (OSError, MemoryError):
                raise
            except Exception as error:
                _log.warning("The model %s is loaded for each question, for it has no ONNX: %s", folder.name, error)
                shutil.rmtree(export)
                export.mkdir()
                outcome = {"refused": str(error)}
            manifest = json.dumps({"made_by": _versions(), **outcome})
            (export / _MANIFEST).write_text(manifest, encoding="utf-8")
            export.rename(folder)
    except Timeout:
        _log.info("Another process writes ONNX in %s", folder.parent)


def prompt_of(model: SentenceTransformer, task: Task) -> str:
    """Return the prompt that the model puts before a text: its first prompt for the task, or its default prompt.

    Source: ``encode_query`` and ``encode_document`` of sentence-transformers.
    """
    names = {Task.QUERY: ["query"], Task.DOCUMENT: ["document", "passage", "corpus"]}[task]
    name = next((name for name in names if name in model.prompts), model.default_prompt_name)
    return model.prompts.get(name) or ""


def _export(model: SentenceTransformer, folder: Path) -> None:
    """Trace the model from tokens to vector; write the graph, the tokenizer and the prompts."""
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    if model.max_seq_length:
        tokenizer.enable_truncation(model.max_seq_length)
    tokenizer.save(str(folder / _TOKENIZER))
    prompts = {task: prompt_of(model, task) for task in Task}
    (folder / _PROMPTS).write_text(json.dumps(prompts), encoding="utf-8")

    example = {name: value for name, value in model.preprocess([_SAMPLES[2]]).items() if torch.is_tensor(value)}

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            return self.model(dict(zip(example, tensors, strict=True)))["sentence_embedding"]

    # Tracing follows any model's own code; the exporter based on torch.export fails on the shapes in pooling.
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Traced().eval(),
            tuple(example.values()),
            str(folder / _GRAPH),
            input_names=list(example),
            output_names=["vector"],
            dynamic_axes={name: {1: "tokens"} for name in example},
            dynamo=False,
        )


def _versions() -> dict[str, str]:
    return {package: version(package) for package in _EXPORTERS}


def _hashes(folder: Path) -> dict[str, str]:
    hashes = {}
    for name in (_GRAPH, _TOKENIZER, _PROMPTS):
        with (folder / name).open("rb") as file:
            hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes


def _compare(model: SentenceTransformer, export: OnnxModel) -> None:
    """Raise ValueError unless model and export give the same vectors."""
    for task, encode in ((Task.QUERY, model.encode_query), (Task.DOCUMENT, model.encode_document)):
        for text in _SAMPLES:
            both = (encode(text, show_progress_bar=False), export.encode(text, task))
            expected, actual = (vector / np.linalg.norm(vector) for vector in both)
            if expected.shape != actual.shape or not np.abs(expected - actual).max() <= _TOLERANCE:
                raise ValueError(f"the vectors of {text[:50]!r} as a {task} differ")
