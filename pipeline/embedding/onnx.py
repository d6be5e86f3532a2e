"""An embedding model as ONNX, for few texts: a question, the sentences of an excerpt, the one document that changed.

ONNX Runtime loads it in a third of a second, where torch and the libraries on it take seven, and encodes a question in
less than half of torch's time. Many texts are the model's own work: in batches torch is faster.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import warnings
from enum import StrEnum
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

_GRAPH, _TOKENIZER, _PROMPTS, _REFUSED = "model.onnx", "tokenizer.json", "prompts.json", "refused.txt"

_TRIED = (
    "",
    "word",
    "  Who changes the DRUM of the tide gauge,\nand when? ",
    "Née à Zürich: 東京都は日本の首都です。",
    "A passage on bridges, too long for any model to read to its end. " * 100,
)
"""Texts that a model's ONNX must make the model's own vectors of: none, of one token, of several lines, cut off."""

_THREADS = 2
"""For a question of some 15 tokens; two take six tenths of the time of one, and more gain little."""

_SAME = 1e-4
"""The most by which a coordinate of a unit vector may differ: ten times what float32 leaves to the order of sums."""


class Task(StrEnum):
    """What a text is to the model, which may have a prompt for it."""

    QUERY = "query"
    DOCUMENT = "document"


class OnnxModel:
    """Encodes one text at a time, in float32; thread-safe. ``tokenizer`` cuts off what is too long.

    Raises OSError, ValueError or ONNX Runtime's errors if ``folder`` doesn't hold what :func:`write_onnx` makes.
    """

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.tokenizer: Tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._prompts: dict[str, str] = json.loads((folder / _PROMPTS).read_text(encoding="utf-8"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
        # Threads that wait for the next question by spinning would take the processor from Neo4j beside them.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self._session = onnxruntime.InferenceSession(folder / _GRAPH, options, providers=["CPUExecutionProvider"])
        self._inputs = [given.name for given in self._session.get_inputs()]

    def encode(self, text: str, task: Task) -> Vector:
        """Return a text's vector as the model's last module gives it, shape ``(dimension,)``."""
        encoding = self.tokenizer.encode(self._prompts[task] + text)
        tokens = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        given = {name: np.array([tokens[name]], dtype=np.int64) for name in self._inputs}
        vector: Vector = self._session.run(None, given)[0][0]
        return vector


def open_onnx(folder: Path) -> OnnxModel | None:
    """Return the model that was written to ``folder``; None if there is none, or it is damaged, and then removed."""
    if not folder.is_dir() or (folder / _REFUSED).exists():
        return None
    try:
        return OnnxModel(folder)
    except Exception as error:
        _log.info("%s is damaged and will be made again: %s", folder, error)
        shutil.rmtree(folder, ignore_errors=True)
        return None


def write_onnx(model: SentenceTransformer, folder: Path) -> None:
    """Write a model that computes in float32 on the CPU to ``folder``, whole or not at all, unless it is there.

    One that ONNX Runtime doesn't make the same vectors of is remembered as such, and not tried again.
    Raises OSError or MemoryError if there is no room for it.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder.parent / "onnx.lock", timeout=0), temporary_folder(folder.parent, "onnx") as scratch:
            made = scratch / "model"
            made.mkdir()
            try:
                _export(model, made)
                _compare(model, OnnxModel(made))
            except (OSError, MemoryError):
                raise
            except Exception as error:
                _log.info("No ONNX of %s: %s", folder.name, error)
                shutil.rmtree(made)
                made.mkdir()
                (made / _REFUSED).write_text(f"{error}\n", encoding="utf-8")
            made.rename(folder)
    except Timeout:
        _log.info("Another process writes ONNX in %s", folder.parent)


def prompt_of(model: SentenceTransformer, task: Task) -> str:
    """Return what the model puts before a text: its prompt of the first name that it has for the task, or its default.

    Source: ``encode_query`` and ``encode_document`` of sentence-transformers.
    """
    names = {Task.QUERY: ["query"], Task.DOCUMENT: ["document", "passage", "corpus"]}[task]
    name = next((name for name in names if name in model.prompts), model.default_prompt_name)
    return model.prompts.get(name) or ""


def _export(model: SentenceTransformer, folder: Path) -> None:
    """Trace all of the model's modules, from tokens to the vector, and write what encoding takes."""
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    if model.max_seq_length:
        tokenizer.enable_truncation(model.max_seq_length)
    tokenizer.save(str(folder / _TOKENIZER))
    prompts = {task: prompt_of(model, task) for task in Task}
    (folder / _PROMPTS).write_text(json.dumps(prompts), encoding="utf-8")

    example = {name: value for name, value in model.preprocess([_TRIED[2]]).items() if torch.is_tensor(value)}

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            return self.model(dict(zip(example, tensors, strict=True)))["sentence_embedding"]

    # By tracing, which follows any model's own code; the exporter on torch.export stops at what pooling asks of shapes.
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


def _compare(model: SentenceTransformer, made: OnnxModel) -> None:
    """Raise ValueError unless both make the same vectors."""
    for task, encode in ((Task.QUERY, model.encode_query), (Task.DOCUMENT, model.encode_document)):
        for text in _TRIED:
            one, other = (
                vector / np.linalg.norm(vector)
                for vector in (encode(text, show_progress_bar=False), made.encode(text, task))
            )
            if one.shape != other.shape or not np.abs(one - other).max() <= _SAME:
                raise ValueError(f"the vectors of {text[:50]!r} as a {task} differ")
