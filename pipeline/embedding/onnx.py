"""An embedding model as ONNX, for which neither PyTorch nor sentence-transformers is loaded, or need be installed.

The bundled model's graph is made from its files (``bert.py``) and encodes batches. Another model is exported when it is
first loaded; its export encodes a few texts, one by one: a question, an excerpt's sentences, a changed document. ONNX
Runtime loads either in a third of a second; PyTorch and its libraries take seven. It encodes a question in less than
half of PyTorch's time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from filelock import FileLock, Timeout

from pipeline.embedding.cpu import processors
from pipeline.embedding.sessions import OnnxSession, Session, Tokens, question_session
from pipeline.records import Vector
from pipeline.temporary import temporary_folder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, MultiVectorEncoder, SentenceTransformer
    from tokenizers import Tokenizer

_log = logging.getLogger(__name__)


class Task(StrEnum):
    """Role of a text, for which the model may have a prompt."""

    QUERY = "query"
    DOCUMENT = "document"


_GRAPH, _TOKENIZER, _PROMPTS, _MANIFEST = "model.onnx", "tokenizer.json", "prompts.json", "manifest.json"

_EXPORTERS = ("hoprank", "onnxruntime", "sentence-transformers", "torch", "transformers")
"""Packages whose upgrade makes an export outdated: another version may export what this one couldn't."""
_BUILDERS = ("hoprank", "onnx", "onnxruntime")
"""The same for a graph made from a model's files."""

SAMPLES = (
    "",
    "word",
    "  Who changes the DRUM of the tide gauge,\nand when? ",
    "Née à Zürich: 東京都は日本の首都です。",
    "A passage on bridges, too long for any model to read to its end. " * 100,
)
"""Texts for which export and model must give the same vectors: empty, a single token, several lines, truncated."""

_BATCH_THREADS = 1
"""Threads of a batch of documents. They are many: their batches go side by side, a thread each. Two threads a batch
wait for each other after each operator, spinning: 700 texts took 11.4 s of CPU on two busy processors, and 6.8 s by a
thread a batch."""

_TOLERANCE = 1e-4
"""Largest difference between coordinates of unit vectors: ten times the rounding error of float32 sums."""


