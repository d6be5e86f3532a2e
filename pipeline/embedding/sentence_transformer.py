"""The embedder on this machine: a sentence-transformers model with its tokenizer and fingerprint.

The bundled model in float32 runs as ONNX, and so do a few texts by any model, without sentence-transformers and
PyTorch, which an extra installs; see ``onnx.py``.
"""

from __future__ import annotations

import ctypes
import logging
import math
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.embedding.cpu import may_have_gpu, native_precision, processors
from pipeline.embedding.embedder import Embedder, knows, prefixed
from pipeline.embedding.load import load_model, named_errors
from pipeline.embedding.model_files import BUNDLED_MODEL, ModelFiles, pooling_of
from pipeline.embedding.onnx import OnnxModel, Task, bundled_onnx, export_onnx, open_onnx, prompt_of
from pipeline.errors import ConfigurationError
from pipeline.records import Fingerprint, Precision, Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_AUTO = "auto"
_SPECIAL_TOKENS = 2  # at a text's start and end ([CLS], [SEP])
_UNBOUNDED = 512
"""Tokens of a passage for a model that reads any number, as static embeddings do. Chosen by hand: as many as BERT."""

_PADDING = 16
"""Tokens to a multiple of which a passage is padded: batches of one length alone would be small, and a third slower."""
_FULL_BATCH_TOKENS = 1024
"""Tokens of each batch in bfloat16 on a CPU, filled by repeating a text, for AMX sums in another order where a product
has fewer rows: vectors of one text differed by 0.001. It is as quick as 4,096 (1,500 passages of 150 tokens: 8.8 to
12.1 s, and 9.4 to 9.9), and fills less."""
_TOKENIZE_BATCH = 1000  # texts at a time, to bound memory; chosen by hand, not measured
_CHARACTERS_PER_TOKEN = 4  # about, in English; only to sort texts into batches and to estimate sizes
_ONNX_LIMIT = 256  # passages that an export encodes one by one: for so few it takes less time than loading the model
_ONNX_BATCH_TOKENS = 1024
"""Tokens of a batch by ONNX Runtime on a CPU, which takes small batches as quickly as large ones: from 512 to 4,096 the
time of short texts and of passages of 250 tokens differs by 5%. So its texts aren't padded, which saves a fifth of the
time of short ones."""

_log = logging.getLogger(__name__)


