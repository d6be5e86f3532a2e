"""Rerankers: models that read a question and a passage together, or compare their tokens, and give a score.

A cross-encoder reads both as one text. A multi-vector model (ColBERT's late interaction) makes a vector of each token;
its score is the sum, over the question's tokens, of the best product with one of the passage's (MaxSim: Khattab and
Zaharia, ColBERT, SIGIR 2020). On a processor either runs as ONNX if it can be exported, else by PyTorch.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.embedding.cpu import may_have_gpu
from pipeline.embedding.load import load_model, named_errors
from pipeline.embedding.model_files import ModelFiles
from pipeline.embedding.onnx import SAMPLES, OnnxModel, Task, export_reranker, open_onnx
from pipeline.errors import ConfigurationError, first_line
from pipeline.records import Vector

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, MultiVectorEncoder

_FIX = (
    "Set retrieve.reranker to a cross-encoder or a multi-vector model of sentence-transformers: a folder, or OWNER/NAME"
    " on a hub in reach; or leave it empty."
)
_TOLERANCE = 1e-3
"""Largest difference between the scores of an export and its model, relative above 1: their float32 sums are longer
than those of vectors, whose tolerance is a tenth of this. Chosen by hand."""

_log = logging.getLogger(__name__)

Read = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores of passages for a question, in their order; see :meth:`Reranker.scores`."""


class _Kind(StrEnum):
    """The classes of sentence-transformers that a reranker may be of."""

    CROSS = "CrossEncoder"
    MULTI = "MultiVectorEncoder"


_OUTPUTS = {_Kind.CROSS: ("scores",), _Kind.MULTI: ("token_embeddings", "attention_mask")}


class Reranker:
    """Scores passages for a question. Thread-safe; loads the model at first use.

    ``name`` is that of a model on a hub, or a folder. ``device`` is as for the embedder. ``onnx`` is the folder that
    keeps the export, which an earlier process may have left; it takes as much room as the weights.
    """

    def __init__(self, name: str, *, device: str = "auto", onnx: Path | None = None) -> None:
        self.name = name
        self._files = ModelFiles(name)
        self._device = device
        self._home = onnx
        self._lock = threading.Lock()
        self._read: Read | None = None

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the score of each passage, in their order; a higher one answers better. Scales differ by model.

        Raises ConfigurationError if the model can't be loaded, is no reranker, or fails on this question; ExtraMissing
        if that needs sentence-transformers and it isn't installed.
        """
        if not passages:
            return []
        read = self._loaded()
        try:
            scores = [float(score) for score in read(question, passages)]
        except Exception as error:  # of PyTorch, ONNX Runtime or a model's own code
            raise self._failed(question, first_line(error)) from error
        if not np.isfinite(scores).all():
            raise self._failed(question, "it gives a score that is no number")
        return scores

    def _failed(self, question: str, reason: str) -> ConfigurationError:
        return ConfigurationError(
            f"The reranker {self.name!r} failed on the question {question[:80]!r}: {reason}", _FIX
        )

    def _loaded(self) -> Read:
        with self._lock:
            if self._read is None:
                with named_errors(f"The reranker {self.name!r}", _FIX):
                    self._read = self._load()
            return self._read

    def _load(self) -> Read:
        """Return what scores: the export, written first if there is none yet, or else the model."""
        kind = self._kind()
        if onnx := self._exported():
            return partial(_read_by_onnx, kind, onnx)
        model = load_model(kind, self._files, self._device, self._home, "leave retrieve.reranker empty")
        if kind is _Kind.CROSS and model.num_labels != 1:
            raise ValueError(f"it tells {model.num_labels} classes apart, and a reranker gives one score")
        by_model = partial(_READ_BY_MODEL[kind], model, threading.Lock())
        if (folder := self._onnx_folder()) and model.device.type == "cpu":
            try:
                export_reranker(model, folder, _OUTPUTS[kind], partial(_compare, kind, by_model))
            except (OSError, MemoryError) as error:
                _log.info("No ONNX in %s: %s", folder, error)
            if onnx := self._exported():
                return partial(_read_by_onnx, kind, onnx)
        return by_model

    def _exported(self) -> OnnxModel | None:
        folder = self._onnx_folder()
        return open_onnx(folder) if folder else None

    def _onnx_folder(self) -> Path | None:
        """The folder of the export; None if there is to be none, or before the model was downloaded."""
        if self._home is None or may_have_gpu(self._device) or (revision := self._files.revision) is None:
            return None
        return self._home / f"{Path(self.name).name}@{revision}-{self._files.configuration}"

    def _kind(self) -> _Kind:
        """Tell by the model's own files what it is; raises ValueError if it is none of both."""
        if self._files.folder is None:
            self._files.check_on_hub()
            self._download_description()
        described = self._declared("config_sentence_transformers.json").get("model_type")
        architecture = next(iter(self._declared("config.json").get("architectures") or ()), "")
        if described == "ColBERT" or (described is None and architecture == "HF_ColBERT"):
            return _Kind.MULTI
        if described in list(_Kind):
            return _Kind(described)
        # Whatever else sentence-transformers saves has modules; a model of transformers alone has none.
        is_embedder = self._files.folder is not None and (self._files.folder / "modules.json").exists()
        if not is_embedder and architecture.endswith("ForSequenceClassification"):
            return _Kind.CROSS
        what = "an embedding model (embed.model)" if is_embedder else f"{architecture or 'nothing that its files name'}"
        raise ValueError(f"it is {what}, and neither a cross-encoder nor a multi-vector model")

    def _download_description(self) -> None:
        """Download the small files that say what a model on a hub is."""
        from sentence_transformers.util import load_file_path

        for file in ("config.json", "modules.json", "config_sentence_transformers.json"):
            load_file_path(self._files.location, file)

    def _declared(self, file: str) -> dict[str, Any]:
        """Return what a JSON file of the model's folder declares; nothing without the file."""
        with suppress(FileNotFoundError):
            declared = json.loads(((self._files.folder or Path()) / file).read_text(encoding="utf-8"))
            return declared if isinstance(declared, dict) else {}
        return {}