class OnnxModel:
    """Encodes texts; thread-safe. ``tokenizer`` truncates long texts.

    It computes in float32; questions may be rounded to bfloat16 (:meth:`rounded`). A graph that takes several texts at
    once encodes batches, which pays for many; else they go one by one.
    """

    def __init__(self, graph: Path | bytes, tokenizer: Tokenizer, prompts: Mapping[str, str]) -> None:
        self.tokenizer = tokenizer
        self._graph = graph
        self._prompts = prompts
        self._may_round = False
        self._lock = threading.Lock()
        self._sessions: dict[Task, Session] = {}

    def _session(self, task: Task) -> Session:
        """Return the session for texts of a task, which the first of them opens."""
        with self._lock:
            if task not in self._sessions:
                self._sessions[task] = (
                    question_session(self._graph, self._samples, may_round=self._may_round)
                    if task is Task.QUERY
                    else OnnxSession(self._graph, _BATCH_THREADS)
                )
            return self._sessions[task]

    def _samples(self) -> list[Tokens]:
        """Return the tokens of the samples, a question first."""
        return [_tokens([one]) for one in self.tokenizer.encode_batch([*SAMPLES[2:], *SAMPLES[:2]])]

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open what :func:`export_onnx` or :func:`bundled_onnx` wrote.

        Raises OSError or ValueError if that is not intact; its graph is read by the first text.
        """
        from tokenizers import Tokenizer

        prompts = json.loads((folder / _PROMPTS).read_text(encoding="utf-8"))
        return cls(folder / _GRAPH, Tokenizer.from_file(str(folder / _TOKENIZER)), prompts)

    def prompted(self, prompts: Mapping[str, str]) -> Self:
        """Put other prompts before texts, by task; return this model."""
        self._prompts = {**self._prompts, **prompts}
        return self

    def rounded(self) -> Self:
        """Let questions be encoded in bfloat16 where that is quicker; return this model."""
        self._may_round = True
        return self

    def encode(self, texts: Sequence[str], task: Task) -> Vector:
        """Return the outputs of the model's last module before its normalisation, shape ``(len(texts), dimension)``.

        A batched graph pads all of them to the longest, which the caller bounds.
        """
        encodings = self.tokenizer.encode_batch([self._prompts[task] + text for text in texts])
        session = self._session(task)
        parts = [encodings] if session.batched else [[encoding] for encoding in encodings]
        return np.concatenate([session.run(_tokens(part))[0] for part in parts])

    def outputs(self, texts: Sequence[str] | Sequence[tuple[str, str]], task: Task) -> list[list[Vector]]:
        """Return all that the graph gives for each text, or pair of texts, without the dimension of the batch.

        They go one by one: documents on all processors, a thread each.
        """
        prompt = self._prompts[task]
        inputs = [prompt + text if isinstance(text, str) else text for text in texts]
        encodings, session = self.tokenizer.encode_batch(inputs), self._session(task)
        with ThreadPoolExecutor(1 if task is Task.QUERY else processors()) as pool:
            return list(pool.map(lambda one: [output[0] for output in session.run(_tokens([one]))], encodings))


def _tokens(encodings: Sequence[Any]) -> Tokens:
    """Return the tokens of texts, padded to the longest."""
    shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
    tokens = {name: np.zeros(shape, dtype=np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, encoding in enumerate(encodings):
        for array, value in zip(
            tokens.values(), (encoding.ids, encoding.attention_mask, encoding.type_ids), strict=True
        ):
            array[row, : len(value)] = value
    return tokens


def bundled_onnx(source: Path, longest: int, folder: Path | None) -> OnnxModel:
    """Return the bundled model, whose files are in ``source``.

    ``longest`` is the longest text that it reads, in tokens with the special ones. Its graph is kept in ``folder``, if
    given; where it can't be written, it is made again for each process.
    """
    from tokenizers import Tokenizer

    from pipeline.embedding.bert import bert_graph

    if folder and (model := open_onnx(folder, _BUILDERS)):
        return model
    tokenizer = Tokenizer.from_file(str(source / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    graph = bert_graph(source).SerializeToString()
    prompts = {str(task): "" for task in Task}

    def make(export: Path) -> None:
        (export / _GRAPH).write_bytes(graph)
        tokenizer.save(str(export / _TOKENIZER))
        (export / _PROMPTS).write_text(json.dumps(prompts), encoding="utf-8")

    if folder:
        try:
            _write(folder, make, _BUILDERS)
        except (OSError, MemoryError) as error:
            _log.info("No ONNX in %s: %s", folder, error)
    written = folder is not None and (folder / _GRAPH).is_file()
    return OnnxModel(folder / _GRAPH if folder and written else graph, tokenizer, prompts)


def export_onnx(model: SentenceTransformer, folder: Path) -> None:
    """Export a float32 model on the CPU to ``folder``, completely or not at all; does nothing if the folder exists.

    If the model can't be exported, or the export's vectors differ from the model's, that is warned of and recorded, and
    the export is tried again only after an upgrade. Raises OSError or MemoryError if there is no room for it.
    """

    def make(export: Path) -> None:
        _export(model, export, model.preprocess([SAMPLES[2]]), ("sentence_embedding",))
        _compare(model, OnnxModel.open(export))

    _write(folder, make, _EXPORTERS)


def export_reranker(
    model: CrossEncoder | MultiVectorEncoder, folder: Path, outputs: Sequence[str], compare: Callable[[OnnxModel], None]
) -> None:
    """Export a reranker as :func:`export_onnx` does an embedder; ``outputs`` are the names of what it gives.

    A model that gives one score reads pairs. ``compare`` raises ValueError unless the export gives the model's scores.
    """
    pairs = "scores" in outputs

    def make(export: Path) -> None:
        example = model.preprocess([(SAMPLES[2], SAMPLES[3]) if pairs else SAMPLES[2]], task=Task.DOCUMENT.value)
        _export(model, export, example, outputs, **({} if pairs else {"task": Task.DOCUMENT.value}))
        compare(OnnxModel.open(export))

    _write(folder, make, _EXPORTERS)


def open_onnx(folder: Path, makers: Sequence[str] = _EXPORTERS) -> OnnxModel | None:
    """Return what ``folder`` keeps; None if there is none, or if the model can't be exported.

    What is damaged, or what other packages than ``makers`` or other versions of them made, is removed with a warning,
    so that it is made again.
    """
    if not folder.is_dir():
        return None
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["made_by"] != _versions(makers):
            problem = "is outdated"
        elif "refused" in manifest:
            return None
        elif manifest["sha256"] != _hashes(folder):
            problem = "is damaged"
        else:
            return OnnxModel.open(folder)
    except Exception as error:
        problem = f"can't be read ({error})"
    _log.warning("The ONNX export %s %s; it is made again.", folder, problem)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _write(folder: Path, make: Callable[[Path], None], makers: Sequence[str]) -> None:
    """Write what ``make`` makes to ``folder``, completely or not at all; a failure of the model's is recorded there."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder.parent / "onnx.lock", timeout=0), temporary_folder(folder.parent, "onnx") as temporary:
            export = temporary / "model"
            export.mkdir()
            try:
                make(export)
                outcome: dict[str, Any] = {"sha256": _hashes(export)}
            except (OSError, MemoryError):
                raise
            except Exception as error:
                _log.warning("The model %s is loaded for each question, for it has no ONNX: %s", folder.name, error)
                shutil.rmtree(export)
                export.mkdir()
                outcome = {"refused": str(error)}
            manifest = json.dumps({"made_by": _versions(makers), **outcome})
            (export / _MANIFEST).write_text(manifest, encoding="utf-8")
            export.rename(folder)
    except Timeout:
        _log.info("Another process writes ONNX in %s", folder.parent)