class SentenceTransformerEmbedder(Embedder):
    """Encodes texts into unit vectors. Thread-safe; loads the model at first use.

    ``model`` is the bundled model's name, any sentence-transformers name, or a path. ``revision`` is the commit, tag or
    branch of a model on a hub. ``precision`` "auto" computes in bfloat16 where the hardware supports it natively (a
    GPU, AMX, AVX-512 BF16). On such a CPU that is about three times as fast as float32. ``query_prefix`` and
    ``passage_prefix`` are put before texts instead of the model's own prompts.

    On a CPU the bundled model encodes questions, and passages in float32, as ONNX; PyTorch isn't loaded, nor need it be
    installed. Another model is exported to ONNX when it is first loaded. The export takes a second or two; from then on
    it encodes questions and, while the model isn't loaded, up to 256 passages in float32. The folder ``onnx`` keeps
    either; it takes as much room as the weights. Unless ``precision`` is "float32", questions are encoded in bfloat16
    by OpenVINO, where that is installed and quicker (``sessions.py``).

    Raises ConfigurationError if the model can't be loaded, ExtraMissing if that needs sentence-transformers and it
    isn't installed, DownloadFailed if the bundled weights are damaged.
    """

    def __init__(
        self,
        model: str = BUNDLED_MODEL,
        *,
        device: str = _AUTO,
        precision: str = _AUTO,
        revision: str = "",
        batch_tokens: int = 4096,
        query_prefix: str = "",
        passage_prefix: str = "",
        onnx: Path | None = None,
    ) -> None:
        self.name = model
        self.query_prefix = query_prefix
        prefixes: dict[str, str] = {Task.QUERY: query_prefix, Task.DOCUMENT: passage_prefix}
        self._prefixes = {task: prefix for task, prefix in prefixes.items() if prefix}
        self.files = ModelFiles(model, revision)
        self._device = device
        self._configured_precision = precision
        self._batch_tokens = batch_tokens
        self._onnx_home = onnx
        self._is_bundled = self.files.is_bundled and device in (_AUTO, "cpu")
        self._lock = threading.RLock()
        self._loaded: dict[Precision, SentenceTransformer] = {}
        self._onnx: OnnxModel | None = None
        self._onnx_sought = False

    @cached_property
    def dimension(self) -> int:
        """Length of a vector; read from the model's folder without loading the model, if possible."""
        return self.files.declared("1_Pooling/config.json", "word_embedding_dimension") or int(
            self.model.get_embedding_dimension() or 0
        )

    @cached_property
    def max_tokens(self) -> int:
        """Longest text that the model reads after the prefix of the settings, in tokens without special tokens.

        It is read without loading the model, if possible.
        """
        prefix = self._prefixes.get(Task.DOCUMENT)
        return self._longest - (len(self._tokenizer.encode(prefix, add_special_tokens=False)) if prefix else 0)

    @cached_property
    def _longest(self) -> int:
        declared = self.files.declared("sentence_bert_config.json", "max_seq_length")
        longest = declared or self.model.max_seq_length or _UNBOUNDED
        return int(longest if math.isfinite(longest) else _UNBOUNDED) - _SPECIAL_TOKENS

    @cached_property
    def precision(self) -> Precision:
        """The precision of the settings; for "auto" the fastest of the hardware."""
        if self._configured_precision == _AUTO:
            return native_precision(self._device, self._onnx_home)
        return Precision(self._configured_precision)

    @cached_property
    def identity(self) -> Fingerprint:
        """Identity of the vectors without their precision, which the vector of a question needn't share."""
        if self.files.revision is None:
            _ = self._any_model  # loading the model downloads it
        name = f"{Path(self.name).name}@{self.files.revision or 'unknown'}/{self.dimension}"
        identity = Fingerprint(name, self.files.pooling or pooling_of(self._any_model))
        return prefixed(identity, self._prefixes.get(Task.DOCUMENT, ""))

    def precision_beside(self, fingerprint: str) -> Precision:
        """Return the precision of vectors that join those of ``fingerprint``: theirs, unless the settings name one."""
        theirs = Fingerprint.of(fingerprint).precision
        return Precision(theirs) if self._configured_precision == _AUTO and theirs else self.precision

    @property
    def model(self) -> SentenceTransformer:
        """The loaded model, in the precision of the settings."""
        return self._model_in(self.precision)

    def encode(
        self, texts: Sequence[str], done: Callable[[int], None] | None = None, *, precision: Precision | None = None
    ) -> Vector:
        """Encode passages as :meth:`Embedder.encode` says; ``precision`` is by default that of the settings.

        A text's vector doesn't depend on the texts beside it: each is padded to a multiple of 16 tokens, or not at all
        by ONNX, and a batch holds texts of one such length. On a CPU it is the same in bfloat16, bit by bit (seen on
        AVX-512 and AMX), for all batches of a length are of one size, each computed by one core. It differs by less
        than 1e-6 in float32; by less than 1e-4 if one of both was encoded by ONNX.
        """
        precision = precision or self.precision
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for batch, part in self._encoded(texts, precision):
            vectors[batch] = part
            if done:
                done(len(set(batch)))
        # Return freed memory to the system: glibc keeps it in fragments too small for tensors of other shapes.
        if sys.platform == "linux":
            with suppress(AttributeError):  # other C libraries don't have it
                ctypes.CDLL(None).malloc_trim(0)
        return vectors

    def _encoded(self, texts: Sequence[str], precision: Precision) -> Iterator[tuple[list[int], Vector]]:
        """Yield batches of indices into ``texts`` with their unit vectors; for no texts no model is loaded.

        An index may stand several times in a batch.
        """
        if not texts:
            return
        onnx = self._onnx_for(len(texts)) if precision is Precision.FLOAT32 else None
        if onnx:
            batches = list(self._batches(texts, min(self._batch_tokens, _ONNX_BATCH_TOKENS), 1))
            # A batch of documents uses one processor.
            with ThreadPoolExecutor(processors()) as pool:
                parts = pool.map(lambda batch: onnx.encode([texts[i] for i in batch], Task.DOCUMENT), batches)
                yield from ((batch, _unit(part)) for batch, part in zip(batches, parts, strict=True))
            return
        model = self._model_in(precision)

        def forward(batch: list[int]) -> Vector:
            return _unit(self._forward(model, [texts[i] for i in batch], Task.DOCUMENT))

        full = precision is Precision.BFLOAT16 and model.device.type == "cpu"
        tokens = min(self._batch_tokens, _FULL_BATCH_TOKENS) if full else self._batch_tokens
        longest, *others = self._batches(texts, tokens, _PADDING, full=full)
        with _side_by_side(model, len(others), threads=1 if full else 0) as pool:
            # Alone, for it is then that a model enlarges what it keeps by length, such as tables of positions.
            yield longest, pool.submit(forward, longest).result()
            yield from zip(others, pool.map(forward, others), strict=True)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Encode passages that are compared, but not stored: by ONNX if it can be, whatever the precision."""
        return self.encode(texts, precision=Precision.FLOAT32 if self._onnx_for(len(texts)) else None)

    def embed_query(self, text: str) -> list[float]:
        """Encode a question; return its unit vector as a list, as neo4j-graphrag's embedders do."""
        if self._find_onnx() is None:
            _ = self._any_model  # loading the model writes the export
        onnx = self._find_onnx()
        raw = onnx.encode([text], Task.QUERY) if onnx else self._encode_question(text)
        vector: list[float] = _unit(raw)[0].tolist()
        return vector

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets ``(start, end)`` of the model's tokens, without special tokens."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def reads(self, text: str) -> bool:
        """Return whether the tokenizer knows more than half of a text's tokens: one for English knows no Thai."""
        return text.isascii() or self._fast_tokenizer is None or knows(self._fast_tokenizer, text)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text, estimated at four characters a token while no tokenizer is loaded."""
        if not self._loaded and self._onnx is None:
            return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    @property
    def _tokenizer(self) -> Any:
        if self._fast_tokenizer is None:
            raise ConfigurationError(
                f"The model {self.name} has no fast tokenizer, which chunking needs.", "Choose another embed.model."
            )
        return self._fast_tokenizer

    @cached_property
    def _fast_tokenizer(self) -> Any:
        """The tokenizer without truncation and padding; None if the model has no fast tokenizer."""
        from tokenizers import Tokenizer

        onnx = None if self._loaded else self._find_onnx()
        backend = onnx.tokenizer if onnx else self._any_model.tokenizer
        if not isinstance(backend, Tokenizer):  # as that of static embeddings is
            backend = getattr(backend, "backend_tokenizer", None)
        if backend is None:
            return None
        tokenizer = Tokenizer.from_str(backend.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @property
    def _any_model(self) -> SentenceTransformer:
        """The model in a precision in which it is loaded, else in that of the settings."""
        with self._lock:
            return next(iter(self._loaded.values()), None) or self.model

    def _model_in(self, precision: Precision) -> SentenceTransformer:
        with self._lock:
            if precision not in self._loaded:
                model = self._load()
                if (folder := self._onnx_folder) and model.device.type == "cpu" and not self._is_bundled:
                    try:
                        export_onnx(model, folder)
                    except (OSError, MemoryError) as error:
                        _log.info("No ONNX in %s: %s", folder, error)
                    self._onnx_sought = self._onnx is not None
                self._loaded[precision] = model if precision is Precision.FLOAT32 else model.bfloat16()
            return self._loaded[precision]

    def _onnx_for(self, texts: int) -> OnnxModel | None:
        """Return the model as ONNX if that is the quickest for so many passages."""
        if self._is_bundled and not may_have_gpu(self._device):
            return self._find_onnx()
        return self._find_onnx() if not self._loaded and texts <= _ONNX_LIMIT else None

    def _batches(self, texts: Sequence[str], tokens: int, padding: int, *, full: bool = False) -> Iterator[list[int]]:
        """Yield batches of indices into ``texts``, longest first, of about as many ``tokens`` with padding.

        A batch holds texts of one padded length, so that the padding of a text doesn't depend on the others.
        If ``full``, a batch that is smaller repeats its last index.
        """
        if self._fast_tokenizer is None:  # the sizes are estimated
            sizes = [_padded(1 + len(text) // _CHARACTERS_PER_TOKEN, padding) for text in texts]
        else:
            longest = self._longest + _SPECIAL_TOKENS
            parts = (texts[start : start + _TOKENIZE_BATCH] for start in range(0, len(texts), _TOKENIZE_BATCH))
            encodings = (encoding for part in parts for encoding in self._fast_tokenizer.encode_batch(part))
            sizes = [_padded(min(max(len(encoding), 1), longest), padding) for encoding in encodings]
        order = sorted(range(len(texts)), key=lambda i: -sizes[i])
        for size, group in groupby(order, key=lambda i: sizes[i]):
            same, count = list(group), max(1, tokens // size)
            same += same[-1:] * (-len(same) % count if full else 0)
            yield from (same[at : at + count] for at in range(0, len(same), count))

    def _encode_question(self, text: str) -> Vector:
        """Encode a question on a single thread: a second gains nothing, and on a busy machine costs waits."""
        import torch

        with self._lock:
            threads = _default_threads()
            torch.set_num_threads(1)
            try:
                return self._forward(self._any_model, [text], Task.QUERY)
            finally:
                torch.set_num_threads(threads)

    def _forward(self, model: SentenceTransformer, texts: list[str], task: Task) -> Vector:
        """Encode a batch as ``encode_query`` and ``encode_document`` do, without the preparations they repeat.

        These take a sixth of a question's time, and a tenth of a small batch's.
        """
        import torch
        from sentence_transformers.util import batch_to_device

        with torch.inference_mode():
            with self._lock:  # a tokenizer whose padding is set serves one thread
                prompt = self._prefixes.get(task) or prompt_of(model, task)
                tokens = model.preprocess(texts, prompt=prompt, task=task.value)
            if task is Task.DOCUMENT:
                tokens = _with_padding(tokens, model)
            output = model(batch_to_device(tokens, model.device), task=task.value)
            vectors: Vector = output["sentence_embedding"][:, : self.dimension].float().cpu().numpy()
        return vectors

    def _find_onnx(self) -> OnnxModel | None:
        """Return the model as ONNX: the bundled one, or an export that this process or an earlier one has written."""
        with self._lock:
            if not self._onnx_sought:
                self._onnx_sought = True
                folder = self._onnx_folder
                if self._is_bundled:
                    self._onnx = bundled_onnx(Path(self.files.location), self._longest + _SPECIAL_TOKENS, folder)
                else:
                    self._onnx = open_onnx(folder) if folder else None
                if self._onnx:
                    self._onnx.prompted(self._prefixes)
                    if self._configured_precision != Precision.FLOAT32:
                        self._onnx.rounded()
            return self._onnx

    @property
    def _onnx_folder(self) -> Path | None:
        """The folder of the ONNX export; None if there is to be none, or if the revision is known only once loaded."""
        if self._onnx_home is None or self._device not in (_AUTO, "cpu") or (revision := self.files.revision) is None:
            return None
        return self._onnx_home / f"{Path(self.name).name}@{revision}-{self.files.configuration}"

    def _load(self) -> SentenceTransformer:
        way = "embed the corpus in float32: hoprank reembed NAME" if self._is_bundled else f"use {BUNDLED_MODEL}"
        fix = f"Use the bundled {BUNDLED_MODEL}, a sentence-transformers name that a hub in reach has, or a folder."
        with named_errors(f"The embedding model {self.name!r}", fix):
            model: SentenceTransformer = load_model(
                "SentenceTransformer", self.files, self._device, self._onnx_home, way
            )
            return model


@contextmanager
def _side_by_side(model: SentenceTransformer, batches: int, threads: int) -> Iterator[ThreadPoolExecutor]:
    """Yield threads that encode batches: on a processor a batch for each core, elsewhere one after the other.

    ``threads`` is how many compute a batch; 0 shares all cores among the batches.

    Two cores that share a batch wait for each other after each operator. Beside a busy server 500 passages of 120
    tokens took 18 to 21 s by a core a batch, and 25 to 30 s by both; their vectors are equal to the bit on AVX-512.
    """
    import torch

    if model.device.type != "cpu":
        with ThreadPoolExecutor(1) as pool:
            yield pool
        return
    before, workers = _default_threads(), max(1, min(processors(), batches))
    threads = threads or processors() // workers
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(threads,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)  # what a thread of the pool sets holds for threads that are yet to begin


@cache
def _default_threads() -> int:
    """Return how many threads PyTorch has of itself: later it may be what another call has set for its batches."""
    import torch

    return int(torch.get_num_threads())


def _padded(size: int, to: int) -> int:
    return -(-size // to) * to  # the next multiple


def _with_padding(tokens: Mapping[str, Any], model: SentenceTransformer) -> dict[str, Any]:
    """Return a batch padded to a multiple of ``_PADDING`` tokens, if the model reads so many."""
    import torch

    ids = tokens.get("input_ids")
    if ids is None or ids.dim() != 2:
        return dict(tokens)
    width = int(ids.shape[1])
    more = min(_padded(width, _PADDING), max(int(model.max_seq_length or width), width)) - width
    fill = {"input_ids": model.tokenizer.pad_token_id or 0}
    return {
        name: torch.nn.functional.pad(value, (0, more), value=fill.get(name, 0))
        if torch.is_tensor(value) and value.shape == ids.shape
        else value
        for name, value in tokens.items()
    }


def _unit(vectors: Vector) -> Vector:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vector = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
    return unit