def _read_by_onnx(kind: _Kind, onnx: OnnxModel, question: str, passages: Sequence[str]) -> list[float]:
    if kind is _Kind.CROSS:
        return [
            float(score.item()) for (score,) in onnx.outputs([(question, text) for text in passages], Task.DOCUMENT)
        ]
    ((query, _),) = onnx.outputs([question], Task.QUERY)
    return [_max_sim(query, tokens[mask > 0]) for tokens, mask in onnx.outputs(passages, Task.DOCUMENT)]


def _read_by_cross_encoder(
    model: CrossEncoder, lock: threading.Lock, question: str, passages: Sequence[str]
) -> list[float]:
    import torch

    # Its tokenizer, whose padding is set, serves one thread. Logits, since a sigmoid presses the best ones together.
    with lock:
        scores = model.predict(
            [(question, text) for text in passages], activation_fn=torch.nn.Identity(), show_progress_bar=False
        )
    return [float(score) for score in scores]


def _read_by_multi_vectors(
    model: MultiVectorEncoder, lock: threading.Lock, question: str, passages: Sequence[str]
) -> list[float]:
    with lock:
        query = model.encode_query(question, convert_to_numpy=True, show_progress_bar=False)
        documents = model.encode_document(list(passages), convert_to_numpy=True, show_progress_bar=False)
    return [_max_sim(query, document) for document in documents]


_READ_BY_MODEL: dict[_Kind, Callable[..., list[float]]] = {
    _Kind.CROSS: _read_by_cross_encoder,
    _Kind.MULTI: _read_by_multi_vectors,
}


def _max_sim(query: Vector, document: Vector) -> float:
    """Return the sum over the vectors of a question, by row, of the greatest product with a vector of a passage."""
    return float((query @ document.T).max(axis=1).sum()) if len(document) else 0.0


def _compare(kind: _Kind, by_model: Read, onnx: OnnxModel) -> None:
    """Raise ValueError unless model and export give the same scores, of passages of any length."""
    for question in SAMPLES[2:4]:
        pairs = by_model(question, SAMPLES), _read_by_onnx(kind, onnx, question, SAMPLES)
        for text, expected, actual in zip(SAMPLES, *pairs, strict=True):
            if not abs(expected - actual) <= _TOLERANCE * max(1.0, abs(expected)):
                raise ValueError(f"the scores of {text[:50]!r} differ: {expected:.4f} and {actual:.4f}")