def prompt_of(model: Any, task: Task) -> str:
    """Return the prompt that the model puts before a text: its first prompt for the task, or its default prompt.

    Source: ``encode_query`` and ``encode_document`` of sentence-transformers.
    """
    names = {Task.QUERY: ["query"], Task.DOCUMENT: ["document", "passage", "corpus"]}[task]
    name = next((name for name in names if name in model.prompts), model.default_prompt_name)
    return model.prompts.get(name) or ""


def _export(model: Any, folder: Path, example: Mapping[str, Any], outputs: Sequence[str], **arguments: str) -> None:
    """Trace a model from tokens to its ``outputs``; write the graph, the tokenizer and the prompts.

    ``example`` is a text as the model's modules take it, ``arguments`` further arguments of theirs.
    """
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    # A multi-vector model may read less of a passage than it could.
    if longest := getattr(model[0], "document_length", None) or model.max_seq_length:
        tokenizer.enable_truncation(longest)
    tokenizer.save(str(folder / _TOKENIZER))
    prompts = {task: prompt_of(model, task) for task in Task}
    (folder / _PROMPTS).write_text(json.dumps(prompts), encoding="utf-8")

    tokens = {name: value for name, value in example.items() if torch.is_tensor(value)}

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            given = self.model(dict(zip(tokens, tensors, strict=True)), **arguments)
            return tuple(given[name] for name in outputs)

    torch.onnx.register_custom_op_symbolic("aten::isin", _is_in, _IS_IN_OPSET)
    # Tracing follows any model's own code; the exporter based on torch.export fails on the shapes in pooling.
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Traced().eval(),
            tuple(tokens.values()),
            str(folder / _GRAPH),
            input_names=list(tokens),
            output_names=[f"made_{name}" for name in outputs],  # other names than those of inputs
            dynamic_axes={name: {1: "tokens"} for name in tokens},
            dynamo=False,
        )


_IS_IN_OPSET = 18  # of ONNX's operators, from which on the axes of a reduction are an input
_INT32, _BOOL = 6, 9  # types of ONNX


def _is_in(graph: Any, elements: Any, among: Any, *_: Any) -> Any:
    """Return ``torch.isin``, which PyTorch doesn't export, by ONNX's operators: multi-vector models skip tokens so."""
    import torch

    last = graph.op("Constant", value_t=torch.tensor([-1]))
    equal = graph.op("Equal", graph.op("Unsqueeze", elements, last), among)
    found = graph.op("ReduceMax", graph.op("Cast", equal, to_i=_INT32), last, keepdims_i=0)
    return graph.op("Cast", found, to_i=_BOOL)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the version of each package; "" for one that isn't installed."""
    versions = dict.fromkeys(packages, "")
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def _hashes(folder: Path) -> dict[str, str]:
    hashes = {}
    for name in (_GRAPH, _TOKENIZER, _PROMPTS):
        with (folder / name).open("rb") as file:
            hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes


def _compare(model: SentenceTransformer, export: OnnxModel) -> None:
    """Raise ValueError unless model and export give the same vectors."""
    for task, encode in ((Task.QUERY, model.encode_query), (Task.DOCUMENT, model.encode_document)):
        for text in SAMPLES:
            both = (encode(text, show_progress_bar=False), export.encode([text], task)[0])
            expected, actual = (vector / np.linalg.norm(vector) for vector in both)
            if expected.shape != actual.shape or not np.abs(expected - actual).max() <= _TOLERANCE:
                raise ValueError(f"the vectors of {text[:50]!r} as a {task} differ")
